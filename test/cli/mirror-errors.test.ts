import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMissingMirrorError, explainMirrorError } from "../../src/cli/mirror-errors.js";
import { type GlobalFlags, readSettings } from "../../src/config/settings.js";
import type { Env } from "../../src/deps.js";
import { MirrorUnusable } from "../../src/errors.js";
import { backupFolder, backupName } from "../../src/store/backups.js";
import { makeHome } from "../support/home.js";
import { brandapi, testDeps } from "../support/program.js";

interface Machine {
  flags?: GlobalFlags;
  env?: Env;
  /** The profiles in the config file, or undefined if the file does not exist. */
  profiles?: object;
  hasDemo?: boolean;
}

/** Returns the error for a missing mirror on a machine with the given settings. */
function errorOn({ flags = {}, env = {}, profiles, hasDemo = false }: Machine) {
  const deps = testDeps({ env });
  const { home } = deps;
  if (profiles) {
    mkdirSync(join(home, ".config/brandapi"), { recursive: true });
    writeFileSync(join(home, ".config/brandapi/config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  }
  if (hasDemo) {
    mkdirSync(join(home, "brandapi-demo"));
    writeFileSync(join(home, "brandapi-demo/demo.sqlite"), "");
  }
  return createMissingMirrorError(readSettings(flags, deps), deps);
}

const baseUrl = "https://brand.test/api/brand/v1";
const profiles = { acme: { baseUrl, key: "brk_acme" } };
const keyVariable = { BRANDAPI_KEY: "brk_test", BRANDAPI_BASE_URL: baseUrl };
const login = "run `brandapi login`, then `brandapi sync`";

const demo = "add `--db brandapi-demo/demo.sqlite` to use the demo's mirror; for your own brand";
const xPath = { db: "x.sqlite" };

test.each<[string, string, Machine]>([
  ["if a key is set", "run `brandapi sync` first", { env: keyVariable }],
  ["if no key is set", `${login}; without a key, try \`brandapi demo\``, {}],
  ["with --db", `check the path, or ${login}`, { flags: xPath }],
  [
    "with --db, if a key is set",
    "check the path, or run `brandapi sync` first",
    { flags: xPath, env: keyVariable },
  ],
  ["with --db, if a demo exists", `check the path, or ${login}`, { flags: xPath, hasDemo: true }],
  [
    "if BRANDAPI_DB is set",
    `check the path in BRANDAPI_DB, or ${login}`,
    { env: { BRANDAPI_DB: "x.sqlite" } },
  ],
  [
    "if --profile overrides BRANDAPI_DB",
    "run `brandapi sync` first",
    { flags: { profile: "acme" }, env: { BRANDAPI_DB: "x.sqlite" }, profiles },
  ],
  ["if a demo exists", `${demo}, ${login}`, { hasDemo: true }],
  [
    "if a demo exists and a key is set",
    `${demo}, run \`brandapi sync\` first`,
    { hasDemo: true, env: keyVariable },
  ],
  [
    "if the profile has a misspelled field",
    "rename `base_ur` to `baseUrl`",
    { profiles: { default: { base_ur: baseUrl } } },
  ],
])("%s, the hint for a missing mirror is: %s", (situation, hint, machine) => {
  const isPartOfHint = situation === "if the profile has a misspelled field";
  expect(errorOn(machine)).toMatchObject({
    message: expect.stringMatching(/^No mirror yet: /),
    hint: isPartOfHint ? expect.stringContaining(hint) : hint,
  });
});

test("the error for an unknown profile names the profile, not its missing mirror, unless --db is passed", () => {
  const flags = { profile: "unrelated" };
  expect(() => errorOn({ flags, profiles })).toThrow("Unknown profile: `unrelated`");
  expect(errorOn({ flags: { ...flags, db: "x.sqlite" }, profiles }).message).toContain("No mirror yet");
});

test("the error for a damaged mirror suggests restoring the newest backup", async () => {
  const path = join(makeHome(), "m.sqlite");
  const cause = Object.assign(new Error("malformed"), { code: "SQLITE_CORRUPT" });
  expect(await explainMirrorError(cause, path)).toMatchObject({
    message: `The mirror is damaged: ${path}.`,
    hint: expect.stringContaining("brandapi backup --restore FILE"),
  });
  mkdirSync(backupFolder(path));
  const backup = join(backupFolder(path), backupName(path, "2026-11-01T00:00:00.000Z"));
  writeFileSync(backup, "");
  const hint = expect.stringContaining(`brandapi backup --restore ${backup}`);
  expect(await explainMirrorError(cause, path)).toMatchObject({ exitCode: 3, hint, cause });
  const foreign = new MirrorUnusable("The mirror belongs to another brand.", { hint: "use `--db`" });
  expect(await explainMirrorError(foreign, path)).toBe(foreign);
});

test("errors from SQLite name the mirror, but other errors are not changed", async () => {
  const busy = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
  expect(await explainMirrorError(busy, "m.sqlite")).toMatchObject({
    exitCode: 9,
    message: "The mirror is locked by another program: m.sqlite.",
  });
  const bug = new TypeError("x");
  expect(await explainMirrorError(bug, "m.sqlite")).toBe(bug);
});

test("the error for a missing mirror suggests the correct name of a misspelled variable", async () => {
  const missing = await brandapi("tables", { env: { BRANDAPI_DATABASE: "m.sqlite" } });
  expect(missing.code).toBe(3);
  expect(missing.err).toMatch(
    /^`BRANDAPI_DATABASE` is not used: .*\nbrandapi: No mirror yet: .*\n {2}hint: did you mean/,
  );
});

test("`tables` suggests restoring the backup if the mirror is damaged", async () => {
  const home = makeHome();
  const path = join(home, "m.sqlite");
  mkdirSync(backupFolder(path));
  const backup = join(backupFolder(path), backupName(path, "2026-11-01T00:00:00.000Z"));
  for (const file of [path, backup]) writeFileSync(file, "not a database");
  const damaged = await brandapi(["tables", "--db", path], { home });
  expect(damaged).toMatchObject({ code: 3, err: expect.stringContaining(`backup --restore ${backup}`) });
});
