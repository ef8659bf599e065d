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
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";
import { sandboxForTest } from "../support/sandbox.js";

const storedBrand = {
  brandId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  brandName: expect.any(String),
  keyExpiresAt: expect.stringMatching(/^20\d\d-/),
};
const configOf = (home: string) => join(home, ".config/brandapi/config.json");

test("login --key-stdin checks the key and stores it so that only the owner can read it, and whoami then needs no flags", async () => {
  const sandbox = await sandboxForTest();
  const login = await brandapi(`login --base-url ${sandbox.baseUrl}/ --key-stdin`, {
    stdin: `${sandbox.key}\n`,
  });
  expect(login.err).toMatch(/Stored in .*config\.json\. Next: `brandapi sync`/);
  expect(login.code).toBe(0);
  expect(login.out).toContain("Fjell & Fern");
  const path = configOf(login.home);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    profiles: {
      default: { baseUrl: sandbox.baseUrl, key: sandbox.key, ...storedBrand, brandName: "Fjell & Fern" },
    },
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);

  const whoami = await brandapi("whoami --json", { home: login.home });
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
  const sandbox = await sandboxForTest();
  const { home } = await brandapi(`login --base-url ${sandbox.baseUrl} --key-stdin`, { stdin: sandbox.key });
  const env = { BRANDAPI_KEY: sandbox.secretOf("other-brand"), BRANDAPI_BASE_URL: sandbox.baseUrl };
  const refused = await brandapi("sync roster", { home, env });
  expect(refused.code).toBe(3);
  expect(refused.err).toMatch(
    /The profile belongs to another brand, Fjell & Fern \(.+\), but the key belongs to Basalt Cycling \(.+\)\./,
  );
  expect((await brandapi("status", { home })).out).not.toContain("roster");
  expect((await brandapi("sync roster --db other.sqlite", { home, env })).code).toBe(0);
  expect((await brandapi("sync roster", { home })).code).toBe(0);
});

test("if the config file is a link to a missing file, login creates the link's target", async () => {
  const sandbox = await sandboxForTest();
  const home = makeHome();
  const path = configOf(home);
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync("../../dotfiles/brandapi.json", path);
  const { code, err } = await brandapi(`login --base-url ${sandbox.baseUrl} --key-stdin`, {
    home,
    stdin: sandbox.key,
  });
  expect(code, err).toBe(0);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(statSync(join(home, "dotfiles/brandapi.json")).mode & 0o777).toBe(0o600);
  expect((await brandapi("whoami", { home })).code).toBe(0);
});

test("login --profile includes the profile in the command that it suggests", async () => {
  const sandbox = await sandboxForTest();
  const login = await brandapi(`login --profile second --base-url ${sandbox.baseUrl} --key-stdin`, {
    stdin: sandbox.key,
  });
  expect(login.err).toContain("Next: `brandapi sync --profile second`.");
});

test("login prompts for the base URL and the key, and never shows the key", async () => {
  const sandbox = await sandboxForTest();
  const stdin = `${sandbox.baseUrl}x\u007f\r${sandbox.key}\r`;
  const login = await brandapi("login", { tty: true, stdin });
  expect(login.code).toBe(0);
  expect(login.err).toContain(`Base URL (ends in /api/brand/v1): ${sandbox.baseUrl}x`);
  expect(login.err).toContain("API key for the profile `default` (not shown): \n");
  expect(login.err + login.out).not.toContain(sandbox.key);
  expect(login.raw.at(-1)).toBe(false);
});

test("login prompts again after an invalid base URL or an empty key", async () => {
  const sandbox = await sandboxForTest();
  const stdin = `${sandbox.baseUrl.replace(/v1$/, "v2")}\rplatform.example\r ${sandbox.baseUrl} \r\r${sandbox.key}\r`;
  const login = await brandapi("login", { tty: true, stdin });
  expect(login.code).toBe(0);
  expect(login.err).toContain("The base URL from the prompt does not end in /api/brand/v1: http");
  expect(login.err).toContain(
    "The base URL from the prompt does not start with https://.\n  hint: use an address",
  );
  expect(login.err.match(/^Base URL/gm)).toHaveLength(3);
  expect(login.err).toContain("The key from the prompt is empty.");
  expect(login.err).not.toContain(sandbox.key);
});

test("login uses BRANDAPI_BASE_URL without a prompt or a warning", async () => {
  const sandbox = await sandboxForTest();
  const env = { BRANDAPI_BASE_URL: `${sandbox.baseUrl}/`, BRANDAPI_KEY: sandbox.key };
  const login = await brandapi("login", { tty: true, stdin: `${sandbox.key}\r`, env });
  expect(login.code).toBe(0);
  expect(login.err).not.toContain("Base URL (");
  expect(login.err).not.toContain("warning");
});

test("login --omit replaces the list of omitted fields and prints the changes, and login without --omit keeps the list", async () => {
  const home = makeHome();
  const sandbox = await sandboxForTest();
  const login = async (words: string) => {
    const command = `login --base-url ${sandbox.baseUrl} ${words}`;
    const { code, err, out } = await brandapi(command, { home, stdin: sandbox.key });
    expect(code, err).toBe(0);
    return { err, out };
  };
  expect((await login("")).out).not.toContain("omits");
  const first = await login("--omit host.last_name,title");
  expect(first.err).toContain(
    "Omitted fields: host.last_name, title (added: host.last_name, title). The next sync rewrites",
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

test("login does not store a key that the API rejects", async () => {
  const sandbox = await sandboxForTest();
  for (const key of ["brk_unknown", sandbox.secretOf("expired"), sandbox.secretOf("revoked")]) {
    const login = await brandapi(`login --base-url ${sandbox.baseUrl}`, { stdin: key });
    expect(login.code).toBe(4);
    expect(existsSync(configOf(login.home))).toBe(false);
    expect(login.err + login.out).not.toContain(key);
  }
});

test("Ctrl-C at the key prompt exits with code 130 and restores the terminal", async () => {
  const sandbox = await sandboxForTest();
  const login = await brandapi(`login --base-url ${sandbox.baseUrl}`, { tty: true, stdin: "abc\u0003" });
  expect(login.code).toBe(130);
  expect(login.err).toContain("brandapi: Stopped.\n  hint: nothing has been changed\n");
  expect(login.raw.at(-1)).toBe(false);
  expect(existsSync(configOf(login.home))).toBe(false);
});

test("login preserves other profiles and unknown fields in the config file", async () => {
  const sandbox = await sandboxForTest();
  const first = await brandapi(`login --base-url ${sandbox.baseUrl}`, { stdin: sandbox.key });
  const path = configOf(first.home);
  const stored = JSON.parse(readFileSync(path, "utf8"));
  stored.profiles.default.color = "green";
  writeFileSync(path, JSON.stringify({ ...stored, theme: 1 }));
  const other = sandbox.secretOf("other-brand");
  const second = await brandapi(`login --profile basalt --base-url ${sandbox.baseUrl}`, {
    home: first.home,
    stdin: other,
  });
  expect(second.code).toBe(0);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    theme: 1,
    profiles: {
      default: { baseUrl: sandbox.baseUrl, key: sandbox.key, ...storedBrand, color: "green" },
      basalt: { baseUrl: sandbox.baseUrl, key: other, ...storedBrand, brandName: "Basalt Cycling" },
    },
  });
});

test("login reports a missing --base-url if there is no terminal", async () => {
  const login = await brandapi("login --key-stdin", { stdin: "brk_x" });
  expect(login.code).toBe(3);
  expect(login.err).toContain("--base-url");
});

test("login warns if environment variables override the values that it stores", async () => {
  const sandbox = await sandboxForTest();
  const env = { BRANDAPI_KEY: "brk_other", BRANDAPI_BASE_URL: sandbox.baseUrl };
  const login = await brandapi("login", { stdin: sandbox.key, env });
  expect(login.code).toBe(0);
  expect(login.err).toContain("BRANDAPI_KEY is set and overrides the stored value.");
});

test("login --profile stores BRANDAPI_BASE_URL, and --profile then overrides the environment", async () => {
  const home = makeHome();
  const sandbox = await sandboxForTest();
  const env = { BRANDAPI_BASE_URL: sandbox.baseUrl, BRANDAPI_KEY: "brk_other" };
  const login = await brandapi("login --profile acme", { home, env, stdin: sandbox.key });
  expect(login.code, login.err).toBe(0);
  expect(login.err).not.toContain("is set, and goes before");
  expect((await brandapi("whoami --profile acme", { home, env })).code).toBe(0);
  expect((await brandapi("whoami", { home, env })).code).toBe(4);
});

test("login --ping without other flags keeps the stored base URL and key", async () => {
  const home = makeHome();
  const sandbox = await sandboxForTest();
  await brandapi(`login --base-url ${sandbox.baseUrl}`, { home, stdin: sandbox.key });
  const env = { BRANDAPI_BASE_URL: "https://other.example/api/brand/v1", BRANDAPI_KEY: "brk_other" };
  const login = await brandapi("login --ping https://hc.example/x", { home, env });
  expect(login.code, login.err).toBe(0);
  expect(JSON.parse(readFileSync(configOf(home), "utf8")).profiles.default).toMatchObject({
    baseUrl: sandbox.baseUrl,
    key: sandbox.key,
    ping: "https://hc.example/x",
  });
});

test("logout removes the key and the base URL, and reports that it keeps the mirror", async () => {
  const home = makeHome();
  const sandbox = await sandboxForTest();
  await brandapi(`login --base-url ${sandbox.baseUrl}`, { home, stdin: sandbox.key });
  const mirror = join(home, "mine.sqlite");
  writeFileSync(mirror, "");
  const logout = await brandapi(`logout --db ${mirror}`, { home });
  expect(logout.code).toBe(0);
  expect(logout.err).toContain(`The mirror has been kept: ${mirror}`);
  expect(existsSync(mirror)).toBe(true);
  expect(JSON.parse(readFileSync(configOf(home), "utf8"))).toEqual({ profiles: {} });
  expect(statSync(configOf(home)).mode & 0o777).toBe(0o600);
  const again = await brandapi("logout --json", { home });
  expect(JSON.parse(again.out)).toEqual({ profile: "default", removed: false, mirror: null });
});

test("whoami warns about a key that expires in 3 days, and exits with different codes for rejected and blocked keys", async () => {
  const sandbox = await sandboxForTest();
  const whoami = (key: string, profile = "default") =>
    brandapi("whoami", {
      env: { BRANDAPI_BASE_URL: sandbox.baseUrl, BRANDAPI_KEY: key, BRANDAPI_PROFILE: profile },
    });
  const expiring = await whoami(sandbox.secretOf("expiring"));
  expect([expiring.code, expiring.out]).toEqual([
    0,
    expect.stringMatching(/^expires +\d{4}-\d\d-\d\d \d\d:\d\d UTC \(2 days left\)$/m),
  ]);
  expect(expiring.err).toMatch(/warning: The key expires at .* \(2 days left\): create a new key/);
  const acme = await whoami(sandbox.secretOf("expiring"), "acme");
  expect(acme.err).toContain("then run `brandapi login --profile acme`.");
  expect((await whoami(sandbox.secretOf("expired"))).code).toBe(4);
  expect((await whoami(sandbox.secretOf("ip-blocked"))).code).toBe(5);
});
