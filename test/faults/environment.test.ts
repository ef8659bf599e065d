import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { binPath, spawnBrandapi } from "../support/process.js";
import { envOf, expectEqual, expectSeen, runAt, sharedSandbox } from "./matrix.js";

test("HOME is unset, as under some crons: exit 3 says what to set", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const { BRANDAPI_DB: _, ...env } = envOf(sandbox, home, sandbox.key);
  const result = await spawnBrandapi(["sync", "orders"], { home, env: { ...env, HOME: "relative" } }).ended;
  expect([0, 3]).toContain(result.code);
  if (result.code === 3) expect(result.err).toMatch(/hint: /);
  expect(result.err).not.toMatch(/defect|at .+:\d+:\d+/);
});

/** A preload in which the system does not know what it is asked for. */
function unknownTo(home: string, code: string): [string, ...string[]] {
  const preload = join(home, "preload.cjs");
  const fail = `() => { throw Object.assign(new Error("a system error"), { code: "ENOENT", syscall: "uv" }); }`;
  writeFileSync(preload, `${code} = ${fail}; require("node:module").syncBuiltinESMExports();`);
  return [process.execPath, "--require", preload];
}

test("a user without a home and without an entry in passwd: help works, and a sync with all places named", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const node = unknownTo(home, 'require("node:os").homedir');
  expect(await spawnBrandapi(["--help"], { home, node }).ended).toMatchObject({ code: 0, err: "" });
  const bare = await spawnBrandapi(["status"], { home, node }).ended;
  expect(bare).toMatchObject({ code: 3, err: expect.stringMatching(/No home folder[\s\S]*hint: set HOME/) });
  const places = { BRANDAPI_CONFIG_DIR: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
  const env = { ...envOf(sandbox, home, sandbox.key), ...places };
  expect((await spawnBrandapi(["sync", "orders"], { home, env, node }).ended).code).toBe(0);
});

test.runIf(process.platform === "linux")(
  "the folder that it runs in is gone: whole paths work, and a path in it is told",
  async () => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    expect((await runAt(sandbox, home, "sync orders")).code).toBe(0);
    const runGone = (...args: string[]) =>
      new Promise<{ code: number | null; err: string }>((resolve) => {
        const gone = join(home, "gone");
        mkdirSync(gone);
        const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
        const child = spawn("sh", ["-c", script, "sh", gone, process.execPath, binPath, ...args], {
          env: { ...envOf(sandbox, home, sandbox.key), PATH: process.env.PATH, HOME: home },
          stdio: ["ignore", "ignore", "pipe"],
        });
        let err = "";
        child.stderr.on("data", (text) => {
          err += text;
        });
        child.on("close", (code) => resolve({ code, err }));
      });
    for (const line of [["--help"], ["status"], ["sync", "orders"], ["query", "SELECT 1"]])
      expect((await runGone(...line)).code, line.join(" ")).toBe(0);
    for (const more of [[], ["--where", "1"]])
      expect(await runGone("export", "orders", "-o", "orders.csv", ...more)).toEqual({
        code: 3,
        err: expect.stringMatching(
          /^brandapi: The folder that this runs in is gone.*: orders\.csv\n {2}hint: /,
        ),
      });
  },
);

const longName = "n".repeat(255);

test.each([
  ["a name of 255 bytes for the mirror", ["--db", longName], /name is too long for the files beside it/],
  [
    "a mirror whose folder's path is too long",
    ["--db", `${"p".repeat(200)}/${"p".repeat(200)}/${"p".repeat(90)}`],
    /too long/,
  ],
  ["a mirror that is a link to itself", ["--db", "loop"], /links lead in a circle/],
  ["a mirror below a link to itself", ["--db", "loop/x"], /links lead in a circle/],
  [
    "a mirror below a folder that takes none",
    ["--db", "/proc/x/y.sqlite"],
    /There is no such file or folder/,
  ],
  ["a key file that is a link to itself", ["--key-file", "loop"], /key file cannot be read \(symbolic links/],
] as const)("%s: exit 3, in words", async (_, flags, says) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  symlinkSync("loop", join(home, "loop"));
  const result = await runAt(sandbox, home, ["sync", "orders", ...flags], { env: { BRANDAPI_DB: "" } });
  expectSeen(result, { code: 3, says }, [sandbox.key]);
});

test("an export takes a name of 255 bytes, and refuses a longer one and a circle of links before a row is read", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  expect((await runAt(sandbox, home, "sync orders")).code).toBe(0);
  const out = async (path: string) => await runAt(sandbox, home, ["export", "orders", "--csv", "-o", path]);
  expect((await out(longName)).code).toBe(0);
  expect((await out(`${longName}n`)).err).toMatch(/cannot be written, the name is too long/);
  symlinkSync("loop", join(home, "loop"));
  for (const path of ["loop", "loop/x"])
    expectSeen(await out(path), { code: 3, says: /symbolic links lead in a circle/ }, [sandbox.key]);
});

test("HOME is unset, and every place is named: the sync works", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const env = {
    ...envOf(sandbox, home, sandbox.key),
    BRANDAPI_CONFIG_DIR: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_DATA_HOME: join(home, "data"),
  };
  const result = await spawnBrandapi(["sync", "orders"], { home, env: { ...env, HOME: "" } }).ended;
  expect(result.code, result.err).toBe(0);
  expectEqual(sandbox, home);
});

test("cron's bare environment (PATH of two folders, no TERM, no LANG): one line, no colours", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const env = { ...envOf(sandbox, home, sandbox.key), PATH: "/usr/bin:/bin" };
  const { code, out, err } = await spawnBrandapi(["sync", "orders"], { home, env }).ended;
  expect({ code, out }).toEqual({ code: 0, out: "" });
  expect(err).toMatch(/^orders: 350 read, .*\n$/);
  const quiet = await spawnBrandapi(["sync", "orders", "--quiet"], { home, env }).ended;
  expect(quiet).toMatchObject({ code: 0, out: "", err: "" });
});

/** Several in one process, none of which takes another's effect away: a locale each, and no colour asked for twice. */
test.each([
  {
    TZ: "Pacific/Kiritimati",
    LANG: "tr_TR.UTF-8",
    NO_COLOR: "1",
    TERM: "dumb",
    NODE_OPTIONS: "--no-deprecation",
  },
  { TZ: "America/St_Johns", LC_ALL: "de_DE@euro", FORCE_COLOR: "3" },
  { TZ: "Nowhere/Invalid", LANG: "C" },
])("%o changes nothing of what is mirrored and exported", async (odds) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const env = { ...envOf(sandbox, home, sandbox.key), ...odds };
  expect((await spawnBrandapi(["sync", "orders", "--since", "2026-01-01"], { home, env }).ended).code).toBe(
    0,
  );
  const odd = await spawnBrandapi(["export", "orders", "--csv"], { home, env }).ended;
  const plain = await runAt(sandbox, home, "export orders --csv");
  expect(odd.out).toBe(plain.out);
  expect(odd.out.split("\n").length).toBeGreaterThan(50);
});

test("the config file may be read by others: exit 3, with the command that mends it", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const env = { BRANDAPI_KEY: "", BRANDAPI_BASE_URL: "" };
  const stored = await runAt(sandbox, home, ["login", "--base-url", sandbox.baseUrl, "--key-stdin"], {
    stdin: sandbox.key,
    env,
  });
  expect(stored.code, stored.err).toBe(0);
  const { readdirSync } = await import("node:fs");
  const folder = join(home, ".config/brandapi");
  const [file] = readdirSync(folder);
  expect((await runAt(sandbox, home, "sync orders", { env })).code).toBe(0);
  chmodSync(join(folder, file ?? ""), 0o644);
  const result = await runAt(sandbox, home, "sync orders", { env });
  expect(result).toMatchObject({ code: 3, err: expect.stringContaining("chmod 600") });
  expect(result.err).not.toContain(sandbox.key);
});

test.each([
  ["no settings at all", {}, /brandapi login/],
  ["a key and no base URL", { BRANDAPI_KEY: "k" }, /No base URL/],
  ["a base URL and no key", { BRANDAPI_BASE_URL: "http://127.0.0.1:1/api/brand/v1" }, /No key/],
] as const)("%s: exit 3 says what to run", async (_, env, says) => {
  const sandbox = await sharedSandbox();
  const result = await runAt(sandbox, makeHome(), "sync", {
    env: { BRANDAPI_KEY: "", BRANDAPI_BASE_URL: "", ...env },
  });
  expectSeen(result, { code: 3, says }, [sandbox.key]);
});

test.each([
  "api.example.com/api/brand/v1",
  "ftp://api.example.com/api/brand/v1",
  "http://api.example.com/api/brand/v1",
  "https://user:secret@api.example.com/api/brand/v1",
  "https://api.example.com/api/brand/v1?x=1",
  "https://api.example.com/api/brand/v1#x",
  "https://api.example.com/api/brand",
  "https://",
  "not a url",
  "javascript:alert(1)",
  "file:///etc/passwd",
])("the base URL `%s` is refused before anything is sent", async (url) => {
  const sandbox = await sharedSandbox();
  let asked = 0;
  const fetch = async () => {
    asked += 1;
    throw new TypeError("fetch failed");
  };
  const result = await runAt(sandbox, makeHome(), "sync orders --max-wait 0s", {
    env: { BRANDAPI_BASE_URL: url },
    fetch,
  });
  expectSeen(result, { code: 3, says: /base.?url/i }, [sandbox.key, "user:secret"]);
  expect(asked).toBe(0);
});

test.each(["/", "//"])("the base URL ends in `%s`: it is taken as meant", async (end) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const result = await runAt(sandbox, home, "sync orders", {
    env: { BRANDAPI_BASE_URL: sandbox.baseUrl + end },
  });
  expect([0, 3], result.err).toContain(result.code);
});

test.each([
  ["a word", "fast"],
  ["zero", "0"],
  ["negative", "-1"],
])("BRANDAPI_RATE_LIMIT is %s: exit 3, in words", async (_, value) => {
  const sandbox = await sharedSandbox();
  const result = await runAt(sandbox, makeHome(), "sync orders", { env: { BRANDAPI_RATE_LIMIT: value } });
  expectSeen(result, { code: 3, says: /BRANDAPI_RATE_LIMIT/ }, [sandbox.key]);
});

test.each([
  [
    "was built for another Node",
    "The module was compiled against a different Node.js version using NODE_MODULE_VERSION 127.",
    "ERR_DLOPEN_FAILED",
  ],
  ["needs a newer system library", "libstdc++.so.6: version `GLIBCXX_3.4.29' not found", "ERR_DLOPEN_FAILED"],
])("the native module %s: exit 3 with the command that mends it", async (_, message, code) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const preload = join(home, "preload.cjs");
  writeFileSync(
    preload,
    `process.dlopen = () => { throw Object.assign(new Error(${JSON.stringify(message)}), { code: "${code}" }); };`,
  );
  const program = spawnBrandapi(["sync", "orders"], {
    home,
    env: envOf(sandbox, home, sandbox.key),
    node: [process.execPath, "--require", preload],
  });
  const result = await program.ended;
  expect(result).toMatchObject({
    code: 3,
    err: expect.stringMatching(/better-sqlite3[\s\S]*npm rebuild better-sqlite3/),
  });
});

test("the data folder is a file: exit 3, in words", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  mkdirSync(join(home, ".local"), { recursive: true });
  writeFileSync(join(home, ".local/share"), "");
  const result = await runAt(sandbox, home, "sync orders", { env: { BRANDAPI_DB: "" } });
  expectSeen(result, { code: 3, says: /hint: / }, [sandbox.key]);
});

test.each(["BRANDAPI_PROFILE=../../evil", "BRANDAPI_PROFILE=a/b", "BRANDAPI_PROFILE=\u001b[2J"])(
  "%s is no profile's name: refused",
  async (setting) => {
    const sandbox = await sharedSandbox();
    const [name = "", value = ""] = setting.split("=");
    const result = await runAt(sandbox, makeHome(), "sync orders", {
      env: { BRANDAPI_DB: "", [name]: value },
    });
    expectSeen(result, { code: result.code === 2 ? 2 : 3, says: /profile/i }, [sandbox.key]);
  },
);
