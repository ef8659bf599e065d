import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeHome } from "../support/home.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { type ProcessResult, spawnBrandapi } from "../support/process.js";
import { begin, stop } from "../support/stop.js";
import { envOf, expectSeen, runAt, sharedSandbox, syncedHome } from "./matrix.js";

const nowhere = ["--base-url", "http://127.0.0.1:9/api/brand/v1", "--max-wait", "0s"];
const stopped = /^brandapi: Stopped\.\n {2}hint: /;

/** A named pipe: whoever opens it waits for the other end, unless told not to. */
function makePipe(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync("mkfifo", [path]);
  return path;
}

function expectStopped(ended: ProcessResult, home: string): void {
  expect(ended.signal).toBeNull();
  expectSeen({ ...ended, code: ended.code ?? -1, home }, { code: 143, says: stopped }, []);
}

test("`login --key-stdin` while stdin stays open: a signal ends it", async () => {
  const home = makeHome();
  const program = spawnBrandapi(["login", "--key-stdin", ...nowhere], { home, stdin: null });
  await begin();
  expectStopped(await stop(program, "SIGTERM"), home);
});

test.each([
  ["export", "orders", "--json"],
  ["query", "SELECT * FROM orders", "--csv"],
])("nobody reads the stdout of `%s %s %s`: a signal ends it", async (...args) => {
  const home = makeHome();
  const db = await mirrorOfOrders(home, 3_000);
  const program = spawnBrandapi([...args, "--db", db], { home, isUnread: true });
  await begin();
  expectStopped(await stop(program, "SIGTERM"), home);
});

test("who reads the pipe that is `-o` leaves before the end: no success is told", async () => {
  const home = makeHome();
  const db = await mirrorOfOrders(home, 3_000);
  const pipe = makePipe(join(home, "out"));
  const program = spawnBrandapi(["export", "orders", "--json", "-o", pipe, "--db", db], { home });
  execFileSync("head", ["-c", "100", pipe]);
  const { code, err } = await program.ended;
  expect({ code, err }).toEqual({ code: 0, err: `warning: orders: who read ${pipe} left before the end\n` });
});

test("nobody writes to the pipe that is `--key-file`: a signal ends it", async () => {
  const home = makeHome();
  const pipe = makePipe(join(home, "key"));
  const program = spawnBrandapi(["whoami", "--key-file", pipe, ...nowhere], { home });
  await begin();
  expectStopped(await stop(program, "SIGTERM"), home);
});

test("a key that comes late through a pipe is taken", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const pipe = makePipe(join(home, "key"));
  const args = ["whoami", "--key-file", pipe, "--base-url", sandbox.baseUrl, "--rate-limit", "none"];
  const program = spawnBrandapi(args, { home });
  await begin(300);
  writeFileSync(pipe, `${sandbox.key}\n`);
  expect(await program.ended).toMatchObject({ code: 0 });
});

test.each([
  ["the config file", ".config/brandapi/config.json", /The config file cannot be read \(it is not a file\)/],
  ["the mirror", "mirror.sqlite", /The mirror has to be a file, and this is a device or pipe/],
  ["the mirror's lock", "mirror.sqlite-lock", /hint: /],
])("%s is a pipe that nobody writes to: exit 3, in words", async (_, name, says) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  makePipe(join(home, name));
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 3, says }, [sandbox.key]);
});

test("the rate budget's file is a pipe that nobody writes to: a notice, and the sync goes on", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  makePipe(join(home, ".local/state/brandapi/rate.sqlite"));
  const result = await runAt(sandbox, home, "sync orders --rate-limit 1000");
  expectSeen(result, { code: 0, says: /cannot be used \(ENOTSUP\): requests of other brandapi processes/ }, [
    sandbox.key,
  ]);
});

test("nobody reads the pipe that is `-o`: a signal ends the export", async () => {
  const home = makeHome();
  const pipe = makePipe(join(home, "out"));
  const args = ["export", "orders", "--csv", "-o", pipe, "--db", await mirrorOfOrders(home)];
  const program = spawnBrandapi(args, { home });
  await begin();
  expectStopped(await stop(program, "SIGTERM"), home);
});

test("the pipe that is `-o` gets all, however late and slowly it is read", async () => {
  const home = makeHome();
  const db = await mirrorOfOrders(home, 3_000);
  const pipe = makePipe(join(home, "out"));
  const program = spawnBrandapi(["export", "orders", "--ndjson", "-o", pipe, "--db", db], { home });
  await begin(500);
  const reader = spawn("sh", ["-c", 'exec < "$0"; head -c 10; sleep 0.3; cat', pipe]);
  let read = "";
  reader.stdout.setEncoding("utf8").on("data", (text: string) => (read += text));
  await new Promise((resolve) => reader.once("close", resolve));
  expect(await program.ended).toMatchObject({ code: 0 });
  expect(read.trimEnd().split("\n")).toHaveLength(3_000);
});

test("the system holds up a thread, as where names are not resolved: a signal ends it all the same", async () => {
  const home = makeHome();
  const pipe = makePipe(join(home, "held"));
  const preload = join(home, "preload.cjs");
  // An open that waits stands for what the system does in such a thread: Node's own exit waits for it.
  writeFileSync(preload, `require("node:fs").open(${JSON.stringify(pipe)}, "r", () => {});`);
  const node = [process.execPath, "--require", preload] as const;
  const program = spawnBrandapi(["login", "--key-stdin", ...nowhere], { home, stdin: null, node });
  await begin();
  const ended = await stop(program, "SIGTERM");
  expect(ended.err).toMatch(stopped);
  expect([ended.code, ended.signal]).toEqual([null, "SIGTERM"]);
});

test("another program holds the mirror for writing: a signal ends a sync that waits for it", async () => {
  const sandbox = await sharedSandbox();
  const home = await syncedHome(sandbox, "sync orders");
  const holder = spawn(process.execPath, [
    "-e",
    `const db = require(${JSON.stringify(createRequire(import.meta.url).resolve("better-sqlite3"))})(process.argv[1]);
     db.exec("BEGIN IMMEDIATE"); console.log("held"); process.stdin.resume();`,
    join(home, "mirror.sqlite"),
  ]);
  onTestFinished(() => void holder.kill());
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  const asked = new Promise<void>((resolve) => {
    sandbox.intercept = () => resolve();
  });
  const program = spawnBrandapi(["sync", "orders"], { home, env: envOf(sandbox, home, sandbox.key) });
  await asked;
  await begin();
  const ended = await stop(program, "SIGTERM");
  expect([143, "SIGTERM"]).toContain(ended.code ?? ended.signal);
});
