import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { checkFreeSpace } from "../../src/commands/doctor.js";
import { writeJsonInfo } from "../../src/store/database.js";
import { makeBrand } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, type ProgramOptions } from "../support/program.js";

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
  mirror.transaction(() => writeJsonInfo(mirror, "last_backup", backup));
  mirror.db.close();
});

interface Line {
  check: string;
  state: string;
  text: string;
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
});

test.each([
  ["no key is configured", { env: { BRANDAPI_KEY: "" } }, 3, "key", "run `brandapi login`"],
  ["the mirror's folder is missing", { env: { BRANDAPI_DB: "gone/m.sqlite" } }, 3, "settings", "mkdir -p"],
  ["the API rejects the key", { fetch: apiOf({ status: 401 }) }, 4, "key", "BRANDAPI_KEY"],
] as const)(
  "doctor skips the checks that depend on a failed check: %s",
  async (_, options, exit, check, hint) => {
    const { code, of, lines } = await doctor(options);
    expect(code).toBe(exit);
    expect(lines.at(-1)?.check).toBe(check);
    expect(of(check)).toMatchObject({ state: "failed", hint: expect.stringContaining(hint) });
    expect(lines.filter(({ state }) => state === "failed")).toHaveLength(1);
  },
);

test("doctor warns about a missing mirror, and about a clock that is ten minutes off", async () => {
  const { code, of } = await doctor({
    home: makeHome(),
    env: { BRANDAPI_DB: "" },
    fetch: apiOf({ behindMs: 600_000 }),
  });
  expect(code).toBe(0);
  expect(of("mirror")).toMatchObject({ state: "warning", hint: expect.stringContaining("`brandapi sync`") });
  expect(of("clock")).toMatchObject({ state: "warning", text: expect.stringContaining("10m behind") });
});

test("doctor exits with code 3 for a file that is not a mirror, and with code 8 for tables that differ from the records", async () => {
  const folder = makeHome();
  const path = join(folder, "mirror.sqlite");
  writeFileSync(path, "no mirror".repeat(1_000));
  const broken = await doctor({ home: folder, env: { BRANDAPI_DB: path } });
  expect({ code: broken.code, state: broken.of("mirror")?.state }).toEqual({ code: 3, state: "failed" });
  const other = makeHome();
  const mirror = await makeMirror(other);
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.exec("UPDATE orders SET total_amount = 1e6");
  mirror.db.close();
  const differing = await doctor({ home: other, env: { BRANDAPI_DB: join(other, "mirror.sqlite") } });
  expect(differing.code).toBe(8);
  expect(differing.of("tables")).toMatchObject({
    state: "failed",
    hint: "run `brandapi verify --repair`",
  });
});

test("doctor exits with code 3 if the key and the mirror belong to different brands", async () => {
  const brand = makeBrand({ history: 20, listLimit: 10 });
  await brand.run("sync roster");
  const other = makeBrand({ sameApiAs: brand, seed: 2, history: 20, listLimit: 10 });
  const ran = await other.run("doctor", { env: { BRANDAPI_DB: brand.db } });
  expect([ran.code, ran.out]).toEqual([3, expect.stringContaining("belongs to another brand")]);
});

test("doctor lists mirrors that a restore replaced, with the command that deletes them", async () => {
  const folder = makeHome();
  const mirror = await makeMirror(folder);
  mirror.db.close();
  const old = join(folder, "mirror.sqlite.before-1764000000000");
  writeFileSync(old, "x");
  const { code, of } = await doctor({ home: folder, env: { BRANDAPI_DB: mirror.path } });
  expect([code, of("old")]).toEqual([
    0,
    expect.objectContaining({
      state: "warning",
      text: expect.stringContaining(old),
      hint: expect.stringContaining(`\`rm ${old}\``),
    }),
  ]);
});

test.each([
  ["enough", 500e6, 50e6],
  ["too little", 150e6, 1e6],
  ["too little", 3e9, 2e9],
  ["enough", 5e9, 2e9],
] as const)(
  "doctor reports %s space with %d bytes free and a mirror of %d bytes",
  (space, freeBytes, mirrorBytes) => {
    const { text, hint } = checkFreeSpace({ freeBytes, mirrorBytes });
    const isFull = space === "too little";
    expect([hint !== undefined, text.startsWith("nearly full")]).toEqual([isFull, isFull]);
  },
);
