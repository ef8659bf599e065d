import { expect, test } from "vitest";
import type { RosterEntry } from "../../src/sandbox/roster-endpoint.js";
import { insertRun } from "../../src/store/runs.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { makeBrand } from "../support/brand.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { day, memberOf, noon, orderAt } from "../support/records.js";
import { findAllChanges, syncOrders } from "./unusual-orders.js";

const october = Date.UTC(2026, 9, 10);

function ranked(id: string | null, total_clicks: number, orders: number): JsonObject {
  const host = id === null ? null : { id, username: id };
  return { host, total_clicks, orders, revenue: orders * 0.1, conversion_rate: orders / total_clicks };
}

test("hosts_by_month takes each month's clicks and `ranking_orders` from the newest ranking of all hosts, and ignores rankings of a single host", async () => {
  const mirror = await makeMirror();
  const host = (id: string | null) => ({ host: id === null ? null : { id, username: id } });
  writeRead(mirror, "orders", [
    orderAt("a", october, host("h1")),
    orderAt("b", october, { ...host("h1"), currency: "USD" }),
    orderAt("c", october, host("h2")),
    orderAt("d", october, host(null)),
    orderAt("e", october - 30 * day, host("h1")),
  ]);
  const answer = (parameters: JsonObject, top_hosts: JsonObject[], at: string, position: number) =>
    writeRead(mirror, "analytics-clicks", [{ summary: {}, timeseries: [], top_hosts, top_products: [] }], {
      at,
      position,
      parameters: {
        period_start: "2026-10-01",
        period_end: "2026-10-31",
        group_by: "day",
        host_id: null,
        ...parameters,
      },
    });
  answer(
    {},
    [ranked("h1", 50, 7), ranked(null, 20, 1), ranked(null, 10, 2), ranked("h3", 5, 1)],
    "2026-11-02T00:00:00.000Z",
    0,
  );
  answer({ group_by: "week" }, [ranked("h1", 40, 6)], "2026-11-01T00:00:00.000Z", 1);
  answer({ group_by: "month" }, [ranked("h1", 60, 8)], "2026-11-02T00:00:00.000Z", 2);
  answer({ group_by: "week", host_id: "h1" }, [ranked("h1", 99, 9)], "2026-11-03T00:00:00.000Z", 3);
  answer({ host_id: "h1" }, [ranked("h1", 98, 9)], "2026-11-01T00:00:00.000Z", 4);
  const columns =
    "host_id, month, currency, orders, clicks, conversion_rate, ranking_orders, ranking_revenue";
  const row = { month: "2026-10", currency: "EUR", orders: 1 };
  const none = { clicks: null, conversion_rate: null, ranking_orders: null, ranking_revenue: null };
  const first = {
    host_id: "h1",
    clicks: 50,
    conversion_rate: 0.14,
    ranking_orders: 7,
    ranking_revenue: 0.7,
  };
  expect(mirror.db.prepare(`SELECT ${columns} FROM hosts_by_month`).all()).toEqual([
    { ...row, ...none, host_id: "h1", month: "2026-09" },
    { ...row, host_id: null, clicks: 30, conversion_rate: null, ranking_orders: 3, ranking_revenue: 0.3 },
    { ...row, ...first },
    { ...row, ...first, currency: "USD" },
    { ...row, ...none, host_id: "h2" },
  ]);
  mirror.db.close();
});

test("the hosts view has one row per host with totals from the ranking, and one row for all orders without a host", async () => {
  const mirror = await makeMirror();
  const host = { id: "h1", username: "ada" };
  writeRead(mirror, "orders", [
    orderAt("a", october),
    orderAt("b", october, { is_cancelled: true }),
    orderAt("c", october, { host: null }),
    orderAt("d", october, { host: null, currency: null, total_amount: null }),
  ]);
  const member = { host: { id: "h9", username: "new" }, status: "active" };
  writeRead(mirror, "roster", [
    { ...member, relationship_id: "r1", commission_rate: 8, campaigns: { status: "invited" } },
    { ...member, relationship_id: "r2", commission_rate: 7, campaigns: { status: "active" } },
  ]);
  writeRead(mirror, "recommendations", [
    { host, product_count: 3, products: [] },
    { host: { id: "h2", username: "recommends" }, product_count: 2, products: [] },
  ]);
  const place = (n: number, of: JsonObject | null, orders: number, sales: number) =>
    writeRead(mirror, "analytics-hosts", [{ host: of, clicks: 5, buy_now_clicks: n, orders, sales }], {
      position: n,
      parameters: { position: n },
    });
  place(1, host, 4, 20.25);
  place(2, null, 2, 0.1);
  place(3, null, 1, 0.2);
  place(4, { id: "h3", username: "ranked" }, 0, 0);
  const select = (columns: string) => mirror.db.prepare(`SELECT ${columns} FROM hosts`).raw().all();
  expect(
    select(
      "id, host_username, host_label, username, on_roster, commission_rate, campaigns_status, recommended_products",
    ),
  ).toEqual([
    [null, null, null, null, 0, null, null, 0],
    ["h1", "ada", "ada", "ada", 0, null, null, 3],
    ["h2", "recommends", "recommends", "recommends", 0, null, null, 2],
    ["h3", "ranked", "ranked", "ranked", 0, null, null, 0],
    ["h9", "new", "new", "new", 1, 8, "invited", 0],
  ]);
  expect(
    select("id, orders, cancelled_orders, orders_without_total, net_by_currency, commission_by_currency"),
  ).toEqual([
    [null, 2, 0, 1, '{"?":0.0,"EUR":10.0}', '{"?":0.8,"EUR":0.8}'],
    ["h1", 1, 1, 0, '{"EUR":10.0}', '{"EUR":0.8}'],
    ["h2", 0, 0, 0, null, null],
    ["h3", 0, 0, 0, null, null],
    ["h9", 0, 0, 0, null, null],
  ]);
  expect(select("id, clicks, buy_now_clicks, ranking_orders, ranking_sales")).toEqual([
    [null, 10, 5, 3, 0.3],
    ["h1", 5, 1, 4, 20.25],
    ["h2", null, null, null, null],
    ["h3", 5, 4, 0, 0],
    ["h9", null, null, null, null],
  ]);
  mirror.db.close();
});

test("the clawed-back commission in commission_by_host is the decrease from each order's highest commission to the current one", async () => {
  const host = (n: number) => ({
    host: { id: `h${n}`, username: `host ${n}`, first_name: null, last_name: null, profile_photo: null },
  });
  const order = (id: string, n: number, commission: number | null, rest: JsonObject = {}) =>
    orderAt(id, noon - day, { commission_amount: commission, ...host(n), ...rest });
  const brand = makeBrand({
    orders: [
      order("cut", 1, 5),
      order("cancelled", 1, 4),
      order("withdrawn", 1, 3),
      order("back", 1, 2),
      order("moved", 1, 1.5),
      order("raised", 1, 1),
      order("other", 1, 0.5),
      order("none", 2, null),
      order("never", 3, 9, { is_cancelled: true }),
      order("gone", 4, 2),
    ],
  });
  const nextDay = async () => {
    await syncOrders(brand, findAllChanges);
    brand.pass(day);
  };
  await nextDay();
  brand.change("orders", "cut", { commission_amount: 3.25 });
  brand.change("orders", "cancelled", { is_cancelled: true });
  brand.withdraw("withdrawn");
  brand.withdraw("gone");
  brand.change("orders", "back", { commission_amount: 0 });
  brand.change("orders", "moved", host(2));
  brand.change("orders", "raised", { commission_amount: 7 });
  brand.change("orders", "other", { currency: "USD" });
  await nextDay();
  brand.change("orders", "back", { commission_amount: 2 });
  brand.change("orders", "cut", { commission_amount: 4, refund_amount: 1 });
  brand.add("orders", order("late", 2, 0.25));
  await nextDay();
  const columns = "host_id, host_username, currency, orders, commission_amount, taken_back";
  expect(brand.sql<object>(`SELECT ${columns} FROM commission_by_host`).map(Object.values)).toEqual([
    ["h1", "host 1", "EUR", 3, 13, 10],
    ["h1", "host 1", "USD", 1, 0.5, 0],
    ["h2", "host 2", "EUR", 3, 1.75, 0],
    ["h4", "host 4", "EUR", 0, 0, 2],
  ]);
});

test("roster_changes lists only hosts who joined or left, or whose rate changed", async () => {
  const member = (n: number, commission_rate: number, username = `host ${n}`) =>
    memberOf(`r${n}`, { host: { ...memberOf("").host, id: `h${n}`, username }, commission_rate });
  const brand = makeBrand();
  const nightOf = async (...roster: RosterEntry[]) => {
    brand.data.roster = roster;
    expect((await brand.run("sync roster")).code).toBe(0);
    brand.pass(day);
    return String(brand.lastRun("roster").started_at);
  };
  const first = await nightOf(member(1, 10), member(2, 10), member(3, 10));
  const second = await nightOf(member(1, 12.5), member(3, 10), member(4, 8));
  const equalRate = "10.0" as unknown as number;
  const third = await nightOf(member(1, 12.5, "renamed"), member(2, 10), member(3, equalRate), member(4, 8));
  const rows = brand.sql<{ seen_at: string; last_seen_at: string }>("SELECT * FROM roster_changes");
  const none = { old: null, new: null };
  expect(rows).toMatchObject([
    { what: "rate", host_id: "h1", host_username: "renamed", old: 10, new: 12.5 },
    { what: "joined", host_id: "h4", host_username: "host 4", ...none },
    { what: "left", host_id: "h2", host_username: "host 2", host_label: "host 2", ...none },
    { what: "joined", host_id: "h2", host_username: "host 2", host_label: "host 2", ...none },
  ]);
  for (const [index, { seen_at, last_seen_at }] of rows.entries()) {
    const [before, after] = index < 3 ? [first, second] : [second, third];
    expect(seen_at.slice(0, 10)).toBe(after.slice(0, 10));
    expect(last_seen_at.slice(0, 10)).toBe(before.slice(0, 10));
  }
});

test("content_by_host counts each host's files, and has one row for all files without a host", async () => {
  const mirror = await makeMirror();
  const file = (id: string, host: string | null, rest: JsonObject = {}): JsonObject => ({
    id,
    source: "deliverable",
    media_type: "image",
    created_at: `2026-10-0${id}T00:00:00Z`,
    file_size_bytes: 100,
    host: host === null ? null : { id: host, username: host, name: null },
    opportunity: { id: "p1", title: "P" },
    ...rest,
  });
  writeRead(mirror, "content", [
    file("1", "h1"),
    file("2", "h1", { media_type: "video", file_size_bytes: null }),
    file("3", "h1", { source: "upload", opportunity: null }),
    file("4", null, { source: "upload", media_type: "document", opportunity: null }),
    file("5", "h2"),
  ]);
  writeRead(mirror, "content", [], { at: "2026-11-02T00:00:00.000Z", remove: ["deliverable/5"] });
  const columns = "host_id, files, deliverables, uploads, images, videos, campaigns, bytes, last_added_at";
  expect(mirror.db.prepare(`SELECT ${columns} FROM content_by_host`).raw().all()).toEqual([
    [null, 1, 0, 1, 0, 0, 0, 100, "2026-10-04T00:00:00Z"],
    ["h1", 3, 2, 1, 2, 1, 1, 200, "2026-10-03T00:00:00Z"],
  ]);
  mirror.db.close();
});

test("campaigns_owing lists a campaign until all its work and payments are complete", async () => {
  const mirror = await makeMirror();
  const campaign = (id: string, status: string, rest: JsonObject = {}): JsonObject => ({
    id,
    title: id,
    status,
    deadline: "2026-10-20",
    payment: { flatFee: 120 },
    created_at: "2026-09-01T00:00:00Z",
    deliverables: [],
    assignments: [],
    ...rest,
  });
  const deliverable = (
    id: string,
    completed_at: string | null,
    due_date: string | null = null,
  ): JsonObject => ({ id, title: id, due_date, completed_at });
  const assignment = (
    id: string,
    status: string,
    brand: string | null = null,
    athlete: string | null = null,
  ): JsonObject => ({ id, status, brand_payment_state: brand, athlete_payment_state: athlete, host: null });
  writeRead(mirror, "opportunities", [
    campaign("work", "ACTIVE", {
      deliverables: [deliverable("d1", null, "2026-12-01"), deliverable("d2", "2026-10-01T00:00:00Z")],
      assignments: [assignment("a1", "ACTIVE", "NOT_INVOICED", "NOT_EARNED"), assignment("a2", "PROPOSED")],
    }),
    campaign("late", "COMPLETED", { deliverables: [deliverable("d3", null)] }),
    campaign("overdue", "ACTIVE", {
      deliverables: [deliverable("d7", null, "2026-11-01"), deliverable("d8", null, "2026-12-01")],
    }),
    campaign("today", "ACTIVE", { deliverables: [deliverable("d9", null, "2026-11-02")] }),
    campaign("unpaid", "COMPLETED", {
      assignments: [
        assignment("a3", "COMPLETED", "INVOICED", "EARNED"),
        assignment("a4", "COMPLETED", "NOT_INVOICED", "ON_HOLD"),
        assignment("a5", "COMPLETED", "PAID", "PAID"),
        assignment("a6", "COMPLETED", "REFUNDED", "NOT_EARNED"),
      ],
    }),
    campaign("unreceived", "COMPLETED", { assignments: [assignment("a9", "COMPLETED", "PAID", "ON_HOLD")] }),
    campaign("unknown", "COMPLETED", { assignments: [assignment("a7", "COMPLETED", "DISPUTED", "PAID")] }),
    campaign("settled", "COMPLETED", {
      deliverables: [deliverable("d4", "2026-10-01T00:00:00Z")],
      assignments: [assignment("a8", "COMPLETED", "PAID", "PAID")],
    }),
    ...["DRAFT", "READY", "PROPOSED", "DECLINED", "ARCHIVED"].map((status) =>
      campaign(status, status, { deliverables: [deliverable(`d-${status}`, null)] }),
    ),
    campaign("gone", "ACTIVE", { deliverables: [deliverable("d6", null)] }),
  ]);
  writeRead(mirror, "opportunities", [], { at: "2026-11-02T00:00:00.000Z", remove: ["gone"] });
  // Only the last completed campaign sync determines whether a campaign is overdue.
  writeRead(mirror, "roster", [], { at: "2026-12-24T00:00:00.000Z" });
  insertRun(mirror, "opportunities", "2026-12-24T00:00:00.000Z");
  const none = {
    is_overdue: 0,
    deliverables_open: 0,
    assignments_open: 0,
    payments_open: 0,
    payouts_open: 0,
  };
  expect(mirror.db.prepare("SELECT * FROM campaigns_owing").all()).toEqual(
    [
      { id: "late", status: "COMPLETED", ...none, is_overdue: 1, deliverables_open: 1 },
      { id: "overdue", status: "ACTIVE", ...none, is_overdue: 1, deliverables_open: 2 },
      { id: "today", status: "ACTIVE", ...none, deliverables_open: 1 },
      { id: "unknown", status: "COMPLETED", ...none, payments_open: 1 },
      { id: "unpaid", status: "COMPLETED", ...none, payments_open: 2, payouts_open: 2 },
      { id: "unreceived", status: "COMPLETED", ...none, payouts_open: 1 },
      { id: "work", status: "ACTIVE", ...none, deliverables_open: 1, assignments_open: 1 },
    ].map((row) => ({ ...row, title: row.id, deadline: "2026-10-20", flat_fee: 120 })),
  );
  mirror.db.close();
});
