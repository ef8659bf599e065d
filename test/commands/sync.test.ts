import { expect, test } from "vitest";
import { makeBrand, testBaseUrl } from "../support/brand.js";
import { spawnBrandapi } from "../support/process.js";
import { day, hour, memberOf, noon, ordersBefore } from "../support/records.js";

test("sync and status print different hints for a missing scope and for a resource that the plan does not include", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 5, hour), roster: [memberOf("r1")] });
  expect((await brand.run("sync orders roster content")).code).toBe(0);
  brand.setKey({ hasAnalyticsPlan: false, scopes: ["orders:read", "analytics:read", "content:read"] });
  brand.pass(day);
  const { code, err } = await brand.run("sync");
  expect(code).toBe(8);
  const status = await brand.run("status --max-age 26h");
  expect(status.code).toBe(10);
  for (const text of [err, status.err]) {
    const hint = /hint: (.*)/.exec(text)?.[1];
    expect(hint).toContain("check the brand's plan");
    expect(hint).toContain("create a key with that scope");
  }
});

test.each([
  ["orders", "--since --until --window --audit"],
  ["analytics-clicks", "--since --until --window --group-by --host --per-host"],
  ["opportunities", "--details"],
  ["roster", "none"],
  ["analytics-hosts", "none"],
])("of the options that apply only to some resources, sync %s accepts %s", async (resource, accepted) => {
  const flags = {
    "--since": "2026-10-01",
    "--until": "2026-10-31",
    "--window": "5d",
    "--audit": "1",
    "--details": "all",
    "--group-by": "day",
    "--host": "3f0c9a52-1b7e-4c0d-9f3a-6a2d1e5b8c47",
    "--per-host": null,
  };
  const brand = makeBrand();
  const refused: string[] = [];
  for (const [flag, value] of Object.entries(flags)) {
    const words = ["sync", resource, "--dry-run", flag, ...(value === null ? [] : [value])];
    if ((await brand.run(words)).code === 2) refused.push(flag);
  }
  expect(refused).toEqual(Object.keys(flags).filter((flag) => !accepted.split(" ").includes(flag)));
});

test("sync reads the key file only once, so that it can be a pipe", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 3, day) });
  const { BRANDAPI_KEY: key = "", ...env } = await brand.served();
  const { code, err } = await spawnBrandapi(["sync", "orders", "--key-file", "/dev/stdin"], {
    env: { ...env, KEY: key },
    home: brand.home,
    node: ["sh", "-c", 'printf %s "$KEY" | "$0" "$@"', process.execPath],
  }).ended;
  expect(code, err).toBe(0);
});

test.each([
  ["sync orders", 100, "from 2026-10-22T12:00, and older orders in the audit", "2026-10-22T12:00"],
  ["sync orders --audit 0", 30, "from 2026-10-22T12:00", "2026-10-22T12:00"],
  [
    "sync orders --window 5d",
    100,
    "from 2026-11-16T12:00, and older orders in the audit",
    "2026-11-16T12:00",
  ],
  ["sync orders --window 5d --audit 0", 5, "from 2026-11-16T12:00", "2026-11-16T12:00"],
  [
    "sync orders --since 2026-11-01 --until 2026-11-05 --audit 0",
    5,
    "from 2026-11-01 to 2026-11-05",
    "2026-11-01T00:00",
  ],
  ["sync orders --full --audit 0", 100, "from all dates", undefined],
])(
  "if there are 100 orders, one per day, a second `%s` re-reads %i orders: those %s",
  async (command, rows, _range, start) => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 100, day) });
    await brand.run("sync orders");
    brand.pass(day);
    expect((await brand.run(command)).code).toBe(0);
    const { since, rows_read } = brand.lastRun();
    expect(since === null ? undefined : String(since).slice(0, 16)).toBe(start);
    expect(rows_read).toBe(rows);
  },
);

const hostId = "3f0c9a52-1b7e-4c0d-9f3a-6a2d1e5b8c47";

test.each([
  ["without options", "day", "all hosts together", "", undefined],
  ["--group-by week", "week", "all hosts together", "--group-by week", undefined],
  [
    "--group-by month with two --host options",
    "month",
    "each of the two hosts",
    `--group-by month --host ${hostId} --host ${hostId.replace("3", "4")}`,
    hostId,
  ],
  ["--per-host", "day", "each host", "--per-host", hostId],
])("sync analytics-clicks %s requests clicks by %s for %s", async (_, bucket, _hosts, flags, host) => {
  const roster = [memberOf("r1", { host: { id: hostId } })];
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 5, day), roster });
  await brand.run("sync roster");
  const { code, requests } = await brand.run(`sync analytics-clicks ${flags}`);
  expect(code).toBe(0);
  const reads = requests.filter(({ path, query }) => path === "/analytics/clicks" && query.limit === "100");
  expect(new Set(reads.map(({ query }) => query.group_by))).toEqual(new Set([bucket]));
  expect(reads.some(({ query }) => query.host_id === host)).toBe(true);
});

test("sync rejects a --host that is not a UUID", async () => {
  const brand = makeBrand();
  for (const host of ["ada", `${hostId}0`, `x${hostId}`]) {
    const { code, err } = await brand.run(`sync analytics-clicks --host ${host}`);
    expect([code, err]).toEqual([2, expect.stringContaining(`Not a host ID: \`${host}\`.`)]);
  }
  expect((await brand.run(`sync analytics-clicks --host ${hostId.toUpperCase()}`)).code).toBe(0);
});

test("sync rejects --full together with --since, and --per-host together with --host", async () => {
  const brand = makeBrand();
  expect((await brand.run("sync orders --full --since 2026-01-01")).code).toBe(2);
  expect((await brand.run(`sync analytics-clicks --per-host --host ${hostId}`)).code).toBe(2);
});

test.each([
  ["sync opportunities", 4],
  ["sync opportunities --details changed", 4],
  ["sync opportunities --details all", 5],
  ["sync opportunities --details none", 0],
  ["sync opportunities --full", 5],
  ["sync opportunities --full --details none", 0],
])(
  "if there are five opportunities, one of which has ended, a second `%s` re-reads the details of %i of them",
  async (command, count) => {
    const brand = makeBrand({ history: 10, listLimit: 5 });
    const countDetails = async (command: string) => {
      const { requests } = await brand.run(command);
      return requests.filter(({ path }) => /^\/opportunities\/./.test(path)).length;
    };
    expect(await countDetails("sync opportunities")).toBe(5);
    expect(await countDetails(command)).toBe(count);
  },
);

test("if most records of a resource are missing from the API, sync removes them from the mirror only with --accept-removals", async () => {
  const brand = makeBrand({ roster: Array.from({ length: 30 }, (_, n) => memberOf(`r${n}`)) });
  await brand.run("sync roster");
  brand.data.roster = brand.data.roster.slice(0, 2);
  expect([(await brand.run("sync roster")).code, brand.mirrored("roster").length]).toEqual([8, 30]);
  expect((await brand.run("sync roster --accept-removals")).code).toBe(0);
  expect(brand.mirrored("roster")).toHaveLength(2);
});

test("sync --dry-run prints the steps, the skipped resources, and the estimated time", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 100, day), roster: [memberOf("r1")] });
  const plan = await brand.run("sync orders roster --dry-run --rate-limit 2");
  expect(plan.out).toBe(
    "roster: the whole list: 1 record (1 request)\n" +
      "orders: everything until 2026-11-21 11:59: 100 records (1 request)\n" +
      "orders: verification: daily totals and counts (5 requests or more)\n" +
      "At least 7 requests in total, about 3 minutes at the rate limit. Nothing was written.\n",
  );
  const json = JSON.parse((await brand.run("sync orders --dry-run --json --rate-limit none")).out);
  expect(json).toMatchObject({
    resources: [{ resource: "orders", requests: 6 }],
    requests: 6,
    minutes: null,
    skipped: [],
  });
  brand.setKey({ scopes: ["orders:read", "analytics:read", "roster:read"], hasAnalyticsPlan: false });
  const { code, out } = await brand.run("sync --dry-run");
  expect(code).toBe(0);
  expect(out).toContain("\ncontent: skipped: the key lacks the scope content:read\n");
  expect(out).toContain("\norders: skipped: The brand's plan does not include /orders");
  expect(out).toContain("\nAt least 1 request in total. Nothing was written.\n");
  expect((await brand.run("sync orders --dry-run")).code).toBe(5);
});

test("sync fails if the key has no scopes and, with --json, prints a line of JSON for each resource", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  brand.setKey({ scopes: [] });
  const none = await brand.run("sync");
  expect([none.code, none.err]).toEqual([5, expect.stringContaining("The key has none of the scopes")]);
  brand.setKey({ scopes: ["roster:read"] });
  expect((await brand.run("sync")).code).toBe(0);
  const { out } = await brand.run("sync roster --json");
  expect(JSON.parse(out)).toMatchObject({ resource: "roster", rows_read: 1 });
  brand.setKey({ scopes: [] });
  const lost = await brand.run("sync");
  expect([lost.code, lost.err]).toEqual([8, expect.stringContaining("roster was read before")]);
});

test("--ping overrides BRANDAPI_PING, which overrides the profile's ping URL, but sync --all-profiles pings both the URL from --ping and the profile's URL", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  await brand.run("login --ping https://hc.example/profile", { stdin: brand.key });
  const ping = async (command: string, variable = "") => {
    const pings: string[] = [];
    const { code, err } = await brand.run(command, {
      env: { BRANDAPI_PING: variable },
      fetch: async (url, options) => {
        if (String(url).startsWith(testBaseUrl)) return await brand.fetch(url, options);
        pings.push(String(url).replace("https://hc.example/", ""));
        return await brand.fetch(`${testBaseUrl}/me`, {
          ...options,
          headers: { authorization: `Bearer ${brand.key}` },
        });
      },
    });
    expect(code, err).toBe(0);
    return pings;
  };
  expect(await ping("sync roster")).toEqual(["profile/start", "profile"]);
  expect(await ping("sync roster", "https://hc.example/variable")).toEqual(["variable/start", "variable"]);
  const flag = "sync roster --ping https://hc.example/flag";
  expect(await ping(flag, "https://hc.example/variable")).toEqual(["flag/start", "flag"]);
  expect(await ping(`${flag} --all-profiles`)).toEqual(["flag/start", "profile/start", "profile", "flag"]);
  expect(await ping(`${flag} --dry-run`)).toEqual([]);
  for (const command of ["sync roster --dry-run", "sync roster"]) {
    const { out } = await brand.run(`${command} --all-profiles --json`, { fetch: brand.fetch });
    expect(JSON.parse(out)).toMatchObject({ profile: "default" });
  }
});
