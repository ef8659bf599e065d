import { beforeAll, expect, test } from "vitest";
import type { Mirror } from "../../src/store/database.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { noon, orderAt } from "../support/records.js";
import {
  amountOf,
  currencyOf,
  dayOf,
  groupFigures,
  hostOf,
  monthOf,
  sorted,
  sumFigures,
} from "./expected-figures.js";
import { monthBorders, unusualOrders } from "./unusual-orders.js";

const at = "2026-11-10T02:00:00.000Z";
const removedIds = ["o20", "o21", "o22", "o23"];
const all = unusualOrders(600);
const present = all.filter(({ id }) => !removedIds.includes(String(id)));
let mirror: Mirror;

beforeAll(async () => {
  mirror = await makeMirror();
  writeRead(mirror, "orders", all, { at: "2026-11-09T02:00:00.000Z", whole: true });
  writeRead(mirror, "orders", [], { at, remove: removedIds, whole: true });
  return () => void mirror.db.close();
});

function read<Row extends object>(sql: string): Row[] {
  return mirror.db.prepare(sql).all() as Row[];
}

const names = Object.keys(sumFigures([])).join(", ");

test("sales_by_day sums orders by day and currency, excluding removed and cancelled orders", () => {
  const wanted = groupFigures(present, (order) => ({ day: dayOf(order), currency: currencyOf(order) }));
  expect(wanted.length).toBeGreaterThan(300);
  expect(wanted.some(({ currency }) => currency === null)).toBe(true);
  expect(sorted(read("SELECT * FROM sales_by_day"))).toEqual(sorted(wanted));
});

test("all monthly views agree on the amounts and counts for each month and currency", () => {
  const wanted = sorted(
    groupFigures(present, (order) => ({ month: monthOf(order), currency: currencyOf(order) })),
  );
  expect(new Set(wanted.map(({ currency }) => currency)).size).toBe(7);
  for (const view of ["sales_by_month", "refunds_by_month"])
    expect(sorted(read(`SELECT month, currency, ${names} FROM ${view}`))).toEqual(wanted);
  const net = sorted(
    wanted
      .filter(({ orders }) => orders > 0)
      .map(({ month, currency, orders, net_amount }) => ({ month, currency, orders, net_amount })),
  );
  expect(
    sorted(
      read(
        "SELECT month, currency, count(*) AS orders, round(total(net_amount), 6) AS net_amount FROM orders_net GROUP BY 1, 2",
      ),
    ),
  ).toEqual(net);
  expect(net.length).toBeGreaterThan(20);
});

test("hosts_by_month sums orders by host, month and currency, and has a row for orders without a host", () => {
  const wanted = groupFigures(present, (order) => ({
    host_id: hostOf(order),
    month: monthOf(order),
    currency: currencyOf(order),
  }));
  expect(wanted.some(({ host_id, currency }) => host_id === null && currency === null)).toBe(true);
  expect(sorted(read(`SELECT host_id, month, currency, ${names} FROM hosts_by_month`))).toEqual(
    sorted(wanted),
  );
});

test("the commission_by_host and hosts views agree on the amounts and counts for each host and currency", () => {
  const wanted = groupFigures(present, (order) => ({
    host_id: hostOf(order),
    currency: currencyOf(order),
  }));
  const commission = wanted
    .filter(({ orders }) => orders > 0)
    .map(({ host_id, currency, orders, commission_amount }) => ({
      host_id,
      currency,
      orders,
      commission_amount,
    }));
  expect(
    sorted(
      read("SELECT host_id, currency, orders, commission_amount FROM commission_by_host WHERE orders > 0"),
    ),
  ).toEqual(sorted(commission));
  const lines = read<{
    id: string | null;
    orders: number;
    cancelled_orders: number;
    net_by_currency: string;
  }>("SELECT * FROM hosts");
  expect(lines).toHaveLength(6);
  for (const { id, orders, cancelled_orders, net_by_currency } of lines) {
    const own = wanted.filter(({ host_id }) => host_id === id);
    const total = sumFigures(present.filter((order) => hostOf(order) === id));
    expect({ id, orders, cancelled_orders }).toEqual({
      id,
      orders: total.orders,
      cancelled_orders: total.cancelled_orders,
    });
    expect(JSON.parse(net_by_currency)).toEqual(
      Object.fromEntries(own.map(({ currency, net_amount }) => [currency ?? "?", net_amount])),
    );
  }
});

test("refunds_by_month contains the refund rate and the number of refunded orders", () => {
  const rows = read<{
    month: string;
    currency: string | null;
    refunded_orders: number;
    refund_rate: number | null;
  }>("SELECT * FROM refunds_by_month");
  for (const { month, currency, refunded_orders, refund_rate } of rows) {
    const own = present.filter((order) => monthOf(order) === month && currencyOf(order) === currency);
    const { gross_amount, refunded_amount } = sumFigures(own);
    expect(refunded_orders).toBe(
      own.filter((order) => !order.is_cancelled && Number(order.refund_amount) > 0).length,
    );
    if (gross_amount === 0) expect(refund_rate).toBeNull();
    else expect(refund_rate).toBeCloseTo(refunded_amount / gross_amount, 5);
  }
  expect(rows.length).toBeGreaterThan(20);
});

test("an order's day is in UTC, regardless of how the API formats the date", () => {
  const rows = read<{ order_date: string; day: string; ordered_at: string }>(
    `SELECT order_date, day, ordered_at FROM order_figures WHERE CAST(substr(id, 2) AS INTEGER) < ${monthBorders.length} ORDER BY record_id`,
  );
  expect(rows.map(({ order_date, day }) => [order_date, day])).toEqual(monthBorders);
  const instant = (text: string) => new Date(text).getTime();
  for (const { order_date, ordered_at } of rows)
    expect([order_date, instant(`${ordered_at.replace(" ", "T")}Z`)]).toEqual([
      order_date,
      instant(order_date),
    ]);
});

test("orders_net contains the API's amounts, with null replaced by 0", () => {
  const rows = read<{ id: string; gross_amount: number; net_amount: number; commission_amount: number }>(
    "SELECT * FROM orders_net",
  );
  const counted = present.filter((order) => !order.is_cancelled);
  expect(rows.map(({ id }) => id)).toEqual(counted.map(({ id }) => id));
  expect(counted.some((order) => amountOf(order.total_amount) === null)).toBe(true);
  expect(counted.some((order) => order.commission_amount === null)).toBe(true);
  for (const [index, row] of rows.entries()) {
    const order = counted[index] ?? {};
    const total = amountOf(order.total_amount) ?? 0;
    const refund = amountOf(order.refund_amount) ?? 0;
    expect(row.gross_amount).toBe(total);
    expect(row.commission_amount).toBe(order.commission_amount ?? 0);
    if (refund === 0) expect(row.net_amount).toBe(total);
    else expect(row.net_amount).toBeCloseTo(total - refund, 6);
  }
});

test("if an order has no total, its net amount is the negated refund", async () => {
  const own = await makeMirror();
  writeRead(own, "orders", [orderAt("a", noon, { total_amount: null, refund_amount: 2.5 })]);
  expect(own.db.prepare("SELECT gross_amount, net_amount FROM orders_net").get()).toEqual({
    gross_amount: 0,
    net_amount: -2.5,
  });
  own.db.close();
});
