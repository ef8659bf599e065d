import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { spawnBrandapi } from "../support/process.js";
import { day, hour, memberOf, noon, ordersBefore } from "../support/records.js";

test("sync and status print separate hints for a missing scope and for a resource that the plan does not include", async () => {
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
])("the only resource options that sync %s accepts are: %s", async (resource, accepted) => {
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

test("sync --dry-run estimates no time for the requests of the first minute, which are sent in a burst", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 600, hour) });
  const estimate = async (limit: number) => {
    const { out } = await brand.run(`sync orders --dry-run --json --rate-limit ${limit}`);
    return JSON.parse(out) as { requests: number; minutes: number };
  };
  const { requests, minutes } = await estimate(60);
  expect([requests > 6, minutes]).toEqual([true, 0]);
  expect((await estimate(requests)).minutes).toBe(0);
  expect((await estimate(requests - 1)).minutes).toBe(1);
  expect((await estimate(1)).minutes).toBe(requests - 1);
});
