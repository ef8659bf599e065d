import { describe, expect, test } from "vitest";
import { type Asked, makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import { day, memberOf, minute, noon, openRecord, ordersBefore } from "../support/records.js";

const everything = [
  "roster",
  "recommendations",
  "opportunities",
  "analytics-clicks",
  "analytics-hosts",
  "gifts",
  "codes",
  "surveys",
  "content",
  "orders",
];
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

/** Runs a sync with `--json`, and returns its lines; the last one is the error, if there is one. */
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
  everything
    .map((name) => (/^(orders|analytics)/.test(name) ? "analytics:read" : `${name}:read`))
    .filter((scope) => !without.includes(scope));
const asks = (path: string) => (request: Asked) => request.path === path;

describe("several resources", () => {
  test("small ones first, then content and orders; one object per run, as in `sync_runs`", async () => {
    const brand = makeBrand(lists());
    const { code, lines } = await synced(brand);
    expect(code).toBe(0);
    expect(lines.map(({ resource }) => resource).slice(-2)).toEqual(["content", "orders"]);
    expect(lines.map(({ resource }) => resource).sort()).toEqual([...everything].sort());
    const rows = brand.sql<Line>("SELECT * FROM sync_runs ORDER BY run_id");
    const last = lines.at(-1);
    expect(last).toEqual({ ...rows.at(-1), verified: true });
    expect(last).toMatchObject({ rows_read: 250, rows_new: 250, retries: 0, outcome: "done", error: null });
    // Each request but that of the key is counted in one row.
    const counted = rows.reduce((sum, row) => sum + Number(row.requests), 0);
    expect(counted).toBe(brand.asked.length - 1);
  });

  test("one that fails stops no other: exit 8", async () => {
    const brand = makeBrand(lists());
    brand.before = (request) =>
      asks("/roster")(request) ? { body: '{"success":true,"data":7}' } : undefined;
    const { code, err, outcomes } = await synced(brand);
    expect([code, outcomes.roster, outcomes.orders]).toEqual([8, "failed", "done"]);
    expect(err).toContain("1 of 10 resources failed: roster:");
    expect((await brand.run("sync roster")).code).toBe(7);
  });

  test("a retry is counted, and costs nothing else", async () => {
    const brand = makeBrand(lists());
    brand.once(readsOrders, () => "reset");
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(brand.lastRun()).toMatchObject({ retries: 1, verified: 1 });
  });

  test("a run leaves a row however it ends", async () => {
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

describe("what the key or the plan does not allow", () => {
  test("a scope: skipped and listed; named, it is an error", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ scopes: scopesBut("roster:read") });
    const { asked, code, err, outcomes } = await synced(brand);
    expect([code, outcomes.roster, outcomes.orders]).toEqual([0, "skipped", "done"]);
    expect(asked.filter(asks("/roster"))).toEqual([]);
    expect(err).toContain("roster: skipped: the key lacks the scope roster:read");
    expect((await synced(brand, "sync roster orders")).code).toBe(8);
    expect((await brand.run("sync roster")).code).toBe(5);
  });

  test("the plan: skipped and listed; named, it is an error", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ plan: false });
    const { code, outcomes } = await synced(brand);
    expect([code, outcomes.roster, outcomes.orders, outcomes["analytics-hosts"]]).toEqual([
      0,
      "done",
      "skipped",
      "skipped",
    ]);
    expect((await brand.run("sync orders")).code).toBe(5);
  });

  test("nothing at all is an error", async () => {
    const brand = makeBrand(lists());
    brand.setKey({ scopes: [] });
    expect((await brand.run("sync")).code).toBe(5);
    brand.setKey({ scopes: ["analytics:read"], plan: false });
    expect((await brand.run("sync")).code).toBe(5);
  });

  test.each([
    ["scope", { scopes: scopesBut("analytics:read") }, "is skipped now"],
    ["plan", { plan: false }, "is refused now"],
  ])("read before and refused now (%s): a warning, with --quiet too", async (_, change, says) => {
    const brand = makeBrand(lists());
    await brand.run("sync");
    brand.setKey(change);
    const { code, err } = await brand.run("sync --quiet");
    expect(code).toBe(0);
    for (const name of ["orders", "analytics-clicks", "analytics-hosts"])
      expect(err).toContain(`warning: ${name}: it was read before, and ${says}`);
    expect(err).not.toContain("roster");
  });

  test("refused half-way: incomplete, though nobody named it; the next run goes on", async () => {
    const brand = makeBrand(lists());
    let page = 0;
    const isThird = (request: Asked) => readsOrders(request) && ++page === 3;
    brand.once(isThird, () => void brand.setKey({ plan: false }));
    const { code, outcomes } = await synced(brand);
    expect([code, outcomes.orders, outcomes.roster]).toEqual([8, "incomplete", "done"]);
    brand.setKey({ plan: true });
    expect((await synced(brand)).outcomes.orders).toBe("done");
    expect([brand.mirrored().length, brand.lastRun().verified]).toEqual([250, 1]);
  });
});

describe("what ends the whole run", () => {
  test("an API that stops answering: one --max-wait, and the rest is named", async () => {
    const brand = makeBrand(lists());
    brand.once(asks("/gifts"), () => {
      brand.before = () => ({ status: 503 });
      return { status: 503 };
    });
    const began = brand.now();
    const { code, err, lines } = await synced(brand, "sync --max-wait 2m");
    expect(code).toBe(8);
    // The second resource gets a tenth, to find out that it is not only the first one's endpoint.
    expect(brand.now() - began).toBeLessThan(2.5 * minute);
    expect(lines.filter(({ outcome }) => outcome === "failed")).toHaveLength(2);
    expect(err).toMatch(/Not asked any more: surveys, content, orders\./);
    brand.pass(day);
    expect((await synced(brand, "sync --max-wait 1m")).code).toBe(6);
  });

  test("one endpoint that is down is no such API: the others are read", async () => {
    const brand = makeBrand(lists());
    brand.before = (request) => (asks("/gifts")(request) ? { status: 500 } : undefined);
    const { code, outcomes } = await synced(brand, "sync --max-wait 30s");
    expect([code, outcomes.gifts, outcomes.orders]).toEqual([8, "failed", "done"]);
  });

  test("a key that is revoked in the middle: 4, and what was read stays", async () => {
    const brand = makeBrand(lists());
    brand.once(asks("/content"), () => void brand.setKey({ revoked: true }));
    const { code, outcomes } = await synced(brand);
    expect([code, outcomes.content, outcomes.orders]).toEqual([4, "failed", undefined]);
    expect(brand.mirrored("roster")).toEqual(["r1", "r2"]);
  });
});

test("--all-profiles: a brand that fails stops no other, and the exit code is the worst", async () => {
  const one = makeBrand(lists());
  const two = makeBrand({ beside: one, seed: 2, roster: [memberOf("x1")] });
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
  one.setKey({ revoked: true });
  const bad = await synced(one, "sync roster --all-profiles", { env });
  expect(bad.code).toBe(4);
  expect(bad.lines.find(({ profile, outcome }) => profile === "two" && outcome)).toMatchObject({
    outcome: "done",
  });
});
