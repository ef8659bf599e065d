import { describe, expect, test } from "vitest";
import { Stopped } from "../../src/errors.js";
import { roster } from "../../src/resources/roster.js";
import type { PrintedResult } from "../../src/verify/verification-result.js";
import { verifyResource } from "../../src/verify/verify-resource.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { memberOf, noon, openRecord, orderAt } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";
import { makeDatedRun } from "../sync/dated-run.js";

const members = Array.from({ length: 30 }, (_, n) => memberOf(`r${n}`));

async function verified(brand: TestBrand, command: string) {
  const ran = await brand.run(`${command} --json`);
  const [result] = ran.out
    .split("\n")
    .filter((line) => line.includes('"months"'))
    .map((line) => JSON.parse(line) as PrintedResult);
  return { ...ran, result, month: result?.months[0] };
}

describe("lists without dates", () => {
  test("verify reads an unchanged list only once, and prints the record counts of the API and the mirror", async () => {
    const brand = makeBrand({ roster: members });
    await brand.run("sync roster");
    const { code, month, result } = await verified(brand, "verify roster");
    expect([code, result?.state, result?.requests]).toEqual([0, "proven", 1]);
    expect(month).toMatchObject({ month: "all", why: "30 records read, all identical" });
    expect(brand.lastRun("roster")).toMatchObject({
      outcome: "compared",
      verified: 1,
      api_total: 30,
      mirror_total: 30,
      differing: 0,
      rows_new: 0,
      rows_changed: 0,
    });
  });

  test("verify reports a list that has never been read as unproven, with the sync command, and --repair reads it", async () => {
    const brand = makeBrand({ history: 20, listLimit: 3 });
    await brand.run("sync roster");
    for (const name of ["gifts", "opportunities"]) {
      const never = await verified(brand, `verify ${name} --evidence`);
      expect(never.result).toMatchObject({
        state: "unproven",
        ...{ api_total: 3, mirror_total: 0, differing: 0, unread: 3 },
        found: [`${name} has 3 records that have not been read yet`],
      });
      expect(never.result?.evidence?.[0]).toMatchObject({ check: "every record", agrees: null });
      expect(never.month).toEqual({
        kind: "unread",
        month: "all",
        state: "unproven",
        why: `the list has never been read; run \`brandapi sync ${name}\``,
        read_at: null,
      });
      expect([never.code, never.err]).toEqual([
        8,
        expect.stringContaining(`run \`brandapi verify ${name} --repair\``),
      ]);
      const repaired = await verified(brand, `verify ${name} --repair`);
      expect([repaired.code, repaired.result?.state]).toEqual([0, "repaired"]);
    }
  });

  test("verify does not report an empty list that has never been read as proven", async () => {
    const brand = makeBrand({ roster: members });
    await brand.run("sync roster");
    const { code, result } = await verified(brand, "verify gifts");
    expect([code, result?.state, brand.lastRun("gifts")?.verified]).toEqual([0, "unproven", 0]);
    await brand.run("sync gifts");
    expect((await verified(brand, "verify gifts")).result?.state).toBe("proven");
  });

  test("verify counts new, changed and removed records in a list without storing them, and --repair stores them", async () => {
    const brand = makeBrand({ roster: members });
    await brand.run("sync roster");
    brand.add("roster", memberOf("new"), memberOf("newer"));
    brand.change("roster", "r3", { commission_rate: 20 });
    brand.remove("roster", "r7");
    const storedRecords = () => brand.sql("SELECT * FROM records");
    const before = storedRecords();
    const { code, month } = await verified(brand, "verify roster");
    expect([code, month?.why]).toEqual([8, "2 not in the mirror, 1 different, 1 no longer in the API"]);
    expect(storedRecords()).toEqual(before);
    expect(brand.lastRun("roster")).toMatchObject({
      verified: 0,
      api_total: 31,
      mirror_total: 30,
      differing: 4,
    });
    expect((await verified(brand, "verify roster --repair")).result?.state).toBe("repaired");
    expect(brand.mirrored("roster")).toHaveLength(31);
  });

  test("verify --repair does not remove an implausible number of records", async () => {
    const brand = makeBrand({ roster: members });
    await brand.run("sync roster");
    brand.data.roster = members.slice(0, 10);
    const { code, err, result } = await verified(brand, "verify roster --repair");
    expect([code, result?.state, brand.mirrored("roster").length]).toEqual([8, "different", 30]);
    expect(err).toMatch(/^warning: .*no longer returns 20 of 30 mirrored records.*--accept-removals/m);
    expect((await brand.run("verify roster --repair --accept-removals")).code).toBe(0);
  });

  test("if a list changes during every read, verify reports it as unproven, not as different", async () => {
    const brand = makeBrand({ roster: members, variants: { maxPerPage: 10 } });
    await brand.run("sync roster");
    brand.add("roster", memberOf("new"));
    brand.before = ({ path, query }) => {
      if (path === "/roster" && query.page === "2") brand.leave(brand.data.roster[0]?.host.id ?? "");
      return undefined;
    };
    const { code, result } = await verified(brand, "verify roster --evidence");
    expect([code, result?.state, result?.unsettled]).toEqual([8, "unproven", true]);
    const note = expect.stringContaining("the list ");
    expect(result?.evidence).toMatchObject([{ check: "every record", agrees: null, note }]);
  });

  test("verify cannot find changes to details, and reports a list with outdated details as unproven", async () => {
    const brand = makeBrand({ history: 20, listLimit: 3 });
    await brand.run("sync opportunities roster");
    const { id = "" } = brand.data.opportunities[0] ?? {};
    const proven = await verified(brand, "verify opportunities --evidence");
    expect(proven).toMatchObject({ code: 0, result: { state: "proven", blind_spot: "changes to details" } });
    expect(proven.result?.evidence).toMatchObject([
      { check: "every record", agrees: true },
      { check: "blind spot", mirror: 3, note: expect.stringContaining("sync --details all") },
    ]);
    const mirror = new Sqlite(brand.db);
    mirror.prepare("UPDATE records SET details_outdated = 1 WHERE key = ?").run(id);
    mirror.close();
    const { code, month, result } = await verified(brand, "verify opportunities");
    expect([code, result?.state, result?.unread]).toEqual([8, "unproven", 1]);
    expect(month?.why).toBe("the details of 1 record are outdated");
    brand.change("opportunities", id, { title: "another" });
    expect((await verified(brand, "verify opportunities")).month?.state).toBe("different");
    expect((await verified(brand, "verify opportunities --repair")).code).toBe(0);
    const roster = await verified(brand, "verify roster --evidence");
    expect(roster.result).toMatchObject({ blind_spot: "", evidence: [{ check: "every record" }] });
  });

  test("verify reports a list as different even if only one record was changed or removed", async () => {
    const brand = makeBrand({ roster: members });
    await brand.run("sync roster");
    brand.remove("roster", "r7");
    expect((await verified(brand, "verify roster")).month?.why).toMatch(
      /^0 not .*, 0 different, 1 no longer/,
    );
    await brand.run("sync roster");
    brand.change("roster", "r3", { commission_rate: 20 });
    expect((await verified(brand, "verify roster")).month?.why).toMatch(
      /^0 not .*, 1 different, 0 no longer/,
    );
  });

  test("because the API can change clicks and rankings later, verify reports them as unproven without sending requests, and exits with code 0", async () => {
    const brand = makeBrand({ history: 20, listLimit: 3 });
    await brand.run("sync analytics-hosts");
    const { code, month, result } = await verified(brand, "verify analytics-hosts --evidence");
    expect([code, result?.state, result?.requests]).toEqual([0, "unproven", 0]);
    expect(month?.why).toContain("may restate these values");
    const stored = brand.sql("SELECT * FROM analytics_hosts").length;
    const note = expect.stringContaining("may restate these values");
    expect(result?.evidence).toMatchObject([
      { check: "unproven", api: null, mirror: stored, agrees: null, note },
    ]);
  });

  test("verify compares records without IDs in a list with undocumented pagination", async () => {
    const brand = makeBrand({ gifts: [{ title: "a" }, { title: "b" }] as never, codes: [openRecord(7)] });
    await brand.run("sync gifts codes");
    expect((await brand.run("verify gifts codes")).code).toBe(0);
    brand.data.gifts = [{ title: "b" }, { title: "a" }] as never;
    expect((await verified(brand, "verify gifts")).month?.why).toContain("2 different");
  });
});

describe("tables that do not match the records", () => {
  const spoil = async (brand: TestBrand, ...statements: string[]) => {
    const mirror = new Sqlite(brand.db);
    for (const statement of statements) mirror.exec(statement);
    mirror.close();
  };
  const orders = ["a", "b", "c"].map((id, n) => orderAt(id, noon - (n + 1) * 3_600_000));

  test.each([
    ["missing rows", "DELETE FROM orders WHERE id <> 'a'"],
    ["a changed value", "UPDATE orders SET total_amount = 99 WHERE id = 'b'"],
    ["an additional row", "INSERT INTO orders (record_id, id, synced_at) VALUES (99, 'x', '')"],
  ])("verify reports a table with %s, and --repair rebuilds it", async (_, statement) => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    const rows = () => brand.sql("SELECT id, total_amount FROM orders ORDER BY id");
    const before = rows();
    await spoil(brand, statement);
    const { code, err, result } = await verified(brand, "verify orders");
    expect([code, result?.state, result?.tables.state]).toEqual([8, "different", "different"]);
    expect(result?.tables.differences.map(({ table }) => table)).toEqual(["orders"]);
    expect(err).toMatch(/tables differ from the records \(orders: .*\)/);
    expect(brand.lastRun().verified).toBe(0);
    const repaired = await verified(brand, "verify orders --repair");
    expect([repaired.code, repaired.result?.state, repaired.result?.tables.state]).toEqual([
      0,
      "repaired",
      "repaired",
    ]);
    expect(rows()).toEqual(before);
    expect((await verified(brand, "verify orders")).result?.state).toBe("proven");
  });

  test("verify --repair warns if a rebuilt table no longer allows a user-defined index", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    await spoil(brand, "DELETE FROM orders WHERE id <> 'a'", "CREATE UNIQUE INDEX mine ON orders (currency)");
    const { code, err } = await verified(brand, "verify orders --repair");
    expect([code, err]).toEqual([0, expect.stringMatching(/^warning: the index `mine` .* was dropped/m)]);
  });

  test("if verify is interrupted while it compares tables, it stops before sending a request", async () => {
    const { requests, run } = await makeDatedRun([]);
    run.mirror.db.exec(`INSERT INTO records (resource, key, json, since_at)
      SELECT 'roster', value, '{}', '' FROM json_each('${JSON.stringify(Array.from({ length: 1_000 }, (_, n) => n))}')`);
    const reason = new Stopped("SIGINT");
    const session = { ...run, signal: AbortSignal.abort(reason) };
    await expect(verifyResource(session, roster, { repair: false })).rejects.toBe(reason);
    expect(requests).toEqual([]);
  });

  test("verify --repair repairs both records and tables", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    await spoil(brand, "DELETE FROM orders WHERE id = 'a'");
    brand.withdraw("c");
    const { err } = await verified(brand, "verify orders");
    expect(err).toMatch(
      /^brandapi: Found: orders differs from the API \(.*\); tables differ from the records \(.*\)\./,
    );
    const { out } = await brand.run("status");
    expect(out).toMatch(/^! orders: orders differs from the API \(.*\); tables differ from the records/m);
    expect((await brand.run("verify orders --repair")).code).toBe(0);
    expect(brand.sql("SELECT id FROM orders ORDER BY id")).toEqual([{ id: "a" }, { id: "b" }]);
  });

  test("if verify fails because the API denies access, `status` still lists the tables that do not match the records", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    await spoil(brand, "DELETE FROM orders");
    brand.setKey({ hasAnalyticsPlan: false });
    const { code, result } = await verified(brand, "verify orders");
    expect([code, result?.state, result?.tables.state]).toEqual([5, "different", "different"]);
    expect(result?.months[0]?.why).toContain("plan");
    expect((await brand.run("status")).out).toContain("brandapi verify orders --repair");
    const repaired = await verified(brand, "verify orders --repair");
    expect([repaired.code, repaired.result?.state, repaired.result?.tables.state]).toEqual([
      5,
      "unproven",
      "repaired",
    ]);
    expect(repaired.result?.tables.differences).toMatchObject([{ table: "orders", missing: 3 }]);
  });

  test("verify surveys reports missing rows in the survey results table, and --repair rebuilds that table", async () => {
    const brand = makeBrand({ history: 20, listLimit: 3 });
    await brand.run("sync surveys");
    await spoil(brand, "DELETE FROM survey_results");
    const { code, result } = await verified(brand, "verify surveys");
    expect([code, result?.tables.differences.map(({ table }) => table)]).toEqual([8, ["survey_results"]]);
    const repaired = await verified(brand, "verify surveys --repair");
    expect([repaired.code, repaired.result?.state]).toEqual([0, "repaired"]);
  });

  test("verify reports missing rows in the tables of clicks and rankings, although it does not compare these resources with the API", async () => {
    const brand = makeBrand({ history: 30, listLimit: 5 });
    await brand.run("sync analytics-clicks analytics-hosts");
    await spoil(brand, "DELETE FROM analytics_clicks", "DELETE FROM analytics_hosts");
    const { code, err } = await verified(brand, "verify");
    expect(code).toBe(8);
    expect(err).toContain("analytics-clicks");
    expect(err).toContain("analytics-hosts");
    expect((await brand.run("verify --repair")).code).toBe(0);
    expect(brand.sql("SELECT * FROM analytics_hosts").length).toBeGreaterThan(0);
  });
});
