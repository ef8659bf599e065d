import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  daysUntil,
  formatDaysLeft,
  openApi,
  requestIdentity,
  warnBeforeExpiry,
} from "../../src/cli/api-session.js";
import { TerminalReporter } from "../../src/cli/progress.js";
import { readSettings } from "../../src/config/settings.js";
import type { Json } from "../../src/util/json-value.js";
import { makeBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { until } from "../support/process.js";
import { testDeps } from "../support/program.js";
import { day, hour, memberOf, minute, noon } from "../support/records.js";

/** Reads the identity from a response to `/me`. */
async function identityOf(data: Json, times: { requestedAt?: number; serverTime?: number | null } = {}) {
  const response = { data, requestedAt: noon, serverTime: noon, ...times };
  return await requestIdentity({ get: async () => response as never });
}

test("the brand and the API key are parsed from the /me response even if optional values are missing", async () => {
  expect(
    await identityOf({
      brand: { id: "b1", name: "Acme" },
      key: { id: "k1", scopes: ["roster:read", 7], expires_at: "2026-12-01T00:00:00Z" },
    }),
  ).toEqual({
    brand: { id: "b1", name: "Acme" },
    key: { id: "k1", scopes: ["roster:read"], expires_at: "2026-12-01T00:00:00Z" },
    clockWarning: null,
  });
  expect(await identityOf({ brand: { id: "b1" }, key: { id: 7, scopes: [] } })).toMatchObject({
    brand: { id: "b1", name: "" },
    key: { id: null, scopes: [], expires_at: null },
  });
});

test.each<[string, Json]>([
  ["no brand", { key: { scopes: [] } }],
  ["an empty brand ID", { brand: { id: "" }, key: { scopes: [] } }],
  ["a brand ID that is a number", { brand: { id: 7 }, key: { scopes: [] } }],
  ["no key", { brand: { id: "b1" } }],
  ["scopes that are not an array", { brand: { id: "b1" }, key: { scopes: "all" } }],
])("a /me response with %s is rejected", async (_, data) => {
  await expect(identityOf(data)).rejects.toMatchObject({ exitCode: 7 });
});

test.each([
  ["no warning", "5 minutes fast", 5 * minute, null],
  ["no warning", "5 minutes slow", -5 * minute, null],
  ["a warning", "6 minutes fast", 6 * minute, "This machine's clock is 6m ahead of the API's."],
  ["a warning", "6 minutes slow", -6 * minute, "This machine's clock is 6m behind the API's."],
])("the program prints %s if this machine's clock is %s", async (_, _clock, skew, clockWarning) => {
  const data = { brand: { id: "b1" }, key: { scopes: [] } };
  expect((await identityOf(data, { requestedAt: noon + skew })).clockWarning).toBe(clockWarning);
  expect((await identityOf(data, { requestedAt: noon + skew, serverTime: null })).clockWarning).toBeNull();
});

test.each([
  ["without an expiry time", "unknown", null, null],
  ['with the invalid expiry time "soon"', "unknown", "soon", null],
  ["that expires at 2026-11-24T12:00:00Z", "3 days left", "2026-11-24T12:00:00Z", 3],
  ["that expires at 2026-11-24T11:59:59Z", "2 days left", "2026-11-24T11:59:59Z", 2],
  ["that expires at 2026-11-21T12:00:00Z", "0 days left", "2026-11-21T12:00:00Z", 0],
  ["that expired at 2026-11-21T11:59:59Z", "expired", "2026-11-21T11:59:59Z", -1],
])(
  "at 2026-11-21T12:00:00Z, the remaining validity of a key %s is printed as %j",
  (_, text, expiresAt, days) => {
    expect(daysUntil(expiresAt, noon)).toBe(days);
    expect(formatDaysLeft(days)).toBe(text);
    const warnings: string[] = [];
    const settings = { keySource: "profile", passedFlags: {} } as const;
    warnBeforeExpiry(expiresAt, settings, noon, (warning) => warnings.push(warning));
    expect(warnings).toEqual(days === null ? [] : [expect.stringContaining(`(${text})`)]);
  },
);

test.each([
  ["whoami", "a warning", "14 days", 14 * day + hour, "(14 days left)"],
  ["whoami", "no warning", "15 days", 15 * day + hour, ""],
  ["sync roster --quiet", "a warning", "14 days", 14 * day + hour, "(14 days left)"],
])("%s prints %s if the key expires in %s", async (command, _, _age, ms, expected) => {
  const brand = makeBrand();
  brand.setKey({ expiresAt: brand.now() + ms });
  const { code, err } = await brand.run(command);
  expect([code, err]).toEqual([0, expected === "" ? "" : expect.stringContaining(expected)]);
});

test.each(["whoami", "sync roster --quiet"])(
  "the expiry warning of %s says how to replace a key from BRANDAPI_KEY, a key file or the profile",
  async (command) => {
    const brand = makeBrand({ createsMirror: true });
    brand.setKey({ expiresAt: brand.now() + day });
    writeFileSync(join(brand.home, "key.txt"), brand.key, { mode: 0o600 });
    const warned = async (words: string) => (await brand.run(words)).err;
    expect(await warned(command)).toMatch(/, then set BRANDAPI_KEY to the new key\.\n$/);
    const withKeyFile = await warned(`${command} --key-file key.txt`);
    expect(withKeyFile).toMatch(/, then replace the key in the file key\.txt\.\n$/);
    await brand.run("login --key-file key.txt");
    delete brand.env.BRANDAPI_KEY;
    expect(await warned(command)).toMatch(/, then run `brandapi login`\.\n$/);
  },
);

test.each(["sync orders", "verify orders", "sync", "verify"])(
  "if the key lacks a scope, the hint of `%s` and `status` says how to replace a key from BRANDAPI_KEY, a key file or the profile",
  async (command) => {
    const brand = makeBrand({ roster: [memberOf("r1")] });
    await brand.run("sync orders roster");
    brand.setKey({ scopes: ["roster:read"] });
    writeFileSync(join(brand.home, "key.txt"), brand.key, { mode: 0o600 });
    const hintOf = (err: string) => /hint: (create a key with that scope .*)\n/.exec(err)?.[1];
    const hints = async (words: string) => {
      const { err } = await brand.run(words);
      const status = await brand.run("status orders --max-age 26h");
      return [hintOf(err), hintOf(status.err)];
    };
    const both = (end: string) => Array(2).fill(expect.stringMatching(`[;,] then ${end}$`));
    expect(await hints(command)).toEqual(both("set BRANDAPI_KEY to the new key"));
    expect(await hints(`${command} --key-file key.txt`)).toEqual(both("replace the key in the file key.txt"));
    await brand.run("login --key-file key.txt");
    delete brand.env.BRANDAPI_KEY;
    expect(await hints(command)).toEqual(both("run `brandapi login`"));
  },
);

test("if the key has none of the required scopes, the hint of `sync` says how to replace the key", async () => {
  const brand = makeBrand();
  brand.setKey({ scopes: [] });
  expect((await brand.run("sync")).err).toMatch(/API\), then set BRANDAPI_KEY to the new key\n$/);
});

test("whoami prints the brand, the key and the settings, and prints nothing with --quiet", async () => {
  const brand = makeBrand({ name: "Acme" });
  brand.setKey({ expiresAt: brand.now() + 20 * day, scopes: [] });
  const lines = (await brand.run("whoami")).out.split("\n");
  expect(lines).toEqual([
    expect.stringMatching(/^brand {4}Acme \(\S+\)$/),
    expect.stringMatching(/^key {6}\S+$/),
    "scopes   none",
    "expires  2026-12-11 12:00 UTC (19 days left)",
    "API      https://brand.test/api/brand/v1",
    "profile  default",
    `mirror   ${brand.db}`,
    "",
  ]);
  expect((await brand.run("whoami --quiet")).out).toBe("");
  for (const flags of ["--json", "--json --quiet"])
    expect(JSON.parse((await brand.run(`whoami ${flags}`)).out)).toMatchObject({ key: { days_left: 19 } });
});

test("the hint for a rejected key names the source of the key", async () => {
  const brand = makeBrand();
  const { BRANDAPI_BASE_URL: baseUrl = "" } = brand.env;
  const key = "brk_rejected";
  const config = join(brand.home, "config.json");
  writeFileSync(config, JSON.stringify({ profiles: { acme: { baseUrl, key } } }), { mode: 0o600 });
  writeFileSync(join(brand.home, "key"), key, { mode: 0o600 });
  const hintFor = async (command: string, env: Record<string, string>, stdin = "") => {
    const run = await brand.run(command, {
      env: { BRANDAPI_KEY: "", BRANDAPI_CONFIG_DIR: brand.home, ...env },
      stdin,
    });
    expect(run.code).toBe(4);
    return run.err;
  };
  expect(await hintFor("whoami --profile acme", {})).toContain("to replace the key in the profile `acme`");
  expect(await hintFor("whoami", { BRANDAPI_KEY: key })).toContain(
    "check the key in the BRANDAPI_KEY variable for a typo",
  );
  expect(await hintFor("whoami --key-file key", {})).toContain("check the key in the file key for a typo");
  expect(await hintFor("login --key-stdin", {}, key)).toContain("hint: check the key for a typo");
});

test("the progress line estimates 4 minutes for 120 requests at a rate limit of 30 requests per minute", async () => {
  const { env } = makeBrand();
  const deps = testDeps({ tty: true, columns: 100, env: { ...env, BRANDAPI_RATE_LIMIT: "30" } });
  const reporter = new TerminalReporter(deps, {});
  (await openApi(readSettings({}, deps), deps, reporter)).close();
  reporter.begin({ name: "orders", total: 120 });
  await until(() => deps.stderr.text.includes("120 left, 4m"));
  reporter.close();
});

test("--verbose prints each request, retry and wait", async () => {
  const brand = makeBrand();
  const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "25" };
  const faults: Fault[] = ["reset", { status: 503, headers }];
  brand.before = () => faults.shift();
  const { err } = await brand.run("sync roster --verbose", { env: { BRANDAPI_RATE_LIMIT: "3" } });
  const lines = err.split("\n").map((line) => line.replace(/\d+ ms/, "N ms"));
  expect(lines).toEqual(
    expect.arrayContaining([
      "GET /me: no response, N ms",
      expect.stringMatching(/^\/me: .*; retry 1 in N ms$/),
      "waiting N ms: the API asked the program to wait",
      "GET /me: 200, N ms",
      "waiting N ms: rate limit of 3 requests per minute",
    ]),
  );
  expect(err).toMatch(/^waiting 2\ds: the API asked the program to wait$/m);
  brand.before = undefined;
  brand.once(
    ({ path }) => path === "/me",
    () => ({ status: 429, headers: { "retry-after": "3" } }),
  );
  expect((await brand.run("whoami")).err).toMatch(/^waiting 3s: HTTP 429/);
});
