import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { resources } from "../../src/resources/index.js";
import {
  areWholeAnswers,
  type Brand,
  brandForTest,
  byId,
  day,
  leftToRead,
  nthRead,
  type OrderSeen,
  ordersOf,
} from "./brand.js";

test("a mirror of another brand is refused with exit 3, and stays as it was to the byte", async () => {
  const brand = await brandForTest({ orders: 50 });
  await brand.run("sync roster");
  const before = readFileSync(brand.dbPath);
  brand.key = brand.sandbox.keys["other-brand"].secret;
  for (const command of ["sync", "sync roster --full", "verify roster --repair", "sync --dry-run"]) {
    const { code, err, requests } = await brand.run(command);
    expect(code, command).toBe(3);
    expect(err).toContain(
      "The mirror belongs to another brand, Fjell & Fern, and the key to Basalt Cycling.",
    );
    expect(requests.map(({ path }) => path)).toEqual(["/api/brand/v1/me"]);
  }
  expect(readFileSync(brand.dbPath).equals(before)).toBe(true);
});

test("a key that expires at one resource: the rest would end the same way, and is not tried", async () => {
  const brand = await brandForTest();
  brand.key = brand.sandbox.keys.expiring.secret;
  const isFirst = nthRead("/recommendations", 1);
  brand.sandbox.intercept = (request) => {
    if (isFirst(request)) brand.sandbox.setKey("expiring", { expiresAt: brand.sandbox.now() - 1 });
  };
  expect((await brand.run("sync")).code).toBe(4);
  expect(brand.sql("SELECT resource FROM sync_runs ORDER BY run_id")).toEqual([
    { resource: "roster" },
    { resource: "recommendations" },
  ]);
});

test("a key that expires in the middle: exit 4, what was read stays, and the next key goes on there", async () => {
  const brand = await brandForTest({ orders: 1_000 });
  brand.key = brand.sandbox.keys.expiring.secret;
  const isSixth = nthRead("/orders", 6);
  brand.sandbox.intercept = (request) => {
    if (isSixth(request)) brand.sandbox.setKey("expiring", { expiresAt: brand.sandbox.now() - 1 });
  };
  const { code, err } = await brand.run("sync");
  expect(code).toBe(4);
  expect(err).toContain("The API rejected the key (401)");
  expect(brand.lastRun("orders")).toMatchObject({ outcome: "failed" });
  const held = brand.mirrored("orders").length;
  expect(held).toBeGreaterThanOrEqual(100);
  expect(areWholeAnswers(held), `${held} orders`).toBe(true);

  brand.sandbox.intercept = undefined;
  brand.key = brand.sandbox.key;
  const left = leftToRead(brand);
  const next = await brand.run("sync orders");
  expect(next.code).toBe(0);
  // What is held was proven when it came: it is not read again.
  const { rows_read } = brand.lastRun("orders");
  expect(rows_read).toBeGreaterThanOrEqual(left.least);
  expect(rows_read).toBeLessThanOrEqual(left.most);
  expectEqualToApi(brand);
});

test("a key with few days left is warned about at every sync", async () => {
  const brand = await brandForTest({ orders: 5 });
  brand.key = brand.sandbox.keys.expiring.secret;
  for (const command of ["sync roster", "sync roster --quiet"]) {
    const { code, err } = await brand.run(command);
    expect(code).toBe(0);
    expect(err).toContain("warning: The key expires in 2d");
    expect(err).toContain("`brandapi login`");
  }
  // In whole days, as `whoami` says them.
  brand.sandbox.setKey("expiring", { expiresAt: brand.sandbox.now() + 14.5 * day });
  expect((await brand.run("sync roster")).err).toContain("warning: The key expires in 14d");
  expect((await brand.run("whoami")).out).toContain("14 days left");
  brand.sandbox.setKey("expiring", { expiresAt: brand.sandbox.now() + 15.5 * day });
  expect((await brand.run("sync roster")).err).not.toContain("expires");
});

test("one resource that fails does not stop the others: exit 8 with a list", async () => {
  const brand = await brandForTest({ orders: 50 });
  brand.sandbox.intercept = ({ path }) =>
    path === "/roster" || path === "/codes" ? { kind: "html" } : undefined;
  const { code, err } = await brand.run("sync --max-wait 0s");
  expect(code).toBe(8);
  expect(err).toContain(`brandapi: 2 of ${resources.length} resources failed: `);
  expect(err).toMatch(/failed: .*\/roster.*\/codes/);
  const outcomes = new Map(
    brand
      .sql<{ resource: string; outcome: string }>("SELECT resource, outcome FROM sync_runs ORDER BY run_id")
      .map(({ resource, outcome }) => [resource, outcome]),
  );
  expect(outcomes.get("roster")).toBe("failed");
  expect(outcomes.get("codes")).toBe("failed");
  expect([...outcomes.values()].filter((outcome) => outcome === "done")).toHaveLength(resources.length - 2);
});

test("the key is nowhere in the mirror, its lock, or what was printed", async () => {
  const brand = await brandForTest({ orders: 50 });
  const { out, err } = await brand.run("sync --verbose --json");
  expect(out + err).not.toContain(brand.key);
  for (const file of [brand.dbPath, `${brand.dbPath}-lock`])
    expect(readFileSync(file).includes(brand.key)).toBe(false);
});

function expectEqualToApi(brand: Brand) {
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
}
