import { closeSync, openSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { checkFreeSpace } from "../../src/commands/doctor.js";
import { saveJsonInfo } from "../../src/store/database.js";
import { makeBrand } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, type ProgramOptions } from "../support/program.js";
import { day } from "../support/records.js";

/** An API that responds to `/me` with the given status and date. */
function apiOf({ status = 200, behindMs = 0 } = {}): NonNullable<ProgramOptions["fetch"]> {
  const me = {
    brand: { id: "b1", name: "Acme" },
    key: { id: "k1", scopes: ["orders:read"], expires_at: null },
  };
  const body = status === 200 ? { success: true, data: me } : {};
  return async () =>
    Response.json(body, { status, headers: { date: new Date(Date.now() + behindMs).toUTCString() } });
}

const access = {
  BRANDAPI_BASE_URL: "http://127.0.0.1:1/api/brand/v1",
  BRANDAPI_KEY: "brk_test",
  BRANDAPI_RATE_LIMIT: "none",
};
let home: string;

beforeAll(async () => {
  home = makeHome();
  const mirror = await makeMirror(home);
  writeRead(mirror, "orders", [anOrder(1)]);
  const backup = { at: new Date().toISOString(), path: mirror.path };
  mirror.transaction(() => saveJsonInfo(mirror, "last_backup", backup));
  mirror.db.close();
});

interface Line {
  check: string;
  state: string;
  text: string;
  exit_code: number;
  hint: string | null;
}

async function doctor(options: ProgramOptions = {}) {
  const env = { ...access, BRANDAPI_DB: join(home, "mirror.sqlite"), ...options.env };
  const { code, out, err } = await brandapi("doctor --json", { home, fetch: apiOf(), ...options, env });
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { code, err, lines, of: (check: string) => lines.find((line) => line.check === check) };
}

test("all of doctor's checks pass for a healthy mirror", async () => {
  const { code, err, lines } = await doctor();
  expect(lines.map(({ check, state }) => `${check}: ${state}`)).toEqual([
    "node: ok",
    "settings: ok",
    "mirror: ok",
    "tables: ok",
    "columns: ok",
    "backup: ok",
    "forgotten: ok",
    "old: ok",
    "disk: ok",
    "key: ok",
    "clock: ok",
  ]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
});

test("doctor prints one line per check, and doctor --quiet prints only problems", async () => {
  const env = { ...access, BRANDAPI_DB: join(home, "mirror.sqlite") };
  const all = await brandapi("doctor", { home, env, fetch: apiOf() });
  expect(all.out).toMatch(/^ok node: Node .*\nok settings: profile `default`, http:\/\/127.*\nok mirror: /);
  expect((await brandapi("doctor --quiet", { home, env, fetch: apiOf() })).out).toBe("");
  const fetch = apiOf({ status: 401, behindMs: 600_000 });
  const options = { home: makeHome(), env: { ...access, BRANDAPI_DB: "m.sqlite" }, fetch };
  const problems = await brandapi("doctor --quiet --db missing.sqlite", options);
  expect(problems.out).toMatch(
    /^! {2}mirror: There is no mirror yet: .*\n {5}run `brandapi sync --db missing\.sqlite` .*\n! {2}key: .*\n {5}.*\n$/,
  );
});

test.each([
  ["no key is configured", { env: { BRANDAPI_KEY: "" } }, 3, "key", "run `brandapi login`"],
  ["the mirror's folder is missing", { env: { BRANDAPI_DB: "gone/m.sqlite" } }, 3, "settings", "mkdir -p"],
  ["the API rejects the key", { fetch: apiOf({ status: 401 }) }, 4, "key", "BRANDAPI_KEY"],
] as const)(
  "if %s, doctor reports the failed check and skips the checks that depend on it",
  async (_, options, exit, check, hint) => {
    const { code, of, lines } = await doctor(options);
    expect(code).toBe(exit);
    expect(lines.at(-1)?.check).toBe(check);
    expect(of(check)).toMatchObject({ state: "failed", hint: expect.stringContaining(hint) });
    expect(lines.filter(({ state }) => state === "failed")).toHaveLength(1);
  },
);

test("doctor warns about a missing mirror and a clock that is ten minutes off", async () => {
  const { code, lines, of } = await doctor({
    home: makeHome(),
    env: { BRANDAPI_DB: "" },
    fetch: apiOf({ behindMs: 600_000 }),
  });
  expect(code).toBe(0);
  expect(lines.map(({ check }) => check)).toEqual([
    ...["node", "settings", "mirror", "old", "disk", "key", "clock"],
  ]);
  expect(of("mirror")).toMatchObject({ state: "warning", hint: expect.stringContaining("`brandapi sync`") });
  expect(of("clock")).toMatchObject({ state: "warning", text: expect.stringContaining("10m behind") });
});

test("doctor exits with code 3 for a file that is not a mirror", async () => {
  const folder = makeHome();
  const path = join(folder, "mirror.sqlite");
  writeFileSync(path, "no mirror".repeat(1_000));
  const broken = await doctor({ home: folder, env: { BRANDAPI_DB: path } });
  expect({ code: broken.code, state: broken.of("mirror")?.state }).toEqual({ code: 3, state: "failed" });
});

test("doctor exits with code 8 for tables that differ from the records, even if the API rejects the key", async () => {
  const other = makeHome();
  const mirror = await makeMirror(other);
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.exec("UPDATE orders SET total_amount = 1e6");
  mirror.db.close();
  const fetch = apiOf({ status: 401 });
  const differing = await doctor({ home: other, env: { BRANDAPI_DB: join(other, "mirror.sqlite") }, fetch });
  expect(differing.code, "the first failed check determines the exit code").toBe(8);
  expect(differing.of("tables")).toMatchObject({
    state: "failed",
    exit_code: 8,
    hint: "run `brandapi verify --repair`",
  });
  expect([differing.of("columns")?.exit_code, differing.of("key")?.exit_code]).toEqual([0, 4]);
});

test.each([
  ["has an older schema", "PRAGMA user_version = 1"],
  ["has tables with outdated columns", "DELETE FROM mirror_info WHERE name = 'shape:orders'"],
])("doctor warns about a mirror that %s, and skips the checks of its contents", async (_, change) => {
  const mirror = await makeMirror();
  mirror.db.exec(change);
  mirror.db.close();
  const { code, lines, of } = await doctor({ env: { BRANDAPI_DB: mirror.path } });
  expect([code, of("mirror")]).toMatchObject([
    0,
    { state: "warning", hint: expect.stringContaining("status") },
  ]);
  expect(lines.slice(2).map(({ check }) => check)).toEqual(["mirror", "old", "disk", "key", "clock"]);
});

test("doctor exits with code 3 for a mirror with a damaged index", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.unsafeMode().pragma("writable_schema = 1");
  mirror.db.exec(
    "UPDATE sqlite_master SET sql = replace(sql, 'key)', 'since_at)') WHERE name = 'records_key'",
  );
  mirror.db.close();
  const { code, of } = await doctor({ env: { BRANDAPI_DB: mirror.path } });
  expect([code, of("mirror"), of("tables")]).toMatchObject([
    3,
    {
      state: "failed",
      text: expect.stringContaining("The mirror is damaged ("),
      hint: expect.stringContaining("sync --full"),
    },
    undefined,
  ]);
});

test.each([
  ["index", "records_key"],
  ["table", "record_versions"],
])("doctor suggests restoring the last backup of a mirror with a damaged %s", async (_, name) => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  const backup = `${mirror.path}-backup`;
  writeFileSync(backup, "");
  mirror.transaction(() => saveJsonInfo(mirror, "last_backup", { at: "2026-11-01", path: backup }));
  const page = mirror.selectValue<number>("SELECT rootpage FROM sqlite_master WHERE name = ?", name) ?? 0;
  const start = (page - 1) * Number(mirror.db.pragma("page_size", { simple: true }));
  mirror.db.close();
  const file = openSync(mirror.path, "r+");
  // Corrupts the page by marking it as an index page or by overwriting its header.
  writeSync(file, name === "record_versions" ? Buffer.from([2]) : Buffer.alloc(8, 0x0a), 0, undefined, start);
  closeSync(file);
  const { code, of } = await doctor({ env: { BRANDAPI_DB: mirror.path } });
  expect([code, of("mirror")]).toMatchObject([
    3,
    { state: "failed", hint: expect.stringContaining(`brandapi backup --restore ${backup}`) },
  ]);
});

test.each([
  [0, "no host has been forgotten", "forgotten", [], { state: "ok", text: "no hosts have been forgotten" }],
  [
    0,
    "the mirror contains only the ID of a forgotten host",
    "forgotten",
    ["host-99"],
    { state: "ok", text: "1 forgotten host: only IDs are kept" },
  ],
  [
    8,
    "the mirror contains the name of a forgotten host",
    "forgotten",
    ["host-1"],
    { hint: expect.stringContaining("run `brandapi forget --host host-1`") },
  ],
  [
    8,
    "the mirror contains an omitted field",
    "omit",
    ["host.first_name"],
    { hint: expect.stringContaining("run `brandapi sync`") },
  ],
  [
    8,
    "erased data may still be in the mirror's file",
    "to_scrub",
    [],
    { hint: expect.stringContaining("run `brandapi sync`") },
  ],
] as const)("doctor exits with code %i if %s", async (exit, _, rules, values, finding) => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.transaction(() => saveJsonInfo(mirror, rules, values));
  mirror.db.close();
  const { code, of } = await doctor({ env: { BRANDAPI_DB: mirror.path } });
  expect([code, of("forgotten")]).toMatchObject([exit, finding]);
});

test("doctor lists columns with values of an unexpected type", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { total_amount: "many" })]);
  writeRead(mirror, "roster", [{ relationship_id: "r", host: null, commission_rate: "high" }]);
  mirror.db.close();
  const { code, of } = await doctor({ env: { BRANDAPI_DB: mirror.path } });
  expect([code, of("columns")]).toMatchObject([
    0,
    { state: "warning", text: expect.stringMatching(/orders\.total_amount.*, .*roster\.commission_rate/) },
  ]);
  expect(of("columns")?.hint).toContain("`brandapi export orders --ndjson");
});

test.each([
  ["a misspelled variable", { BRANDAPI_PROFLE: "acme" }, {}, "did you mean BRANDAPI_PROFILE?"],
  ["an unknown field in the profile", {}, { pign: "https://hc.example" }, "config.json"],
])("doctor warns about %s", async (_, env, fields, hint) => {
  const folder = makeHome();
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles: { default: fields } }), {
    mode: 0o600,
  });
  const { code, of } = await doctor({ env: { ...env, BRANDAPI_CONFIG_DIR: folder } });
  expect([code, of("settings")]).toMatchObject([
    0,
    { state: "warning", hint: expect.stringContaining(hint) },
  ]);
  expect([of("key")?.state, of("mirror")?.state]).toEqual(["ok", "ok"]);
});

test("doctor exits with code 3 if the key and the profile belong to different brands", async () => {
  const folder = makeHome();
  const profile = { brandId: "b2", brandName: "Basalt" };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles: { default: profile } }), {
    mode: 0o600,
  });
  const { code, of } = await doctor({ home: folder, env: { BRANDAPI_CONFIG_DIR: folder, BRANDAPI_DB: "" } });
  expect([code, of("key")?.text]).toEqual([3, expect.stringContaining("another brand, Basalt (b2)")]);
});

test("doctor hides the key in error messages", async () => {
  const fetch = () => Promise.reject(new Error("invalid header: Bearer brk_test"));
  const { code, of } = await doctor({ fetch });
  expect([code, of("key")?.text]).toEqual([1, expect.stringContaining("Bearer [key hidden]")]);
});

test("doctor gives up on an unreachable API after 15 seconds", async () => {
  const brand = makeBrand();
  const start = brand.now();
  brand.before = () => "reset";
  expect((await brand.run("doctor")).code).toBe(6);
  expect(brand.now() - start).toBeLessThan(16_000);
});

test.each([
  ["does not warn", "the last backup is 14 days old", 14 * day],
  ["warns", "the last backup is more than 14 days old", 14 * day + 1],
  ["does not warn", "there is no backup and the mirror is 14 days old", 14 * day],
  ["warns", "there is no backup and the mirror is more than 14 days old", 14 * day + 1],
])("doctor %s if %s", async (expected, situation, age) => {
  const hasBackup = situation.startsWith("the last backup");
  const state = expected === "warns" ? "warning" : "ok";
  const mirror = await makeMirror();
  const at = "2026-11-01T00:00:00.000Z";
  writeRead(mirror, "orders", [anOrder(1)], { at: hasBackup ? "2026-09-01T00:00:00.000Z" : at });
  const backup = { at, path: mirror.path };
  if (hasBackup) mirror.transaction(() => saveJsonInfo(mirror, "last_backup", backup));
  mirror.db.close();
  const clock = { now: () => Date.parse(at) + age };
  expect((await doctor({ clock, env: { BRANDAPI_DB: mirror.path } })).of("backup")).toMatchObject({
    state,
  });
});

test("doctor exits with code 3 if the key and the mirror belong to different brands", async () => {
  const brand = makeBrand({ history: 20, listLimit: 10 });
  await brand.run("sync roster");
  const other = makeBrand({ sameApiAs: brand, seed: 2, history: 20, listLimit: 10 });
  const ran = await other.run("doctor", { env: { BRANDAPI_DB: brand.db } });
  expect([ran.code, ran.out]).toEqual([3, expect.stringContaining("belongs to another brand")]);
});

test("doctor lists the mirrors that were replaced by a restore, and prints the command that deletes them", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const old = ["1764", "1763", "1765"].map((time) => `${mirror.path}.before-${time}`);
  for (const path of [...old, `${mirror.path}-before`]) writeFileSync(path, "x");
  const link = join(makeHome(), "link.sqlite");
  symlinkSync(mirror.path, link);
  const sorted = old.toSorted();
  for (const db of [mirror.path, link]) {
    const { code, of } = await doctor({ env: { BRANDAPI_DB: db } });
    expect([code, of("old")]).toMatchObject([
      0,
      {
        state: "warning",
        text: expect.stringContaining(`: ${sorted.join(", ")}`),
        hint: expect.stringContaining(`\`rm ${sorted.join(" ")}\``),
      },
    ]);
  }
});

test.each([
  ["enough", "500 MB", "a 50 MB mirror", 500e6, 50e6],
  ["too little", "150 MB", "a 1 MB mirror", 150e6, 1e6],
  ["too little", "3 GB", "a 2 GB mirror", 3e9, 2e9],
  ["enough", "4 GB", "a 2 GB mirror", 4e9, 2e9],
  ["too little", "1 byte less than 4 GB", "a 2 GB mirror", 4e9 - 1, 2e9],
  ["enough", "200 MiB", "an empty mirror", 209_715_200, 0],
  ["too little", "1 byte less than 200 MiB", "an empty mirror", 209_715_199, 0],
] as const)(
  "doctor reports %s free space if the disk has %s free for %s",
  (space, _free, _mirror, freeBytes, mirrorBytes) => {
    const { text, hint } = checkFreeSpace({ freeBytes, mirrorBytes });
    const isFull = space === "too little";
    expect([hint !== undefined, text.startsWith("nearly full")]).toEqual([isFull, isFull]);
  },
);
