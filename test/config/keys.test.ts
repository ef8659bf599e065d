import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TerminalReporter } from "../../src/cli/progress.js";
import { makeBrand } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { brandapi, type ProgramOptions, testDeps } from "../support/program.js";

const key = "Open+sesame!";
const baseUrl = "http://127.0.0.1:1/api/brand/v1";

/** The sources of a key, each with the environment variables and flags that select it. */
const sources = {
  "the environment": () => ({ env: { BRANDAPI_KEY: ` ${key}\n` }, flags: [] as string[] }),
  "--key-file": (home: string) => {
    writeFileSync(join(home, "key"), `${key}\n`, { mode: 0o600 });
    return { env: {}, flags: ["--key-file", "~/key"] };
  },
  "the profile": (home: string) => {
    const folder = join(home, ".config", "brandapi");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const config = JSON.stringify({ profiles: { default: { baseUrl, key } } });
    writeFileSync(join(folder, "config.json"), config, { mode: 0o600 });
    return { env: {}, flags: [] };
  },
};

/**
 * Returns an API that rejects every request with a message that contains the key. `me` is the optional response to
 * `/me`.
 */
function failing({ answersMe }: { answersMe: boolean }): NonNullable<ProgramOptions["fetch"]> {
  const me = {
    brand: { id: "b1", name: "Acme" },
    key: { id: "k1", scopes: ["roster:read"], expires_at: null },
  };
  return async (url) => {
    if (answersMe && String(url).endsWith("/me")) return Response.json({ success: true, data: me });
    throw new Error(`invalid header: Bearer ${key}`);
  };
}

test.each(Object.entries(sources))(
  "a key from %s is redacted in all output, and a command with that key as an argument is rejected",
  async (_, given) => {
    const home = makeHome();
    const { env, flags } = given(home);
    const run = async (answersMe: boolean, ...words: string[]) => {
      const options = {
        home,
        fetch: failing({ answersMe }),
        env: { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_RATE_LIMIT: "none", ...env },
      };
      const { out, err } = await brandapi([...words, ...flags], options);
      expect(out + err).not.toContain(key);
      return out + err;
    };
    const hidden = expect.stringContaining("Bearer [key hidden]");
    expect(await run(true, "sync", "roster", "--verbose", "--json")).toEqual(hidden);
    expect(await run(true, "query", "SELECT error FROM sync_runs")).toEqual(hidden);
    expect(await run(true, "status")).toEqual(hidden);
    expect(await run(false, "sync", "--verbose")).toEqual(hidden);
    expect(await run(true, "status", "--json")).toEqual(hidden);
    expect(await run(false, "doctor")).toEqual(hidden);
    expect(await run(true, "sync", key)).toContain("An API key was passed on the command line");
    expect(await run(true, "help", key)).toContain("An API key was passed on the command line");
    expect(await run(true, "status", `--db=x${key}.sqlite`)).toContain("An API key was passed");
  },
);

test("a key is redacted in progress lines, notes, warnings and error details", () => {
  const deps = testDeps();
  deps.apiKeys.add(key);
  const reporter = new TerminalReporter(deps, { verbose: true });
  for (const print of [reporter.detail, reporter.note, reporter.warn]) print(`Bearer ${key}`);
  reporter.begin({ name: key }).end(`read with ${key}`);
  expect(deps.stderr.text).not.toContain(key);
  expect(deps.stderr.text.match(/\[key hidden\]/g)).toHaveLength(5);
});

test("a command with --key-file ~/key exits with code 3 if there is no home directory", async () => {
  const { code, err } = await brandapi("whoami --key-file ~/key", { home: "", cwd: makeHome() });
  expect(code).toBe(3);
  expect(err).toContain("Cannot determine the home directory");
});

test("a key in the command's arguments is not printed, even if the key file that contains the same key is rejected", async () => {
  const home = makeHome();
  writeFileSync(join(home, "key"), `${key}\n`, { mode: 0o644 });
  const { code, out, err } = await brandapi(["sync", key, "--key-file", "~/key"], { home });
  expect([code, out]).toEqual([2, ""]);
  expect(err).not.toContain(key);
});

const id = "3f0c9a52b7d14e6c8a9b0c1d2e3f4a5b";
const words = "correct horse battery staple, and so on and on";

test("long IDs and paths that are not keys are printed unchanged", async () => {
  const home = makeHome();
  const folder = join(home, `Backup${id}`);
  const { err } = await brandapi(["status", "--db", join(folder, "m.sqlite")], { home });
  expect(err).toContain(`mkdir -p ${folder}`);
  const shown = await brandapi(["status", "--db", join(home, `${id}${id}.sqlite`)], { home });
  expect(shown.err).toContain(`No mirror yet: ${join(home, `${id}${id}.sqlite`)}`);
  expect(shown.err).toContain(`--db ${join(home, `${id}${id}.sqlite`)}`);
  expect((await brandapi(["sync", "sk_live_orders"])).err).toContain("`sk_live_orders`");
});

test("the error for an unknown profile name of more than 40 characters does not repeat the name", async () => {
  const { code, err } = await brandapi(["sync", "--profile", `${id}${id}`]);
  expect([code, err]).toEqual([2, expect.stringContaining("Unknown profile: `3f0c9a52… (64 characters)`")]);
  expect(err).not.toContain(id);
});

test.each([
  ["is passed as a command", [`${id}${id}`]],
  ["is passed as a resource", ["sync", `${id}${id}`]],
  ["is passed as an option", ["sync", "orders", `--${id}${id}`]],
  ["is passed as the value after --since=", ["sync", "orders", `--since=${id}${id}`]],
  [
    "is passed as the value of --since with --json",
    ["sync", "orders", "--since", `${id}${id}`, "--verbose", "--json"],
  ],
  ["is passed as the value of --details", ["sync", "--details", `${id}'${id}`, "--verbose"]],
  ["is passed as the argument of login", ["login", `${id}${id}`, "--verbose"]],
  ["is passed as the argument of help", ["help", `${id}${id}`, "--verbose"]],
  ["is passed as the value of --omit", ["login", "--omit", `host.last_name,${id}${id}`]],
  ["is passed as the value of --columns", ["export", "orders", "--columns", `order_id,${id}${id}`]],
  ["is passed as the value of --profile", ["whoami", "--profile", `${id}${id}${id}${id}`]],
  ["is passed as the value of --key-file", ["whoami", "--key-file", `${id}${id}`]],
  ["is passed as the argument of completion", ["completion", `${id}${id}`]],
  ["is passed as the value of -p", ["query", "SELECT 1", "-p", `${id}${id}`]],
  ["is passed as the argument of tables", ["tables", `${id}${id}`]],
  ["contains spaces and is passed as a command", [words]],
  ["contains spaces and is passed as a resource", ["sync", words]],
  ["contains spaces and is passed as an option", ["sync", "orders", `--${words}`]],
  [
    "contains spaces and is passed as the value of --until",
    ["sync", "orders", `--until=${words}`, "--verbose"],
  ],
])("a string of more than 40 characters, which could be a key, is not printed if it %s", async (_, argv) => {
  const { code, out, err } = await brandapi(argv);
  expect([2, 3]).toContain(code);
  expect(out + err).not.toContain(id);
  expect(out + err).not.toContain("battery");
  expect(err).toMatch(/^brandapi: /);
});

test("a key file that is a named pipe is read only once", async () => {
  const brand = makeBrand();
  const pipe = join(brand.home, "pipe");
  execFileSync("mkfifo", ["-m", "600", pipe]);
  // If the pipe were read twice, the second read would wait for `brk_second`.
  const writer = spawn("sh", ["-c", `echo ${brand.key} > "$0"; sleep 5; echo brk_second > "$0"`, pipe]);
  onTestFinished(() => void writer.kill());
  const { code, err } = await brand.run(`whoami --key-file ${pipe}`);
  expect(code, err).toBe(0);
});
