import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scanCommandLine } from "../../src/cli/command-line.js";
import { systemClock } from "../../src/deps.js";
import { runCommandLine } from "../../src/main.js";
import { lockMirror } from "../../src/store/mirror-lock.js";
import { makeBrand, type SentRequest, type TestBrand } from "../support/brand.js";
import { until } from "../support/process.js";
import { brandapi, testDeps } from "../support/program.js";
import { memberOf, minute } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

const schemaOf010 = new URL("../store/schema-0.1.0.sql", import.meta.url);

/** Creates an empty mirror with the schema from version 0.1.0. Returns its path and the environment for syncing it. */
async function olderMirror() {
  const brand = makeBrand({ history: 20, listLimit: 5 });
  const db = new Sqlite(brand.db);
  db.exec(readFileSync(schemaOf010, "utf8"));
  db.close();
  return { path: brand.db, options: { home: brand.home, env: await brand.served() } };
}

test("sync --dry-run does not change a mirror from an older version", async () => {
  const { path, options } = await olderMirror();
  const before = readFileSync(path);
  const { code, out } = await brandapi("sync --dry-run", options);
  expect(code).toBe(0);
  expect(out).toContain("orders: ");
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("sync --wait waits for another run even if the mirror was created by an older version", async () => {
  const { path, options } = await olderMirror();
  const { signal } = new AbortController();
  const lock = await lockMirror(path, { wait: false, clock: systemClock, signal });
  const deps = testDeps(options);
  const exitCode = runCommandLine(scanCommandLine(["sync", "roster", "--wait"]), deps);
  await until(() => deps.stderr.text.includes("waiting for another run"));
  lock.release();
  expect(await exitCode).toBe(0);
});

test("the error for a locked mirror suggests --wait only for commands that accept it", async () => {
  const { path, options } = await olderMirror();
  const { signal } = new AbortController();
  const lock = await lockMirror(path, { clock: systemClock, signal });
  const sync = await brandapi("sync roster", options);
  expect(sync).toMatchObject({ code: 9, err: expect.stringContaining("or add `--wait`") });
  const backup = `${path}.backup`;
  copyFileSync(path, backup);
  const restore = await brandapi(["backup", "--restore", backup], options);
  expect(restore).toMatchObject({ code: 9, err: expect.stringMatching(/after that run has ended\n/) });
  lock.release();
});

test("locking a mirror creates no SQLite journal file, because a killed process would leave the file behind", async () => {
  const { path } = await olderMirror();
  const { signal } = new AbortController();
  const lock = await lockMirror(path, { clock: systemClock, signal });
  expect(existsSync(`${path}-lock-journal`)).toBe(false);
  lock.release();
});

const asks = (path: string) => (request: SentRequest) => request.path === path;
const failedRun = async (brand: TestBrand) => JSON.parse((await brand.run("status --json")).out).failed_run;

test("`status` reports a command that failed during startup, until another command starts successfully", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  expect((await brand.run("sync roster")).code).toBe(0);
  brand.setKey({ revoked: true });
  expect((await brand.run("sync roster")).code).toBe(4);
  expect(await failedRun(brand)).toMatchObject({
    command: "sync",
    isRefused: true,
    error: expect.stringContaining("401"),
    hint: expect.stringContaining("BRANDAPI_KEY"),
  });
  brand.setKey({ revoked: false });
  expect((await brand.run("verify roster")).code).toBe(0);
  expect(await failedRun(brand)).toBeNull();
  brand.before = () => "reset";
  expect((await brand.run("verify roster --max-wait 1s")).code).toBe(6);
  expect(await failedRun(brand)).toMatchObject({ command: "verify", isRefused: false });
  brand.before = () => ({ status: 403 });
  expect((await brand.run("sync roster")).code).toBe(5);
  expect(await failedRun(brand)).toMatchObject({ command: "sync", isRefused: true });
  const fetch = () => Promise.reject(new Error(`invalid header: ${brand.key}`));
  expect((await brand.run("sync roster", { fetch })).code).toBe(1);
  expect((await failedRun(brand)).error).toContain("invalid header: [key hidden]");
});

test("`status` reports a failed command if the API rejects the key during a sync, but not if only one resource fails", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  brand.once(asks("/roster"), () => ({ status: 404 }));
  expect((await brand.run("sync roster")).code).toBe(7);
  expect(await failedRun(brand)).toBeNull();
  brand.once(asks("/roster"), () => void brand.setKey({ revoked: true }));
  expect((await brand.run("sync roster")).code).toBe(4);
  expect(await failedRun(brand)).toMatchObject({ isRefused: true });
});

test("a sync with a key that has no scopes is recorded as failed", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  brand.setKey({ scopes: [] });
  expect((await brand.run("sync")).code).toBe(5);
  expect(await failedRun(brand)).toMatchObject({ isRefused: true, error: expect.stringContaining("scopes") });
});

test("a command that is interrupted or uses another brand's key is not recorded as failed", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  const other = makeBrand({ sameApiAs: brand, history: 1, listLimit: 1, seed: 2 });
  await brand.run("sync roster");
  expect((await brand.stopped("sync roster", asks("/me"))).code).toBe(130);
  for (const command of ["sync roster", "sync --dry-run"])
    expect(await brand.run(command, { env: { BRANDAPI_KEY: other.key } })).toMatchObject({
      code: 3,
      err: expect.stringContaining("belongs to"),
    });
  expect(await failedRun(brand)).toBeNull();
});

test("a running sync stores its progress in the mirror", async () => {
  const brand = makeBrand({ roster: Array.from({ length: 150 }, (_, n) => memberOf(`r${n}`)) });
  const stored: unknown[] = [];
  brand.before = ({ path }) => {
    brand.pass(minute);
    const rows = brand.sql<{ value: string }>("SELECT value FROM mirror_info WHERE name = 'running_command'");
    if (path === "/roster") for (const { value } of rows) stored.push(JSON.parse(value));
    return undefined;
  };
  await brand.run("sync roster");
  const facts = { command: "sync", resource: "roster", position: 1, of: 1 };
  expect(stored).toMatchObject([
    { ...facts, requests: 1, requests_left: null },
    { ...facts, requests: 2, requests_left: 1 },
  ]);
});

test("a sync that creates a new mirror prints the mirror's path only if the path was passed with --db", async () => {
  const brand = makeBrand({ createsMirror: true });
  expect((await brand.run("sync roster")).err).not.toContain("new mirror");
  const created = `Creating a new mirror: ${join(brand.home, "x.sqlite")}`;
  expect((await brand.run("sync roster --db x.sqlite")).err).toContain(created);
  expect((await brand.run("sync roster --db x.sqlite")).err).not.toContain("new mirror");
});

test("verify requires a mirror, and sends no request without one", async () => {
  const brand = makeBrand({ createsMirror: true });
  const { code, err, requests } = await brand.run("verify");
  expect([code, err, requests]).toEqual([3, expect.stringContaining("No mirror yet"), []]);
});

test.each([["sync roster"], ["sync --dry-run"]])(
  "`brandapi %s` warns about unknown settings even if it exits with code 3 because this machine's clock is 6 minutes fast",
  async (command) => {
    const brand = makeBrand();
    const { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key, BRANDAPI_RATE_LIMIT = "" } = brand.env;
    brand.env = { BRANDAPI_RATE_LIMIT, BRANDAPI_DATABASE: "m.sqlite", BRANDAPI_CONFIG_DIR: brand.home };
    const profiles = { default: { baseUrl, key, pign: "x" } };
    writeFileSync(join(brand.home, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
    const run = await brand.run(command, { clock: { ...brand.clock, now: () => brand.now() + 6 * minute } });
    expect(run.code).toBe(3);
    expect(run.err).toMatch(/^warning: The profile `default` .* unknown field `pign`/m);
    expect(run.err).toMatch(/^`BRANDAPI_DATABASE` is not used/m);
    expect(run.err).toMatch(/clock is 6m ahead.*\n {2}hint: set the clock/);
  },
);

test("a sync that applies a changed list of omitted fields warns about fields that are no longer omitted and about dropped user-defined indexes", async () => {
  const brand = makeBrand({ roster: [memberOf("r1"), memberOf("r2")] });
  const { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key } = brand.env;
  const env = { BRANDAPI_BASE_URL: "", BRANDAPI_KEY: "", BRANDAPI_CONFIG_DIR: brand.home };
  const syncWith = async (omit: string, flags = "") => {
    const profiles = { acme: { baseUrl, key, omit, db: brand.db } };
    writeFileSync(join(brand.home, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
    const run = await brand.run(`sync roster --profile acme ${flags}`, { env });
    expect(run.code, run.err).toBe(0);
    return run.err.split("\n").filter((line) => /omit|index/.test(line));
  };
  expect(await syncWith("host.last_name")).toEqual(["omits host.last_name"]);
  expect(await syncWith("host.last_name")).toEqual([]);
  const db = new Sqlite(brand.db);
  const index = "CREATE UNIQUE INDEX mine ON roster (length(relationship_id))";
  db.exec(`DELETE FROM roster WHERE relationship_id = 'r2'; ${index}`).close();
  expect(await syncWith("host.last_name,status")).toEqual([
    expect.stringMatching(/^warning: the index `mine` .* was dropped/),
    "omits host.last_name, status: 2 records rewritten",
  ]);
  expect(await syncWith("status")).toEqual([
    "omits status",
    expect.stringMatching(
      /^warning: The mirror has omitted host\.last_name so far.*Run `brandapi sync --full --profile acme`/,
    ),
  ]);
  expect(await syncWith("", "--full")).toEqual([
    "omits nothing",
    expect.stringMatching(/^warning: The mirror has omitted status so far.* will store this field$/),
  ]);
});
