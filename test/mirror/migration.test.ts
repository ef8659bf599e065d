import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { migrations } from "../../src/mirror/schema.js";
import { makeHome } from "../support/home.js";
import {
  change,
  come,
  day,
  hour,
  listed,
  nights,
  noon,
  orderAt,
  ordersBefore,
  readsOf,
} from "../support/nights.js";

const version3 = readFileSync(new URL("version-3.sql", import.meta.url), "utf8");

/** What the mirror holds as present, and the API has: one was withdrawn before. */
const orders = () => ordersBefore(noon, 250, 12 * hour).filter(({ id }) => id !== "o99");

/** A first read by page numbers that was stopped after its second page of a hundred: nothing was proven yet. */
const stoppedFirst = `
  DELETE FROM coverage; DELETE FROM tripwires;
  DELETE FROM orders WHERE record_id > 200; DELETE FROM records WHERE record_id > 200;
  UPDATE sync_runs SET outcome = 'running', verified = 0, finished_at = NULL, until = NULL;
  INSERT INTO checkpoints VALUES ('orders',
    '{"goal":{"from":null,"to":1795262400000},"upper":1795262400000,"page":3,"startedAt":1795262400150}',
    x'000000000000f03f', '2026-11-21T12:00:00.400Z');`;

/** Everything was read before, and a \`--full\` read was stopped after its second page. */
const stoppedFull = `
  INSERT INTO sync_runs (resource, started_at, outcome) VALUES ('orders', '2026-11-21T13:00:00.000Z', 'running');
  INSERT INTO checkpoints VALUES ('orders',
    '{"goal":{"from":null,"to":1795266000000},"upper":1795266000000,"page":3,"startedAt":1795266000150}',
    x'000000000000f03f', '2026-11-21T13:00:00.400Z');`;

/** A mirror that an older program wrote, and the brand a while later. */
async function mirrored(more = "", after = hour) {
  const home = makeHome();
  const old = new Sqlite(join(home, "mirror.sqlite"));
  old.exec(version3);
  old.exec(more);
  old.close();
  return await nights({ orders: orders() }, {}, { begin: noon + after, home });
}

describe("a mirror of the version before", () => {
  test("opens, and keeps its records, their history, what was read and what was removed", async () => {
    const brand = await mirrored();
    expect(brand.mirror.db.pragma("user_version", { simple: true })).toBe(migrations.length);
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(brand.sql("SELECT count(*) AS n FROM orders WHERE removed_at IS NULL")).toEqual([{ n: 249 }]);
    expect(brand.sql("SELECT key, field, old, new FROM changes")).toEqual([
      { key: "o7", field: "refund_amount", old: "1", new: "0" },
    ]);
    expect(brand.sql("SELECT count(*) AS n FROM record_versions")).toEqual([{ n: 1 }]);
    expect(brand.sql("SELECT count(*) AS n FROM day_figures")).toEqual([{ n: 124 }]);
    const { out } = await brand.run("status --json");
    expect(JSON.parse(out)).toMatchObject({
      resources: [
        {
          rows: 249,
          removed: 1,
          covered: [{ from: null, to: "2026-11-21T12:00:00.000Z" }],
          gaps: [],
          covered_from: null,
          unfinished: null,
          last_success_at: "2026-11-21T12:00:00.000Z",
        },
      ],
    });
  });

  test("exports what it exported before, history included", async () => {
    const brand = await mirrored();
    const now = await brand.run("export orders --ndjson");
    expect(now.out.trim().split("\n")).toHaveLength(249);
    const before = await brand.run("export orders --ndjson --as-of 2026-11-20T18:00:00Z");
    expect(before.out).toContain('"refund_amount":1');
  });

  test("is read on for no more than any quiet night", async () => {
    const fresh = await nights({ orders: orders() });
    await fresh.sync();
    fresh.pass(day);
    const usual = await fresh.sync();
    const brand = await mirrored("", day);
    const night = await brand.sync();
    expect(night).toMatchObject({
      failure: null,
      verified: true,
      rows_new: 0,
      rows_changed: 0,
      rows_removed: 0,
    });
    expect(night.warnings).toEqual([]);
    expect(night.requests).toBe(usual.requests);
  });

  test("knows the figures by day that it knew: a late refund is found by them", async () => {
    const brand = await mirrored("", day);
    brand.api.behaviour.revenue = "net";
    change(brand, "o200", { refund_amount: 2 });
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null, rows_changed: 1 });
  });

  test("knows which campaigns the list has shown otherwise since their details were read", async () => {
    const campaign = (id: string) => ({ id, title: "T", status: "ARCHIVED" });
    const row = (id: string, readAt: string) =>
      `INSERT INTO records (resource, key, json, list_json, detailed_at, since_at)
       VALUES ('opportunities', '${id}', '${JSON.stringify(campaign(id))}', '${JSON.stringify(campaign(id))}',
         '${readAt}', '2026-11-20T12:00:00.000Z');`;
    const brand = await mirrored(
      row("changed", "2026-11-19T12:00:00.000Z") + row("same", "2026-11-20T12:00:01.000Z"),
    );
    brand.api.records.opportunities = ["changed", "same"].map(campaign);
    const { asked, failure } = await brand.sync("opportunities");
    expect(failure).toBeNull();
    expect(asked.map(({ path }) => path)).toEqual(["/opportunities", "/opportunities/changed"]);
  });

  test("knows since when a month was read whole, less what was never read", async () => {
    const run = (id: number, since: string, at: string, outcome = "done") =>
      `INSERT INTO sync_runs (run_id, resource, started_at, finished_at, since, until, outcome)
       VALUES (${id}, 'orders', '${at}', '${at}', ${since}, '${at}', '${outcome}');`;
    const ended = "2026-10-10T12:00:00.000Z";
    const brand = await mirrored(`
      DELETE FROM sync_runs; DELETE FROM coverage;
      ${run(1, "'2026-08-01T00:00:00.000Z'", "2026-09-10T12:00:00.000Z")}
      ${run(2, "'2026-08-11T12:00:00.000Z'", "2026-10-05T12:00:00.000Z", "failed")}
      ${run(3, "'2026-08-11T12:00:00.000Z'", ended)}
      ${run(4, "'2026-10-20T00:00:00.000Z'", "2026-11-02T12:00:00.000Z")}
      INSERT INTO coverage VALUES ('orders', '2026-08-01T00:00:00.000Z', '2026-08-11T11:59:59.999Z', '${ended}', 1),
        ('orders', '2026-08-11T12:00:00.000Z', '${ended}', '${ended}', 3),
        ('orders', '2026-10-20T00:00:00.000Z', '2026-11-02T12:00:00.000Z', '2026-11-02T12:00:00.000Z', 4);`);
    const first = "2026-08-01T00:00:00.000Z";
    expect(brand.sql("SELECT * FROM run_coverage ORDER BY run_id, from_at")).toEqual([
      { run_id: 1, from_at: first, to_at: "2026-09-10T12:00:00.000Z" },
      { run_id: 3, from_at: first, to_at: ended },
      { run_id: 4, from_at: first, to_at: ended },
      { run_id: 4, from_at: "2026-10-20T00:00:00.000Z", to_at: "2026-11-02T12:00:00.000Z" },
    ]);
    expect(brand.sql("SELECT DISTINCT month, reported_at FROM restatements ORDER BY month")).toEqual([
      { month: "2026-08", reported_at: "2026-09-10T12:00:00.000Z" },
      { month: "2026-09", reported_at: ended },
    ]);
  });

  test("is planned by `sync --dry-run` before any sync has opened it", async () => {
    const home = makeHome();
    const path = join(home, "old.sqlite");
    const old = new Sqlite(path);
    old.exec(version3);
    old.close();
    const brand = await nights({ orders: orders() });
    const { code, out, err } = await brand.run(`sync orders --dry-run --db ${path}`);
    expect(code, err).toBe(0);
    expect(out).toContain("orders");
  });
});

describe("a read that the version before left unfinished", () => {
  test("of a first sync: `status` says so, and the next run ends it and claims everything", async () => {
    const brand = await mirrored(stoppedFirst);
    expect((await brand.run("status")).out).toContain("was stopped: the next sync goes on there");
    come(brand, orderAt("new", noon + 30 * 60_000));
    const { failure, verified, asked } = await brand.sync();
    expect({ failure, verified }).toEqual({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    // Three pages of orders: what an unproven walk had seen is read again, once.
    expect(readsOf(asked, "/orders")).toHaveLength(3);
    expect(JSON.parse((await brand.run("status --json")).out)).toMatchObject({
      resources: [{ unfinished: null, covered: [{ from: null }], gaps: [], covered_from: null }],
    });
  });

  test("of `--full`: nothing is forgotten, and the next `--full` ends it", async () => {
    const brand = await mirrored(stoppedFull, 2 * hour);
    expect(JSON.parse((await brand.run("status --json")).out)).toMatchObject({
      resources: [{ covered: [{ from: null, to: "2026-11-21T12:00:00.000Z" }], gaps: [] }],
    });
    expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect((await brand.run("status")).out).not.toContain("was stopped");
  });
});
