import { describe, expect, test } from "vitest";
import { resources } from "../../src/resources/registry.js";
import { counts, makeBrand, readsOrders, type SentRequest, type TestBrand } from "../support/brand.js";
import { day, memberOf, minute, noon, openRecord, ordersBefore } from "../support/records.js";

const everything = resources.map(({ name }) => name);
const lists = () => ({
  orders: ordersBefore(noon - day, 250, day),
  roster: [memberOf("r1"), memberOf("r2")],
  gifts: [openRecord("g1")],
});

interface Line {
  resource: string;
  outcome: string;
  [member: string]: unknown;
}

/** Runs `sync --json` and returns the printed objects. If the sync fails, the last object is the error. */
async function synced(brand: TestBrand, command = "sync", options: Parameters<TestBrand["run"]>[1] = {}) {
  const ran = await brand.run(`${command} --json`, options);
  const lines = ran.out
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  const outcomes = Object.fromEntries(
    lines.flatMap((line) => (line.resource ? [[line.resource, line.outcome]] : [])),
  );
  return { ...ran, lines, outcomes };
}

const scopesBut = (...without: string[]) =>
  resources.map(({ scope }) => scope).filter((scope) => !without.includes(scope));
const asks = (path: string) => (request: SentRequest) => request.path === path;

describe("a sync of several resources", () => {
  test("sync --json prints one object per resource, smallest resources first", async () => {
    const brand = makeBrand(lists());
    const { code, lines } = await synced(brand);
    expect(code).toBe(0);
    expect(lines.map(({ resource }) => resource).slice(-2)).toEqual(["content", "orders"]);
    expect(lines.map(({ resource }) => resource).sort()).toEqual([...everything].sort());
    const rows = brand.sql<Line>("SELECT * FROM sync_runs ORDER BY run_id");
    const last = lines.at(-1);
    expect(last).toEqual({ ...rows.at(-1), verified: true });
    expect(last).toMatchObject({ rows_read: 250, rows_new: 250, retries: 0, outcome: "done", error: null });
    // The runs' request counts include every request except the one to `/me`.
    const counted = rows.reduce((sum, row) => sum + Number(row.requests), 0);
    expect(counted).toBe(brand.requests.length - 1);
  });

  test("if one resource fails, sync reads the other resources and exits with code 8", async () => {
    const brand = makeBrand(lists());
    brand.before = (request) =>
      asks("/roster")(request) ? { body: '{"success":true,"data":7}' } : undefined;
    const { code, err, outcomes } = await synced(brand);
    expect([code, outcomes.roster, outcomes.orders]).toEqual([8, "failed", "done"]);
    expect(err).toContain(`1 of ${everything.length} resources failed: roster:`);
    expect((await brand.run("sync roster")).code).toBe(7);
  });

  test("sync warns about values with unexpected types", async () => {
    const [order] = lists().orders;
    const brand = makeBrand({ orders: [{ ...order, currency: 7 } as never] });
    expect((await brand.run("sync orders")).err).toContain("warning: orders: unexpected types in 1 record:");
  });

  test("sync records the number of retries", async () => {
    const brand = makeBrand(lists());
    brand.once(readsOrders, () => "reset");
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(brand.lastRun()).toMatchObject({ retries: 1, verified: 1 });
  });

  test("sync records successful and failed runs", async () => {
    const brand = makeBrand(lists());
    const stopped = await brand.stopped("sync orders --json", readsOrders);
    expect(stopped.code).toBe(130);
    expect(JSON.parse(stopped.out.split("\n")[0] ?? "")).toMatchObject({
      outcome: "stopped",
      verified: false,
    });
    await brand.killed("sync orders", readsOrders);
    await brand.run("sync orders");
    expect(brand.sql("SELECT outcome, error FROM sync_runs ORDER BY run_id")).toEqual([
      { outcome: "stopped", error: expect.any(String) },
      { outcome: "stopped", error: "killed" },
      { outcome: "done", error: null },
    ]);
  });
});

describe("denied access", () => {
  test("sync skips a resource if the API key lacks the required scope, unless the resource is named", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ scopes: scopesBut("roster:read") });
    const { requests, code, err, lines, outcomes } = await synced(brand);
    expect([code, outcomes.roster, outcomes.orders]).toEqual([0, "skipped", "done"]);
    expect(lines.map(({ finished_at }) => finished_at)).not.toContain(null);
    expect(requests.filter(asks("/roster"))).toEqual([]);
    expect(err).toContain("roster: skipped: the key lacks the scope roster:read");
    expect((await synced(brand, "sync roster orders")).code).toBe(8);
    expect((await brand.run("sync roster")).code).toBe(5);
  });

  test("sync skips a resource that the brand's plan does not include, unless the resource is named", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ hasAnalyticsPlan: false });
    const { code, outcomes } = await synced(brand);
    expect([code, outcomes.roster, outcomes.orders, outcomes["analytics-hosts"]]).toEqual([
      0,
      "done",
      "skipped",
      "skipped",
    ]);
    expect((await brand.run("sync orders")).code).toBe(5);
  });

  test("sync fails if neither the API key nor the plan allows access to any resource", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ scopes: [] });
    expect((await brand.run("sync")).code).toBe(5);
    brand.setKey({ scopes: ["analytics:read"], hasAnalyticsPlan: false });
    expect((await brand.run("sync")).code).toBe(5);
  });

  describe.each([
    [
      "a missing scope",
      { scopes: scopesBut("analytics:read") },
      { scopes: scopesBut() },
      "the key lacks the scope analytics:read",
    ],
    ["a plan change", { hasAnalyticsPlan: false }, { hasAnalyticsPlan: true }, "(402)"],
  ])("access lost because of %s", (_, loss, regain, reason) => {
    const ofAnalytics = ["orders", "analytics-clicks", "analytics-hosts"];

    test("if the API denies access to a resource that was read before, sync reads the other resources and exits with code 8", async () => {
      const brand = makeBrand(lists());
      await brand.run("sync");
      brand.setKey(loss);
      const quiet = await brand.run("sync --quiet");
      expect(quiet.code).toBe(8);
      expect(quiet.err).toMatch(/read before, but access to (?:it|them) is now denied: /);
      for (const name of ofAnalytics) expect(quiet.err).toMatch(new RegExp(`[ /]${name}\\b`));
      expect(quiet.err).toContain(reason);
      expect(quiet.err).not.toContain("run the same command again");
      const { code, lines, outcomes } = await synced(brand);
      expect([code, outcomes.roster, outcomes.content]).toEqual([8, "done", "done"]);
      for (const name of ofAnalytics) {
        expect(lines.filter(({ resource }) => resource === name)).toHaveLength(1);
        expect(brand.lastRun(name)).toMatchObject({ outcome: "incomplete", verified: 0 });
      }
    });

    test("if the API denies access to a resource, status --max-age reports the resource as stale until it is re-read", async () => {
      const brand = makeBrand(lists());
      await brand.run("sync");
      brand.setKey(loss);
      await brand.run("sync");
      const stale = await brand.run("status --max-age 26h --json");
      expect(stale.code).toBe(10);
      const [health] = stale.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(health.stale.toSorted()).toEqual(ofAnalytics.toSorted());
      const quiet = await brand.run("status orders --max-age 26h --quiet");
      expect([quiet.code, quiet.out]).toEqual([10, ""]);
      expect(quiet.err).toMatch(/^brandapi: Refused on 2026-[^\n]*\n {2}hint: /);
      expect(quiet.err).toContain(reason);
      expect((await brand.run("status")).out).toMatch(/^! orders: refused on 2026-/m);
      expect((await brand.run("status roster --max-age 26h")).code).toBe(0);
      await brand.run("verify");
      expect((await brand.run("status --max-age 26h")).code).toBe(10);
      brand.setKey(regain);
      await brand.run("sync");
      expect((await brand.run("status --max-age 26h")).code).toBe(0);
    });

    test("if the API has denied access to a resource and a later run has failed, status prints both errors", async () => {
      const brand = makeBrand(lists());
      await brand.run("sync");
      brand.setKey(loss);
      await brand.run("sync");
      expect((await brand.run("status")).out).not.toMatch(/^! orders: the last run/m);
      brand.before = ({ path }) => (path === "/orders" ? { status: 503 } : undefined);
      await brand.run("sync orders --max-wait 1s");
      const { out } = await brand.run("status");
      expect(out).toMatch(/^! orders: refused on 2026-/m);
      expect(out).toMatch(/^! orders: the last run failed: The API is unavailable: HTTP 503/m);
    });

    test("verify fails if the API denies access to a resource that was read before", async () => {
      const brand = makeBrand(lists());
      await brand.run("sync");
      brand.setKey(loss);
      const { code, err } = await brand.run("verify");
      expect([code, err]).toEqual([8, expect.stringMatching(/orders w.* read before, but /)]);
    });

    test("a sync of a single resource exits with code 8 if the API granted access before but now denies it", async () => {
      const brand = makeBrand(lists());
      await brand.run("sync");
      brand.setKey(loss);
      const { code, err } = await brand.run("sync orders");
      expect([code, err]).toEqual([8, expect.stringMatching(/orders w.* read before, but /)]);
      expect((await brand.run("status --max-age 26h")).code).toBe(10);
    });
  });

  test("status --max-age ignores a resource to which access was never granted, even if an earlier sync command named that resource", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ scopes: scopesBut("roster:read") });
    await brand.run("sync");
    expect((await brand.run("sync roster")).code).toBe(5);
    expect((await brand.run("status --max-age 26h")).code).toBe(0);
    const named = await brand.run("status roster --max-age 26h");
    expect([named.code, named.err]).toEqual([10, expect.stringContaining("Never synced: roster.")]);
  });

  test("sync exits with code 8 if the API key has lost all scopes, and status reports all resources as stale", async () => {
    const brand = makeBrand(lists());
    await brand.run("sync");
    brand.setKey({ scopes: [] });
    expect((await brand.run("sync")).code).toBe(8);
    expect((await brand.run("status roster --max-age 26h")).code).toBe(10);
  });

  test.each([
    ["before the sync", (brand: TestBrand) => brand.setKey({ revoked: true })],
    [
      "in the middle of the sync",
      (brand: TestBrand) => brand.once(asks("/content"), () => void brand.setKey({ revoked: true })),
    ],
  ])("status --max-age reports stale data if the API rejected the key %s", async (_, revoke) => {
    const brand = makeBrand(lists());
    await brand.run("sync");
    revoke(brand);
    expect((await brand.run("sync")).code).toBe(4);
    const { code, err } = await brand.run("status --max-age 26h --quiet");
    expect([code, err]).toEqual([
      10,
      expect.stringMatching(
        /^brandapi: The last sync, 2026-.*, failed: The API rejected the key \(401\).*\n {2}hint: check the key in the BRANDAPI_KEY variable/m,
      ),
    ]);
    brand.setKey({ revoked: false });
    await brand.run("sync");
    expect((await brand.run("status --max-age 26h")).code).toBe(0);
  });

  test("if the API denies access to a resource in the middle of a run, a later sync continues from that point", async () => {
    const brand = makeBrand(lists());
    let page = 0;
    const isThird = (request: SentRequest) => readsOrders(request) && ++page === 3;
    brand.once(isThird, () => void brand.setKey({ hasAnalyticsPlan: false }));
    const { code, outcomes } = await synced(brand);
    expect([code, outcomes.orders, outcomes.roster]).toEqual([8, "incomplete", "done"]);
    brand.setKey({ hasAnalyticsPlan: true });
    expect((await synced(brand)).outcomes.orders).toBe("done");
    expect([brand.mirrored().length, brand.lastRun().verified]).toEqual([250, 1]);
  });
});

describe("outages and rejected keys", () => {
  test("if the API stops responding, sync waits only once, and then lists the skipped resources", async () => {
    const brand = makeBrand(lists());
    brand.once(asks("/gifts"), () => {
      brand.before = () => ({ status: 503 });
      return { status: 503 };
    });
    const began = brand.now();
    const { code, err, lines } = await synced(brand, "sync --max-wait 2m");
    expect(code).toBe(8);
    // The sync tries the second resource for a tenth of --max-wait, in case only the first endpoint is down.
    expect(brand.now() - began).toBeLessThan(2.5 * minute);
    expect(lines.filter(({ outcome }) => outcome === "failed")).toHaveLength(2);
    const [, skipped = ""] = /Skipped because the API is down: (.*?)\./.exec(err) ?? [];
    const unread = everything.filter((name) => !lines.some(({ resource }) => resource === name));
    expect(skipped.split(", ").toSorted()).toEqual(unread.toSorted());
    expect(unread).toContain("orders");
    brand.pass(day);
    expect((await synced(brand, "sync --max-wait 1m")).code).toBe(6);
  });

  test("sync reads the other resources if one endpoint is down", async () => {
    const brand = makeBrand(lists());
    brand.before = (request) => (asks("/gifts")(request) ? { status: 500 } : undefined);
    const { code, outcomes } = await synced(brand, "sync --max-wait 30s");
    expect([code, outcomes.gifts, outcomes.orders]).toEqual([8, "failed", "done"]);
  });

  test("if several endpoints are down but /me is not, sync reads the other resources, and retries each endpoint after the first for only a tenth of --max-wait", async () => {
    const brand = makeBrand(lists());
    brand.before = ({ path }) => (path.startsWith("/analytics/") ? { status: 503 } : undefined);
    const { code, err, outcomes } = await synced(brand, "sync --max-wait 2m");
    expect([code, err]).toEqual([8, expect.not.stringContaining("Skipped")]);
    const failed = Object.entries(outcomes).flatMap(([name, outcome]) => (outcome === "failed" ? name : []));
    expect(failed).toEqual(["analytics-clicks", "analytics-hosts"]);
    expect(Object.keys(outcomes).toSorted()).toEqual(everything.toSorted());
    const began = brand.now();
    brand.before = ({ path }) => (path === "/me" ? undefined : { status: 503 });
    expect((await synced(brand, "sync --max-wait 2m")).code).toBe(6);
    expect(brand.now() - began).toBeLessThan(2 * 2 * minute + 10 * 1_000);
  });

  test("sync exits with code 4 if the API key is revoked during the run, and keeps the records that it read", async () => {
    const brand = makeBrand(lists());
    brand.once(asks("/content"), () => void brand.setKey({ revoked: true }));
    const { code, outcomes } = await synced(brand);
    expect([code, outcomes.content, outcomes.orders]).toEqual([4, "failed", undefined]);
    expect(brand.mirrored("roster")).toEqual(["r1", "r2"]);
  });
});

test("sync --all-profiles continues after a failure, and exits with the worst exit code", async () => {
  const one = makeBrand(lists());
  const two = makeBrand({ sameApiAs: one, seed: 2, roster: [memberOf("x1")] });
  for (const [name, brand] of [
    ["one", one],
    ["two", two],
  ] as const)
    expect(
      (
        await brand.run(`login --profile ${name} --key-stdin`, {
          stdin: `${brand.key}\n`,
          env: { BRANDAPI_KEY: "", BRANDAPI_DB: "" },
        })
      ).code,
    ).toBe(0);
  const env = { BRANDAPI_KEY: "", BRANDAPI_DB: "", BRANDAPI_BASE_URL: "" };
  const good = await synced(one, "sync roster --all-profiles", { env });
  expect([good.code, good.lines.map(({ profile, rows_new }) => [profile, rows_new])]).toEqual([
    0,
    [
      ["one", 2],
      ["two", 1],
    ],
  ]);
  one.setKey({ scopes: [] });
  const lost = await one.run("sync --all-profiles --quiet", { env });
  expect([lost.code, lost.err]).toEqual([8, expect.stringContaining("one: roster was read before")]);
  expect((await one.run("status --all-profiles --max-age 26h", { env })).code).toBe(10);
  one.setKey({ scopes: scopesBut() });
  await one.run("sync --all-profiles", { env });
  expect((await one.run("status roster --all-profiles --max-age 26h", { env })).code).toBe(0);
  one.setKey({ revoked: true });
  const bad = await synced(one, "sync roster --all-profiles", { env });
  expect(bad.code).toBe(4);
  expect(bad.lines.find(({ profile, outcome }) => profile === "two" && outcome)).toMatchObject({
    outcome: "done",
  });
  two.setKey({ scopes: [] });
  expect((await one.run("sync --all-profiles --quiet", { env })).code).toBe(4);
});

describe("a sync with --until", () => {
  const success = async (brand: TestBrand) =>
    JSON.parse((await brand.run("status orders --json")).out).resources[0].last_success_at;

  test("if sync --until has nothing to read, status does not report that run as the last successful sync", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - day, 50, day) });
    await brand.run("sync orders");
    const before = await success(brand);
    brand.pass(60 * day);
    expect((await brand.run("sync orders --until 2025-01-01")).code).toBe(0);
    expect(brand.lastRun()).toMatchObject({ outcome: "done", until: "2025-01-01T23:59:59.999Z" });
    expect(await success(brand)).toBe(before);
  });

  test("if sync --until resumes an interrupted run that has already read all dates, status does not report the resuming run as the last successful sync", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - day, 50, day) });
    await brand.stopped("sync orders --until 2025-01-01", counts);
    brand.pass(minute);
    expect((await brand.run("sync orders --until 2025-01-01")).code).toBe(0);
    expect(await success(brand)).toBeNull();
    const covered = "SELECT to_at FROM run_coverage WHERE run_id = ?";
    expect(brand.sql(covered, brand.lastRun().run_id)).toEqual([{ to_at: "2025-01-01T23:59:59.999Z" }]);
  });

  test.each([
    ["orders", "sync orders --until 2026-11-01", "sync orders"],
    ["opportunities", "sync opportunities --details none", "sync opportunities"],
  ])(
    "if no sync has read all %s, status shows the last successful sync as partial, and status --max-age exits with code 10",
    async (resource, partialSync, fullSync) => {
      const brand = makeBrand({ history: 50 });
      const status = async () => {
        const { code, out } = await brand.run(`status ${resource} --max-age 26h`);
        return { code, out };
      };
      await brand.run(partialSync);
      expect(await status()).toEqual({
        code: 10,
        out: expect.stringMatching(/ 2026-11-21 12:00 \(partial\)$/m),
      });
      await brand.run(fullSync);
      brand.pass(2 * 60 * minute);
      await brand.run(partialSync);
      expect(await status()).toEqual({ code: 0, out: expect.stringMatching(/ 2026-11-21 12:00 +2h$/m) });
    },
  );
});
