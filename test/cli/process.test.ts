import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { continuesWithoutReader } from "../../src/program.js";
import { readVersion } from "../../src/version.js";
import { makeBrand } from "../support/brand.js";
import { commands } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { binPath, spawnBrandapi } from "../support/process.js";

/** Starts the program with an API that accepts connections but never responds. */
async function startWaitingProgram(node: [string, ...string[]] = [process.execPath]) {
  let onRequest = () => {};
  const server = createServer(() => onRequest());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/brand/v1`;
  const env = { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: "brk_test", BRANDAPI_RATE_LIMIT: "none" };
  const requested = new Promise<void>((resolve) => {
    onRequest = resolve;
  });
  const program = spawnBrandapi(["whoami", "--max-wait", "5m"], { env, node });
  await requested;
  return program;
}

test("a command with absolute paths works in a folder that has been deleted", () => {
  const brand = makeBrand();
  const folder = join(brand.home, "deleted");
  mkdirSync(folder);
  const line = `rmdir '${folder}' && exec '${process.execPath}' '${binPath}' tables --db '${brand.db}'`;
  const { status, stderr } = spawnSync("/bin/sh", ["-c", line], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toMatchObject({ status: 3, stderr: expect.stringContaining(brand.db) });
});

test("--help and --version work without HOME, settings or a network", async () => {
  const help = await spawnBrandapi(["--help"], { env: { HOME: "" } }).ended;
  expect(help).toMatchObject({ code: 0, err: "" });
  expect(help.out).toContain("Usage: brandapi <command>");
  const bare = await spawnBrandapi([]).ended;
  expect(bare).toMatchObject({ code: 0, out: help.out, err: "" });
  expect((await spawnBrandapi(["--version"]).ended).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s during a request ends the program with exit code %i and a message", async (signal, code) => {
  const program = await startWaitingProgram();
  program.child.kill(signal);
  const ended = await program.ended;
  expect(ended).toMatchObject({ code, signal: null });
  expect(ended.err).toBe("brandapi: Stopped.\n  hint: run the same command again\n");
});

test("a second Ctrl-C ends a program that has not responded to the first", async () => {
  const deaf = join(makeHome(), "deaf.cjs");
  writeFileSync(deaf, "AbortController.prototype.abort = () => console.error('first');");
  const program = await startWaitingProgram([process.execPath, "--require", deaf]);
  program.child.kill("SIGINT");
  await program.until(/first/);
  program.child.kill("SIGINT");
  expect(await program.ended).toMatchObject({ code: 130, signal: null });
});

test("a signal that arrives while the last response is being parsed still stops the program", async () => {
  const preload = join(makeHome(), "signal.cjs");
  writeFileSync(
    preload,
    `const { parse } = JSON;
    JSON.parse = (text, ...rest) => {
      if (text.includes('"scopes"')) process.kill(process.pid, "SIGINT");
      return parse(text, ...rest);
    };`,
  );
  const env = await makeBrand().served();
  const node = [process.execPath, "--require", preload] as const;
  expect(await spawnBrandapi(["whoami"], { env, node }).ended).toMatchObject({ code: 130, out: "" });
});

test.each(["--help", "--version"])(
  "brandapi %s exits with code 0 and without an error when the reader closes the pipe",
  async (flag) => {
    const program = spawnBrandapi([flag]);
    program.child.stdout.destroy();
    expect(await program.ended).toMatchObject({ code: 0, err: "" });
  },
);

test("a command keeps its exit code if the reader of its error messages has closed the pipe", async () => {
  const program = spawnBrandapi(["whoami"]);
  program.child.stderr.destroy();
  expect(await program.ended).toMatchObject({ code: 3, signal: null });
});

test("sync --json finishes even if the reader closes the pipe", async () => {
  const brand = makeBrand({ history: 20 });
  const options = { home: brand.home, env: await brand.served() };
  const program = spawnBrandapi(["sync", "roster", "gifts", "codes", "--json"], options);
  program.child.stdout.destroy();
  expect((await program.ended).code).toBe(0);
  const finished = brand.sql<{ resource: string }>("SELECT resource FROM sync_runs WHERE outcome = 'done'");
  expect(finished.map(({ resource }) => resource).sort()).toEqual(["codes", "gifts", "roster"]);
});

test("doctor, download, status, sync and verify continue after the reader of their output closes the pipe, but other commands stop", () => {
  const names = commands.map((command) => command.name()).filter(continuesWithoutReader);
  expect(names.sort()).toEqual(["doctor", "download", "status", "sync", "verify"]);
  expect(continuesWithoutReader(undefined)).toBe(false);
});

const onLinux = test.runIf(process.platform === "linux");
onLinux.each(["--help", "--version"])(
  "brandapi %s exits with code 3 and a message if the disk is full",
  async (flag) => {
    const toFullDisk = ["sh", "-c", '"$0" "$@" >/dev/full', process.execPath] as const;
    const { code, err } = await spawnBrandapi([flag], { node: toFullDisk }).ended;
    expect(err).toMatch(/^brandapi: Cannot write the output: the disk is full.*\n {2}hint: free some space/);
    expect(code).toBe(3);
  },
);

/** Copies parts of the program's folder to a temporary folder. */
function copyOfProgram(parts: { dist: boolean; modules: "linked" | "none" }): string {
  const root = dirname(dirname(binPath));
  const copy = join(makeHome(), "copy");
  mkdirSync(copy);
  cpSync(join(root, "bin/brandapi.js"), join(copy, "bin/brandapi.js"));
  cpSync(join(root, "package.json"), join(copy, "package.json"));
  if (parts.dist) cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  if (parts.modules === "linked") symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return join(copy, "bin/brandapi.js");
}

test("the executable reports an unbuilt checkout or a missing package, and suggests the command that fixes it", () => {
  const help = (script: string) => spawnSync(process.execPath, [script, "--help"], { encoding: "utf8" });
  expect(help(copyOfProgram({ dist: false, modules: "linked" }))).toMatchObject({
    status: 3,
    stderr: expect.stringMatching(/not been built yet\.\n.*`npm ci && npm run build`/),
  });
  expect(help(copyOfProgram({ dist: true, modules: "none" }))).toMatchObject({
    status: 3,
    stderr: expect.stringMatching(/\w+ is missing\.\n.*`npm ci`/),
  });
});

/** Runs the executable with --version on a simulated version of Node. */
async function printVersionOn(node: string, flag = "--version") {
  const pretend = join(makeHome(), "pretend.cjs");
  writeFileSync(pretend, `Object.defineProperty(process, "versions", { value: { node: "${node}" } });`);
  return await spawnBrandapi([flag], { node: [process.execPath, "--require", pretend] }).ended;
}

test.each(["18.20.4", "20.17.9", "20.18.0"])(
  "on Node %s, the executable reports which Node version is required",
  async (node) => {
    expect(await printVersionOn(node)).toMatchObject({
      code: 3,
      err: expect.stringContaining(`Node 20.18.1 or newer is required; this is Node ${node}`),
    });
  },
);

test.each([
  ["20.18.1", "--version"],
  ["20.19.0", "--version"],
  ["21.0.0", "-V"],
])("on Node %s, the executable prints the version with %s", async (node, flag) => {
  expect(await printVersionOn(node, flag)).toMatchObject({ code: 0, out: `${readVersion()}\n`, err: "" });
});
