import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeBrand, type TestBrand, testBaseUrl } from "../support/brand.js";

/** Two brands on the same API, and methods that run commands in a home folder without settings. */
interface Profiles {
  fjell: TestBrand;
  basalt: TestBrand;
  run: TestBrand["run"];
  login(profile: string, key: string): Promise<void>;
  mirrorOf(profile: string): string;
}

function makeProfiles(): Profiles {
  const fjell = makeBrand({ history: 50, now: Date.UTC(2026, 10, 21), createsMirror: true });
  const basalt = makeBrand({ sameApiAs: fjell, history: 50, seed: 2, name: "Basalt Cycling" });
  fjell.env = {};
  return {
    fjell,
    basalt,
    run: (command, options) => fjell.run(command, options),
    async login(profile, key) {
      const words = ["login", "--profile", profile, "--base-url", testBaseUrl, "--key-stdin"];
      const { code, err } = await fjell.run(words, { stdin: key });
      if (code !== 0) throw new Error(err);
    },
    mirrorOf: (profile) => join(fjell.home, `.local/share/brandapi/${profile}.sqlite`),
  };
}

const noNetwork = () => Promise.reject(new Error("a request was sent"));

interface Listed {
  profile: string;
  brand: { id: string | null; name: string | null };
  mirror: string;
  age_seconds: number | null;
  key: { expires_at: string | null; days_left: number | null };
}

async function list(brands: Profiles): Promise<Listed[]> {
  const { code, out } = await brands.run("profiles --json", { fetch: noNetwork });
  expect(code).toBe(0);
  return JSON.parse(out) as Listed[];
}

test("brandapi profiles lists each brand's mirror, the age of its data and the number of days until its key expires, without network access", async () => {
  const brands = makeProfiles();
  await brands.login("default", brands.fjell.key);
  await brands.login("basalt", brands.basalt.key);
  expect((await brands.run("sync roster")).code).toBe(0);
  brands.fjell.pass(4 * 3_600_000);
  const { code, out, err } = await brands.run("profiles", { fetch: noNetwork });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^profile +brand +mirror +age +key$/);
  expect(lines[1]).toMatch(/^default +Fjell & Fern +\/\S+\/default\.sqlite +4h +1,094 days left$/);
  expect(lines[2]).toMatch(/^basalt +Basalt Cycling +\/\S+\/basalt\.sqlite +none +1,094 days left$/);
  expect(lines).toHaveLength(3);
  const json = await brands.run("profiles --json");
  expect(JSON.parse(json.out)[0]).toEqual({
    profile: "default",
    brand: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: "Fjell & Fern" },
    base_url: testBaseUrl,
    mirror: brands.mirrorOf("default"),
    last_success_at: expect.stringMatching(/^2026-11-21T00:00:/),
    age_seconds: expect.closeTo(4 * 3_600, -1),
    key: { expires_at: expect.stringMatching(/^2029-/), days_left: 1094 },
  });
  for (const { key } of [brands.fjell, brands.basalt]) expect(out + json.out).not.toContain(key);
});

test("if several brands have the same name, profiles prints each brand's ID and API host after the name", async () => {
  const brands = makeProfiles();
  brands.basalt.data.name = brands.fjell.data.name;
  await brands.login("default", brands.fjell.key);
  await brands.login("basalt", brands.basalt.key);
  const { out } = await brands.run("profiles");
  for (const { data } of [brands.fjell, brands.basalt])
    expect(out).toContain(`Fjell & Fern (${data.id.slice(0, 8)}, brand.test)`);
});

test("profiles lists a brand even if its profile has no name, no ID or no valid base URL", async () => {
  const { fjell, run } = makeProfiles();
  const config = join(fjell.home, ".config/brandapi/config.json");
  mkdirSync(dirname(config), { recursive: true });
  const named = { key: "brk_x", brandId: "0123456789", brandName: "Fern" };
  const profiles = {
    a: { key: "brk_x" },
    b: { key: "brk_x" },
    c: named,
    d: { ...named, baseUrl: "fern.example" },
    e: { ...named, keyExpiresAt: "2026-11-20T23:59:00Z" },
  };
  writeFileSync(config, JSON.stringify({ profiles }), { mode: 0o600 });
  const { code, out } = await run("profiles");
  expect(code).toBe(0);
  const columns = out.split("\n").map((line) => line.split(/ {2,}/));
  expect(columns.slice(1, -1).map(([profile, name, , age, key]) => [profile, name, age, key])).toEqual([
    ["a", "unknown", "none", "unknown"],
    ["b", "unknown", "none", "unknown"],
    ["c", "Fern (01234567)", "none", "unknown"],
    ["d", "Fern (01234567)", "none", "unknown"],
    ["e", "Fern (01234567)", "none", "expired"],
  ]);
});

test("profiles shortens the mirror's path in a narrow terminal, and omits the path and the brand in a very narrow one", async () => {
  const brands = makeProfiles();
  await brands.login("default", brands.fjell.key);
  const list = async (columns: number) =>
    (await brands.run("profiles --no-color", { tty: true, columns })).out;
  expect(await list(70)).toMatch(
    /^default {2}Fjell & Fern {2}….*\/default\.sqlite {2}none {2}1,094 days left$/m,
  );
  expect(await list(40)).toBe("profile  age   key\ndefault  none  1,094 days left\n");
});

test("brandapi profiles lists only brands with a stored key", async () => {
  const brands = makeProfiles();
  await brands.login("acme", brands.fjell.secretOf("expiring"));
  expect(await list(brands)).toMatchObject([{ profile: "acme", key: { days_left: 2 } }]);
  expect((await brands.run("logout --profile acme")).code).toBe(0);
  expect(await list(brands)).toEqual([]);
});

test("brandapi profiles warns about an unreadable mirror and lists the other brands", async () => {
  const brands = makeProfiles();
  await brands.login("acme", brands.fjell.key);
  await brands.login("basalt", brands.basalt.key);
  await brands.run("sync roster --profile basalt");
  writeFileSync(
    brands.mirrorOf("acme"),
    "not a mirror, and long enough to be looked at as a database file".repeat(20),
  );
  const { code, out, err } = await brands.run("profiles");
  expect(code).toBe(0);
  expect(out).toMatch(/^acme .* none +1,094 days left$/m);
  expect(out).toMatch(/^basalt +Basalt Cycling .*0s/m);
  expect(err).toMatch(/^warning: acme: .*is not an SQLite database/m);
  expect((await list(brands)).map(({ age_seconds }) => age_seconds === null)).toEqual([true, false]);
});

test("brandapi profiles prints the command to run next if no brand is configured", async () => {
  const { code, out, err } = await makeProfiles().run("profiles");
  expect({ code, out }).toEqual({ code: 0, out: "" });
  expect(err).toContain("run `brandapi login`");
  expect(JSON.parse((await makeProfiles().run("profiles --json")).out)).toEqual([]);
});

test("if a profile is mistyped, commands suggest the closest name, even if BRANDAPI_KEY is set", async () => {
  const brands = makeProfiles();
  await brands.login("fernwood", brands.fjell.key);
  const access = { BRANDAPI_BASE_URL: testBaseUrl, BRANDAPI_KEY: brands.fjell.key };
  const requestsBefore = brands.fjell.requests.length;
  for (const command of ["sync roster", "status", "whoami", "export roster --csv", "logout", "cron"])
    for (const [flag, env] of [
      [" --profile fernwod", access],
      [" --profile fernwod", {}],
      ["", { ...access, BRANDAPI_PROFILE: "fernwod" }],
    ] as const) {
      const { code, err } = await brands.run(command + flag, { env });
      expect(err, command).toMatch(/did you mean `fernwood`\?.*`brandapi login --profile fernwod`/);
      expect(code).toBe(2);
    }
  expect(brands.fjell.requests).toHaveLength(requestsBefore);
  expect(await list(brands)).toHaveLength(1);
});

test("a profile whose name resembles another profile's is accepted if `login` stored it or its mirror exists", async () => {
  const brands = makeProfiles();
  const env = { BRANDAPI_BASE_URL: testBaseUrl, BRANDAPI_KEY: brands.fjell.key };
  expect((await brands.run("sync roster", { env: { ...env, BRANDAPI_PROFILE: "shop-eu" } })).code).toBe(0);
  await brands.login("shop-us", brands.fjell.key);
  expect((await brands.run("sync roster", { env: { ...env, BRANDAPI_PROFILE: "shop-eu" } })).code).toBe(0);
  await brands.login("shop-uk", brands.fjell.key);
  expect((await brands.run("sync roster --profile shop-uk")).code).toBe(0);
  // The name `atlas` resembles no other profile's name, so it is accepted even without `login`.
  expect((await brands.run("sync roster", { env: { ...env, BRANDAPI_PROFILE: "atlas" } })).code).toBe(0);
});
