import { expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { hour, minute, noon, ordersBefore } from "../support/records.js";

/** Two profiles with stored keys. The environment is empty. */
async function twoBrands(): Promise<{ acme: TestBrand; basalt: TestBrand; run: TestBrand["run"] }> {
  const acme = makeBrand({ orders: ordersBefore(noon - hour, 120, hour), rateLimit: 60 });
  const basalt = makeBrand({ sameApiAs: acme, seed: 2, orders: ordersBefore(noon - hour, 7, hour) });
  basalt.data.id = "b0000000-0000-4000-8000-000000000002";
  basalt.data.name = "Basalt Cycling";
  const none = {
    BRANDAPI_BASE_URL: undefined,
    BRANDAPI_KEY: undefined,
    BRANDAPI_DB: undefined,
    BRANDAPI_RATE_LIMIT: undefined,
  };
  const run: TestBrand["run"] = (command, options) => acme.run(command, { ...options, env: none });
  for (const [name, { key }] of Object.entries({ acme, basalt })) {
    const words = [
      "login",
      "--profile",
      name,
      "--base-url",
      String(acme.env.BRANDAPI_BASE_URL),
      "--key-stdin",
    ];
    const { code, err } = await run(words, { stdin: key });
    expect(code, err).toBe(0);
  }
  return { acme, basalt, run };
}

test("sync --all-profiles syncs every brand into a separate mirror under a shared rate limit", async () => {
  const { acme, run } = await twoBrands();
  const { code, out, err, requests } = await run("sync --all-profiles --json");
  expect(code, err).toBe(0);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rows = lines
    .filter(({ resource }) => resource === "orders")
    .map((one) => [one.profile, one.rows_new]);
  expect(Object.fromEntries(rows)).toEqual({ acme: 120, basalt: 7 });
  expect(requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(acme.now() - noon).toBeLessThan(3 * minute);
  const { out: profiles } = await run("profiles");
  expect(profiles).toMatch(/acme +Fjell & Fern/);
  expect(profiles).toMatch(/basalt +Basalt Cycling/);
});

test("if one brand fails, sync --all-profiles continues with the others and exits with the code of the worst failure", async () => {
  const { basalt, acme, run } = await twoBrands();
  basalt.setKey({ revoked: true });
  const { code, err } = await run("sync orders --all-profiles");
  expect(code).toBe(4);
  expect(err).toMatch(/basalt.*rejected the key \(401\)/s);
  expect(err).toContain("120 new");
  acme.pass(48 * hour);
  expect((await run("status --all-profiles --max-age 26h")).code).toBe(10);
});
