import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { type Brand, brandForTest, orderAged } from "../scenarios/brand.js";

/** What another program does to the mirror. */
function edit({ dbPath }: Brand, sql: string): void {
  const db = new Sqlite(dbPath);
  db.exec(sql);
  db.close();
}

async function synced(resources = "orders roster"): Promise<Brand> {
  const brand = await brandForTest({ orders: 400 });
  expect((await brand.run(`sync ${resources}`)).code).toBe(0);
  return brand;
}

const linesOf = (out: string) => out.trim().split("\n");

test("a quarter of the orders' rows is gone: `verify` names table and rows, and `--repair` brings them back", async () => {
  const brand = await synced();
  const before = brand.sql("SELECT * FROM orders ORDER BY record_id");
  edit(
    brand,
    "DELETE FROM orders WHERE record_id IN (SELECT record_id FROM orders ORDER BY record_id LIMIT 100); UPDATE orders SET total_amount = 1 WHERE record_id = (SELECT max(record_id) FROM orders)",
  );
  const looked = await brand.run("verify");
  expect(looked.code).toBe(8);
  expect(looked.out).toMatch(/^orders: different \(/m);
  expect(looked.out).toContain("  table orders: different: 100 rows missing, 1 changed\n");
  expect(looked.out).toMatch(/^roster: proven /m);
  expect(looked.err).toBe(
    "brandapi: The mirror's tables differ from its records: orders.\n  hint: run `brandapi verify orders --repair`\n",
  );
  // A look changes nothing.
  expect(brand.sql("SELECT * FROM orders")).toHaveLength(300);

  const repaired = await brand.run("verify orders --repair");
  expect(repaired.code, repaired.err).toBe(0);
  expect(linesOf(repaired.out)[0]).toMatch(/^orders: repaired \(/);
  expect(repaired.out).toContain("  table orders: repaired: 100 rows missing, 1 changed\n");
  expect(brand.sql("SELECT * FROM orders ORDER BY record_id")).toEqual(before);
  expect(brand.sql("SELECT name FROM sqlite_master WHERE name = 'orders_by_order_date'")).toHaveLength(1);
  expect((await brand.run("verify orders")).out).toMatch(/^orders: proven \(/);
});

test("the same in JSON: the tables that differ, with their rows, and what became of them", async () => {
  const brand = await synced("orders");
  edit(brand, "DELETE FROM order_line_items WHERE order_id = (SELECT id FROM orders WHERE record_id = 9)");
  const lost = brand.sql<{ n: number }>(
    "SELECT json_array_length(json, '$.line_items') AS n FROM records WHERE record_id = 9",
  )[0]?.n;
  const differences = [
    {
      table: "order_line_items",
      missing: lost,
      changed: 0,
      extra: 0,
      why: expect.stringContaining("missing"),
    },
  ];
  const looked = linesOf((await brand.run("verify orders --json")).out).map((line) => JSON.parse(line));
  expect(looked[0]).toMatchObject({ state: "different", tables: { state: "different", differences } });
  expect(looked[1]).toHaveProperty("error.code", "incomplete");
  const [repaired] = linesOf((await brand.run("verify orders --repair --json")).out).map((line) =>
    JSON.parse(line),
  );
  expect(repaired).toMatchObject({ state: "repaired", tables: { state: "repaired", differences } });
  const [proven] = linesOf((await brand.run("verify orders --json")).out).map((line) => JSON.parse(line));
  expect(proven).toMatchObject({ state: "proven", tables: { state: "proven", differences: [] } });
});

test("a resource is verified by name: only its tables are looked at", async () => {
  const brand = await synced();
  edit(brand, "DELETE FROM orders");
  expect((await brand.run("verify roster")).code).toBe(0);
  expect((await brand.run("verify orders")).code).toBe(8);
});

test("a row that another program added is taken away, a table that it dropped comes back", async () => {
  const brand = await synced();
  edit(
    brand,
    "INSERT INTO roster (host_id, synced_at) VALUES ('nobody', ''); DROP VIEW hosts; DROP TABLE order_line_items",
  );
  const { code, out } = await brand.run("verify --repair");
  expect(code).toBe(0);
  expect(out).toContain("  table roster: repaired: 1 row too many\n");
  expect(brand.sql("SELECT 1 FROM roster WHERE host_id = 'nobody'")).toEqual([]);
  expect(brand.sql("SELECT 1 FROM order_line_items LIMIT 1")).toHaveLength(1);
});

test("tables of figures that the API restates are looked at too, and mended without a proof", async () => {
  const brand = await synced("analytics-clicks analytics-hosts surveys");
  edit(
    brand,
    "DELETE FROM analytics_clicks; UPDATE analytics_hosts SET sales = 0; DELETE FROM survey_results",
  );
  const looked = await brand.run("verify");
  expect(looked.code).toBe(8);
  expect(looked.err).toContain("analytics-clicks, analytics-hosts, surveys");
  const { code, out } = await brand.run("verify --repair");
  expect(code).toBe(0);
  expect(out).toMatch(/^analytics-clicks: unproven .*\n(.*\n)* {2}table analytics_clicks: repaired: /m);
  expect(out).toMatch(/^surveys: repaired .*\n(.*\n)* {2}table survey_results: repaired: /m);
  expect((await brand.run("verify")).code).toBe(0);
});

test("records and tables differ: both are told, and both are mended", async () => {
  const brand = await synced();
  edit(
    brand,
    "DELETE FROM orders WHERE record_id IN (SELECT record_id FROM orders ORDER BY record_id LIMIT 19)",
  );
  brand.sandbox.events.cancel(orderAged(brand.sandbox, 200).id);
  brand.sandbox.events.joinRoster();
  const looked = await brand.run("verify");
  expect(looked.err).toContain(
    "The mirror differs from the API: orders, roster; its tables differ from its records: orders.",
  );
  expect((await brand.run("verify --repair")).code).toBe(0);
  expect((await brand.run("verify")).code).toBe(0);
});

test("the API refuses a resource by now: what is wrong with its tables is told all the same", async () => {
  const brand = await synced();
  edit(
    brand,
    "DELETE FROM orders WHERE record_id IN (SELECT record_id FROM orders ORDER BY record_id LIMIT 19)",
  );
  brand.sandbox.intercept = ({ path }) => (path === "/roster" ? undefined : refused(path));
  const { code, out, err } = await brand.run("verify");
  expect(code).toBe(8);
  expect(out).toMatch(
    /^orders: different .*\n {2}all: unproven: .*\(402\).*\n {2}table orders: different: 19 rows missing$/m,
  );
  expect(out).toMatch(/^roster: proven /m);
  expect(err).toContain("The mirror's tables differ from its records: orders.");

  function refused(path: string) {
    return path === "/me" ? undefined : ({ kind: "status", status: 402 } as const);
  }
});

test("`status` keeps what `verify` found of a table, whatever a sync proves of its records, until it is mended", async () => {
  const brand = await synced();
  edit(brand, "UPDATE orders SET currency = 'XXX' WHERE record_id = (SELECT min(record_id) FROM orders)");
  expect((await brand.run("verify")).code).toBe(8);
  const found =
    "tables differ from the records (orders: 1 row changed): run `brandapi verify orders --repair`";
  expect(brand.lastRun("orders")).toMatchObject({ outcome: "verified", verified: 0, error: found });
  expect((await brand.run("status")).out).toContain(`! orders: the last \`verify\`: ${found}`);
  // It comes once, not as what was found and as how the last run ended.
  expect((await brand.run("status")).out.split(found)).toHaveLength(2);
  const { resources } = JSON.parse((await brand.run("status --json")).out) as { resources: object[] };
  expect(resources[0]).toMatchObject({ resource: "orders", found: { error: found } });

  expect((await brand.run("sync orders")).code).toBe(0);
  expect(brand.lastRun("orders")).toMatchObject({ verified: 1 });
  expect((await brand.run("status")).out).toContain(`! orders: \`verify\` found: ${found}`);
  expect((await brand.run("verify orders --repair")).code).toBe(0);
  expect((await brand.run("status")).out).not.toContain("!");
});
