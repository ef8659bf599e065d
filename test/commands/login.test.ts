import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBrand, type TestBrand, testBaseUrl } from "../support/brand.js";
import { minute } from "../support/records.js";

const storedBrand = {
  brandId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  brandName: expect.any(String),
  keyExpiresAt: expect.stringMatching(/^20\d\d-/),
};
const configOf = ({ home }: TestBrand) => join(home, ".config/brandapi/config.json");

function brandWithoutSettings(): TestBrand {
  const brand = makeBrand({ history: 20, createsMirror: true });
  brand.env = {};
  return brand;
}

function storeProfiles(brand: TestBrand, profiles: Record<string, Record<string, string>>): void {
  mkdirSync(join(configOf(brand), ".."), { recursive: true });
  writeFileSync(configOf(brand), JSON.stringify({ profiles }), { mode: 0o600 });
}

function otherBrand(brand: TestBrand): TestBrand {
  return makeBrand({ sameApiAs: brand, history: 20, seed: 2, name: "Basalt Cycling" });
}

test("login --key-stdin stores the key so that only the owner can read it, and whoami then needs no flags", async () => {
  const brand = brandWithoutSettings();
  const login = await brand.run(`login --base-url ${testBaseUrl}/ --key-stdin`, {
    stdin: `${brand.key}\n`,
  });
  expect(login.err).toMatch(/Stored in .*config\.json\. Next: `brandapi sync`/);
  expect(login.code).toBe(0);
  expect(login.out).toContain("Fjell & Fern");
  const path = configOf(brand);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    profiles: {
      default: { baseUrl: testBaseUrl, key: brand.key, ...storedBrand, brandName: "Fjell & Fern" },
    },
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);

  const whoami = await brand.run("whoami --json");
  expect(whoami.code).toBe(0);
  expect(JSON.parse(whoami.out)).toEqual({
    brand: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: "Fjell & Fern" },
    key: {
      id: expect.any(String),
      scopes: expect.arrayContaining(["analytics:read", "roster:read"]),
      expires_at: expect.stringMatching(/^\d{4}-/),
      days_left: expect.any(Number),
    },
  });
  expect(whoami.err).toBe("");
});

test("sync refuses to create a profile's mirror from another brand's data", async () => {
  const brand = brandWithoutSettings();
  await brand.run(`login --base-url ${testBaseUrl} --key-stdin`, { stdin: brand.key });
  const env = { BRANDAPI_KEY: otherBrand(brand).key, BRANDAPI_BASE_URL: testBaseUrl };
  const refused = await brand.run("sync roster", { env });
  expect(refused.code).toBe(3);
  expect(refused.err).toMatch(
    /The profile belongs to another brand, Fjell & Fern \(.+\), but the key belongs to Basalt Cycling \(.+\)\./,
  );
  expect((await brand.run("status")).out).not.toContain("roster");
  expect((await brand.run("sync roster --db other.sqlite", { env })).code).toBe(0);
  expect((await brand.run("sync roster")).code).toBe(0);
});

test("login keeps the stored key and rejects a different brand's key if the profile already belongs to a brand", async () => {
  const brand = brandWithoutSettings();
  const other = otherBrand(brand);
  const login = async (key: string, flags = "") =>
    await brand.run(`login --base-url ${testBaseUrl} --key-stdin ${flags}`, { stdin: key });
  await login(brand.key);
  const refused = await login(other.key);
  expect(refused.code).toBe(3);
  expect(refused.err).toMatch(
    /The profile `default` belongs to Fjell & Fern \(.+\), but this key belongs to Basalt/,
  );
  await brand.run("sync roster");
  const withMirror = await login(other.key);
  expect([withMirror.code, withMirror.err]).toEqual([
    3,
    expect.stringContaining("and its mirror belong to Fjell"),
  ]);
  expect(withMirror.err).toContain(`\`brandapi login --profile NAME --base-url ${testBaseUrl}\``);
  expect(readFileSync(configOf(brand), "utf8")).toContain(brand.key);
  expect((await login(brand.key)).code).toBe(0);
  expect((await login(other.key, "--profile other")).code).toBe(0);
});

test("login suggests piping the key to the same command if stdin is empty", async () => {
  const login = `login --base-url ${testBaseUrl} --key-stdin --profile acme`;
  const { code, err } = await brandWithoutSettings().run(login);
  expect([code, err]).toEqual([3, expect.stringContaining(`| brandapi ${login}\``)]);
  const plain = await brandWithoutSettings().run("login", {
    env: { BRANDAPI_BASE_URL: testBaseUrl },
    stdin: " \n",
  });
  expect([plain.code, plain.err]).toEqual([3, expect.stringContaining("| brandapi login --key-stdin`")]);
});

test("sync and doctor warn about an unknown field in the profile", async () => {
  const brand = brandWithoutSettings();
  await brand.run(`login --base-url ${testBaseUrl} --key-stdin`, { stdin: brand.key });
  const config = JSON.parse(readFileSync(configOf(brand), "utf8"));
  Object.assign(config.profiles.default, { pign: "https://ping.test" });
  writeFileSync(configOf(brand), JSON.stringify(config));
  const sync = await brand.run("sync roster");
  expect([sync.code, sync.err]).toEqual([
    0,
    expect.stringContaining("unknown field `pign`; rename it to `ping`"),
  ]);
  const doctor = await brand.run("doctor");
  expect(doctor.out).toContain("unknown field `pign`");
});

test("if the config file is a symbolic link to a missing file, login creates the link's target", async () => {
  const brand = brandWithoutSettings();
  const path = configOf(brand);
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync("../../dotfiles/brandapi.json", path);
  const { code, err } = await brand.run(`login --base-url ${testBaseUrl} --key-stdin`, {
    stdin: brand.key,
  });
  expect(code, err).toBe(0);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(statSync(join(brand.home, "dotfiles/brandapi.json")).mode & 0o777).toBe(0o600);
  expect((await brand.run("whoami")).code).toBe(0);
});

test("login --profile suggests a command that includes the profile", async () => {
  const brand = brandWithoutSettings();
  const login = await brand.run(`login --profile second --base-url ${testBaseUrl} --key-stdin`, {
    stdin: brand.key,
  });
  expect(login.err).toContain("Next: `brandapi sync --profile second`.");
});

test("login prompts for the base URL and the key, and never shows the key", async () => {
  const brand = brandWithoutSettings();
  const stdin = `${testBaseUrl}x\u007f\r${brand.key}\r`;
  const login = await brand.run("login", { tty: true, stdin });
  expect(login.code).toBe(0);
  expect(login.err).toContain(`Base URL (ends in /api/brand/v1): ${testBaseUrl}x`);
  expect(login.err).toContain("API key for the profile `default` (not shown): \n");
  expect(login.err + login.out).not.toContain(brand.key);
  expect(login.raw.at(-1)).toBe(false);
});

test("login prompts again after an invalid base URL or an empty key", async () => {
  const brand = brandWithoutSettings();
  const stdin = `${testBaseUrl.replace(/v1$/, "v2")}\rplatform.example\r ${testBaseUrl} \r\r ${brand.key} \r`;
  const login = await brand.run("login", { tty: true, stdin });
  expect(login.code).toBe(0);
  expect(login.err).toContain("The base URL from the prompt does not end in /api/brand/v1: http");
  expect(login.err).toContain(
    "The base URL from the prompt does not start with https://.\n  hint: use an address",
  );
  expect(login.err.match(/^Base URL/gm)).toHaveLength(3);
  expect(login.err).toContain("The key from the prompt is empty.");
  expect(login.err).not.toContain(brand.key);
});

test("login uses BRANDAPI_BASE_URL instead of the stored base URL, without a prompt or a warning", async () => {
  const brand = brandWithoutSettings();
  storeProfiles(brand, { default: { baseUrl: "https://old.example/api/brand/v1" } });
  const env = { BRANDAPI_BASE_URL: `${testBaseUrl}//`, BRANDAPI_KEY: brand.key };
  const login = await brand.run("login", { tty: true, stdin: `${brand.key}\r`, env });
  expect(login.code).toBe(0);
  expect(login.err).not.toContain("Base URL (");
  expect(login.err).not.toContain("warning");
  expect(readFileSync(configOf(brand), "utf8")).toContain(`"baseUrl": "${testBaseUrl}"`);
  storeProfiles(brand, { default: { baseUrl: "https://old.example/api/brand/v1" } });
  expect((await brand.run("login", { stdin: brand.key, env })).code).toBe(0);
  const invalid = await brand.run("login", { stdin: brand.key, env: { BRANDAPI_BASE_URL: "brand" } });
  expect([invalid.code, invalid.err]).toEqual([
    3,
    expect.stringContaining("from BRANDAPI_BASE_URL does not"),
  ]);
});

test("login --omit replaces the list of omitted fields and prints the changes, and login without --omit keeps the list", async () => {
  const brand = brandWithoutSettings();
  const login = async (words: string) => {
    const command = `login --base-url ${testBaseUrl} ${words}`;
    const { code, err, out } = await brand.run(command, { stdin: brand.key });
    expect(code, err).toBe(0);
    return { err, out };
  };
  expect((await login("")).out).not.toContain("omits");
  const first = await login("--omit host.last_name,title");
  expect(first.err).toContain(
    "Omitted fields: host.last_name, title (added: host.last_name, title). The next sync applies",
  );
  expect((await login("")).out).toMatch(/^omits {4}host\.last_name, title$/m);
  const second = await login("--omit host.last_name --omit host.first_name,host.last_name");
  expect(second.err).toContain(
    "Omitted fields: host.last_name, host.first_name (added: host.first_name; no longer omitted: title).",
  );
  expect((await login("--omit host.last_name,host.first_name")).err).toContain(
    "host.first_name (unchanged).\n",
  );
  expect(JSON.parse((await login("--json")).out).omit).toEqual(["host.last_name", "host.first_name"]);
  expect((await login("--omit=")).err).toContain(
    "Nothing is omitted (no longer omitted: host.last_name, host.first_name).",
  );
  expect((await login("")).out).not.toContain("omits");
});

test.each([
  "host.last_name",
  "orders:host.last_name",
  "last_name",
  "roster:host.socials",
  "line_items.sku",
  "gifts:anything.else",
])("login accepts --omit %s", async (rule) => {
  const brand = brandWithoutSettings();
  const { code, err } = await brand.run(`login --base-url ${testBaseUrl} --omit ${rule}`, {
    stdin: brand.key,
  });
  expect([code, err]).toEqual([0, expect.stringContaining(`Omitted fields: ${rule} (added`)]);
});

test.each([
  "id",
  "orders:id",
  "host.id",
  "currency",
  "status",
  "order_date",
  "total_amount",
  "is_cancelled",
  "brand_payment_state",
  "athlete_payment_state",
  "relationship_id",
  "group_by",
  "gifts:id",
  "gifts:host.id",
])("login rejects --omit %s, because a sync needs the field", async (rule) => {
  await expectRejected(rule);
});

test.each(["host.lastname", "gifts:a:b", "gifts:", "nothing:title"])(
  "login rejects --omit %s, because no such field exists",
  async (rule) => {
    await expectRejected(rule);
  },
);

async function expectRejected(rule: string) {
  const brand = brandWithoutSettings();
  const { code, requests } = await brand.run(`login --base-url ${testBaseUrl} --omit ${rule}`, {
    stdin: brand.key,
  });
  expect([code, requests, existsSync(configOf(brand))]).toEqual([2, [], false]);
}

test.each([
  ["host.last_name,host.first_name", "warns"],
  ["host.last_name,host.first_name,content:host.name", "does not warn"],
  ["host.socials", "does not warn"],
])("login --omit %s %s that content records still contain hosts' names", async (rules, expected) => {
  const brand = brandWithoutSettings();
  const { code, err } = await brand.run(`login --base-url ${testBaseUrl} --omit ${rules}`, {
    stdin: brand.key,
  });
  expect([code, err.includes("Content records still contain")]).toEqual([0, expected === "warns"]);
});

test("login stores the mirror path, the ping URL and the key, and the next login keeps them", async () => {
  const brand = brandWithoutSettings();
  writeFileSync(join(brand.home, "key"), brand.key, { mode: 0o600 });
  const login = `login --base-url ${testBaseUrl} --key-file key`;
  const stored = () => JSON.parse(readFileSync(configOf(brand), "utf8")).profiles.default;
  const { code, err } = await brand.run(`${login} --db a.sqlite --ping https://hc.example/x`);
  expect(code, err).toBe(0);
  const profile = { key: brand.key, db: join(brand.home, "a.sqlite"), ping: "https://hc.example/x" };
  expect(stored()).toMatchObject(profile);
  expect((await brand.run(login)).code).toBe(0);
  expect(stored()).toMatchObject(profile);
  expect((await brand.run("login --ping https://hc.example/y")).code).toBe(0);
  expect(stored().ping).toBe("https://hc.example/y");
  expect((await brand.run(`${login} --key-stdin`)).code).toBe(2);
});

test("if the API rejects a key, login names the key's source", async () => {
  const brand = brandWithoutSettings();
  const login = `login --base-url ${testBaseUrl}`;
  const wrong = await brand.run(login, { stdin: "brk_wrong" });
  expect([wrong.code, wrong.err]).toEqual([4, expect.stringContaining("hint: check the key for a typo")]);
  storeProfiles(brand, { default: { baseUrl: testBaseUrl, key: "brk_old" } });
  const stored = await brand.run("login --ping https://hc.example/x");
  expect([stored.code, stored.err]).toEqual([
    4,
    expect.stringContaining("to replace the key in the profile"),
  ]);
  writeFileSync(join(brand.home, "key"), "brk_file", { mode: 0o600 });
  const file = await brand.run("login --ping https://hc.example/x --key-file key");
  expect([file.code, file.err]).toEqual([4, expect.stringContaining("check the key in the file key")]);
});

test("login --key-stdin replaces a key that the API rejects", async () => {
  const brand = brandWithoutSettings();
  storeProfiles(brand, { default: { baseUrl: testBaseUrl, key: "brk_old" } });
  expect((await brand.run("login --omit title --key-stdin", { stdin: brand.key })).code).toBe(0);
  expect(readFileSync(configOf(brand), "utf8")).toContain(brand.key);
});

test("login without flags replaces the stored key and keeps the base URL", async () => {
  const brand = brandWithoutSettings();
  await brand.run(`login --base-url ${testBaseUrl}`, { stdin: brand.key });
  const newKey = brand.secretOf("expiring");
  expect((await brand.run("login", { stdin: newKey })).code).toBe(0);
  const { profiles } = JSON.parse(readFileSync(configOf(brand), "utf8"));
  expect(profiles.default).toMatchObject({ baseUrl: testBaseUrl, key: newKey });
});

test("login rejects a key if the profile or the mirror in --db belongs to another brand, unless the mirror is unreadable", async () => {
  const brand = brandWithoutSettings();
  const other = otherBrand(brand);
  await other.run("sync roster");
  const login = async (db: string) =>
    await brand.run(`login --base-url ${testBaseUrl} --db ${db}`, { stdin: brand.key });
  const refused = await login(other.db);
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("its mirror belong to Basalt")]);
  writeFileSync(join(brand.home, "broken.sqlite"), "no mirror".repeat(1_000));
  expect((await login("broken.sqlite")).code).toBe(0);
  storeProfiles(brand, { default: { brandId: "b0" } });
  const unnamed = await brand.run(`login --base-url ${testBaseUrl}`, { stdin: brand.key });
  expect([unnamed.code, unnamed.err]).toEqual([3, expect.stringContaining("belongs to b0 (b0), but")]);
});

test("login does not store a key that the API rejects", async () => {
  const brand = brandWithoutSettings();
  for (const key of ["brk_unknown", brand.secretOf("expired"), brand.secretOf("revoked")]) {
    const login = await brand.run(`login --base-url ${testBaseUrl}`, { stdin: key });
    expect(login.code).toBe(4);
    expect(existsSync(configOf(brand))).toBe(false);
    expect(login.err + login.out).not.toContain(key);
  }
});

test("Ctrl-C at the key prompt exits with code 130 and restores the terminal", async () => {
  const brand = brandWithoutSettings();
  const login = await brand.run(`login --base-url ${testBaseUrl}`, { tty: true, stdin: "abc\u0003" });
  expect(login.code).toBe(130);
  expect(login.err).toContain("brandapi: Stopped.\n  hint: nothing has been changed\n");
  expect(login.raw.at(-1)).toBe(false);
  expect(existsSync(configOf(brand))).toBe(false);
});

test("login preserves other profiles and unknown fields in the config file", async () => {
  const brand = brandWithoutSettings();
  await brand.run(`login --base-url ${testBaseUrl}`, { stdin: brand.key });
  const path = configOf(brand);
  const stored = JSON.parse(readFileSync(path, "utf8"));
  stored.profiles.default.color = "green";
  writeFileSync(path, JSON.stringify({ ...stored, theme: 1 }));
  const other = otherBrand(brand).key;
  const second = await brand.run(`login --profile basalt --base-url ${testBaseUrl}`, {
    stdin: other,
  });
  expect(second.code).toBe(0);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    theme: 1,
    profiles: {
      default: { baseUrl: testBaseUrl, key: brand.key, ...storedBrand, color: "green" },
      basalt: { baseUrl: testBaseUrl, key: other, ...storedBrand, brandName: "Basalt Cycling" },
    },
  });
});

test("login reports a missing --base-url if there is no terminal", async () => {
  const brand = brandWithoutSettings();
  writeFileSync(join(brand.home, "key"), "brk_x", { mode: 0o600 });
  for (const flags of ["--key-stdin", "--key-file key"]) {
    const { code, err } = await brand.run(`login ${flags}`, { stdin: "brk_x" });
    expect([code, err], flags).toEqual([3, expect.stringContaining("add `--base-url https://")]);
  }
});

test("login warns if environment variables override the values that it stores", async () => {
  const brand = brandWithoutSettings();
  const env = { BRANDAPI_KEY: "brk_other", BRANDAPI_BASE_URL: testBaseUrl };
  const login = await brand.run("login", { stdin: brand.key, env });
  expect(login.code).toBe(0);
  expect(login.err).toContain("BRANDAPI_KEY is set and overrides the stored value.");
  expect(login.err).not.toContain("BRANDAPI_BASE_URL is set");
  const flag = `login --base-url ${testBaseUrl.replace("brand.test", "BRAND.test")}`;
  const same = await brand.run(flag, { stdin: brand.key, env: { ...env, BRANDAPI_KEY: ` ${brand.key}\n` } });
  expect([same.code, same.err]).toEqual([0, expect.not.stringContaining("BRANDAPI_KEY is set")]);
});

test("after login --profile with BRANDAPI_BASE_URL in the environment, whoami --profile uses the stored settings", async () => {
  const brand = brandWithoutSettings();
  const env = { BRANDAPI_BASE_URL: testBaseUrl, BRANDAPI_KEY: "brk_other" };
  const login = await brand.run("login --profile acme", { env, stdin: brand.key });
  expect(login.code, login.err).toBe(0);
  expect(login.err).not.toContain("overrides the stored value");
  expect((await brand.run("whoami --profile acme", { env })).code).toBe(0);
  expect((await brand.run("whoami", { env })).code).toBe(4);
});

test("login --ping without other flags keeps the stored base URL and key", async () => {
  const brand = brandWithoutSettings();
  await brand.run(`login --base-url ${testBaseUrl}`, { stdin: brand.key });
  const env = { BRANDAPI_BASE_URL: "https://other.example/api/brand/v1", BRANDAPI_KEY: "brk_other" };
  const login = await brand.run("login --ping https://hc.example/x", { env });
  expect(login.code, login.err).toBe(0);
  expect(JSON.parse(readFileSync(configOf(brand), "utf8")).profiles.default).toMatchObject({
    baseUrl: testBaseUrl,
    key: brand.key,
    ping: "https://hc.example/x",
  });
});

test("login --no-ping removes only the stored ping URL, and warns about BRANDAPI_PING", async () => {
  const brand = brandWithoutSettings();
  const ping = "https://hc.example/x";
  await brand.run(`login --base-url ${testBaseUrl} --ping ${ping} --omit title`, { stdin: brand.key });
  const stored = () => JSON.parse(readFileSync(configOf(brand), "utf8")).profiles.default;
  const { ping: _, ...others } = stored();
  const removed = await brand.run("login --no-ping");
  expect([removed.code, removed.err]).toEqual([
    0,
    expect.stringMatching(/^Removed the ping URL\.\nStored in /),
  ]);
  expect(stored()).toEqual(others);
  const again = await brand.run("login --no-ping", { env: { BRANDAPI_PING: ping } });
  expect(again.err).toMatch(
    /^No ping URL was stored\.\nwarning: BRANDAPI_PING is still set in the environment\.\nStored in /,
  );
});

test("logout removes the key and the base URL, and reports that it keeps the mirror", async () => {
  const brand = brandWithoutSettings();
  const mirror = join(brand.home, "mine.sqlite");
  const before = await brand.run(`logout --json --db ${mirror}`);
  expect(JSON.parse(before.out)).toEqual({ profile: "default", removed: false, mirror: null });
  expect(before.err).toBe("Nothing was stored for the profile `default`.\n");
  expect(existsSync(configOf(brand))).toBe(false);
  await brand.run(`login --base-url ${testBaseUrl}`, { stdin: brand.key });
  writeFileSync(mirror, "");
  const logout = await brand.run(`logout --db ${mirror}`);
  expect([logout.code, logout.out]).toEqual([0, ""]);
  expect(logout.err).toContain(`The mirror has been kept: ${mirror}`);
  expect(logout.err).not.toContain("BRANDAPI_KEY");
  expect(existsSync(mirror)).toBe(true);
  expect(JSON.parse(readFileSync(configOf(brand), "utf8"))).toEqual({ profiles: {} });
  expect(statSync(configOf(brand)).mode & 0o777).toBe(0o600);
});

test.each([
  ["only a key", "no settings", { key: "brk_x" }, []],
  ["only a base URL", "no settings", { baseUrl: testBaseUrl }, []],
  [
    "a key, a mirror and a ping URL",
    "only the mirror and the ping URL",
    { key: "brk_x", db: "a.sqlite", ping: "https://hc.example/x" },
    ["db", "ping"],
  ],
])("logout of a profile that contains %s leaves %s in the profile", async (_before, _after, stored, kept) => {
  const brand = brandWithoutSettings();
  storeProfiles(brand, { default: stored });
  const { out, err } = await brand.run("logout --json", { env: { BRANDAPI_KEY: "brk_other" } });
  expect(JSON.parse(out)).toMatchObject({ removed: true, mirror: null });
  expect(err).toContain("BRANDAPI_KEY is still set in the environment.");
  const { profiles } = JSON.parse(readFileSync(configOf(brand), "utf8"));
  expect(Object.keys(profiles.default ?? {})).toEqual(kept);
});

async function whoami(brand: TestBrand, key: string) {
  const env = { BRANDAPI_BASE_URL: testBaseUrl, BRANDAPI_KEY: key };
  return await brand.run("whoami", { env });
}

test("whoami warns about a key that expires in 3 days", async () => {
  const brand = brandWithoutSettings();
  const expiring = await whoami(brand, brand.secretOf("expiring"));
  expect([expiring.code, expiring.out]).toEqual([
    0,
    expect.stringMatching(/^expires +\d{4}-\d\d-\d\d \d\d:\d\d UTC \(2 days left\)$/m),
  ]);
  expect(expiring.err).toMatch(/warning: The key expires at .* \(2 days left\)\. Create a new key/);
});

test("whoami exits with code 4 for an expired key, and with code 5 for a blocked IP address", async () => {
  const brand = brandWithoutSettings();
  expect((await whoami(brand, brand.secretOf("expired"))).code).toBe(4);
  expect((await whoami(brand, brand.secretOf("ip-blocked"))).code).toBe(5);
});

test("whoami reports a wrong clock and a misspelled environment variable", async () => {
  const brand = makeBrand();
  const whoamiAt = async (skew: number) =>
    await brand.run("whoami", {
      clock: { ...brand.clock, now: () => brand.now() + skew },
      env: { BRANDAPI_PROFIL: "acme" },
    });
  const { code, err } = await whoamiAt(6 * minute);
  expect([code, err]).toEqual([0, expect.stringContaining("warning: This machine's clock is 6m ahead")]);
  expect(err).toContain("did you mean `BRANDAPI_PROFILE`?");
  expect((await whoamiAt(4 * minute)).err).not.toContain("clock");
});

test.each(["whoami", "login"])("%s gives up after 15 seconds if the API is unavailable", async (command) => {
  const brand = makeBrand();
  brand.before = () => ({ status: 503 });
  const start = brand.now();
  const { code } = await brand.run(command, { stdin: brand.key });
  expect([code, brand.now() - start < 20_000]).toEqual([6, true]);
});
