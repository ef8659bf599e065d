import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, noon, openRecord, orderAt } from "../support/records.js";

test("amounts and rates of up to 15 digits are exported as the API sent them", async () => {
  const amounts = [0.1, 77.7, 1234567890123.45, 1e-7, -5, 0];
  const brand = makeBrand({
    orders: amounts.map((n, place) => orderAt(`o${place}`, noon - (place + 1) * day, { total_amount: n })),
  });
  await brand.run("sync orders");
  const { out } = await brand.run("export orders --csv --columns total_amount");
  expect(out.trim().split("\n").slice(1).map(Number).sort()).toEqual(amounts.toSorted());
  const json = JSON.parse((await brand.run("export orders --json")).out) as { total_amount: number }[];
  expect(json.map(({ total_amount }) => total_amount).sort()).toEqual(amounts.toSorted());
});

test("an ID that JavaScript cannot represent exactly is rejected rather than rounded", async () => {
  const brand = makeBrand({ gifts: [openRecord("x")] });
  brand.before = ({ path }) =>
    path === "/gifts" ? { body: '{"success":true,"data":[{"id":12345678901234567890}]}' } : undefined;
  const { code } = await brand.run("sync gifts");
  expect([code, brand.mirrored("gifts")]).toEqual([7, []]);
});

test("a value of an unexpected type is stored in the record and is null in its column, and each run prints a warning", async () => {
  const odd = orderAt("odd", noon - day, {
    total_amount: { cents: 5 },
    is_cancelled: "no",
    host: "ada",
    line_items: null,
  });
  const brand = makeBrand({ orders: [odd, orderAt("right", noon - 2 * day)] });
  const { code, err } = await brand.run("sync orders");
  expect(code).toBe(0);
  expect(err.split("\n").filter((line) => line.includes("total_amount"))).toHaveLength(1);
  expect(brand.sql("SELECT total_amount, is_cancelled, host_id FROM orders WHERE id = 'odd'")).toEqual([
    { total_amount: null, is_cancelled: null, host_id: null },
  ]);
  const records = JSON.parse((await brand.run("export orders --json")).out) as unknown[];
  expect(records).toContainEqual(odd);
  expect((await brand.run("sync orders --full")).err).toContain(
    "1 object in orders.total_amount (null in the column)",
  );
});

test("records without an ID are identified by their position in the list, so the last records are removed when the list shrinks", async () => {
  const brand = makeBrand();
  const rows = [{ a: 1 }, { a: 2 }, { a: 3 }];
  brand.before = ({ path }) =>
    path === "/codes" ? { body: JSON.stringify({ success: true, data: rows }) } : undefined;
  await brand.run("sync codes");
  rows.pop();
  const { code } = await brand.run("sync codes");
  expect(code).toBe(0);
  expect(brand.sql("SELECT a FROM codes ORDER BY a")).toEqual([{ a: 1 }, { a: 2 }]);
});

test("null is accepted without a warning wherever the API documentation allows it", async () => {
  const nulls = [
    "external_order_id",
    "order_number",
    "currency",
    "total_amount",
    "subtotal_amount",
    "refund_amount",
    "financial_status",
    "fulfillment_status",
    "commission_amount",
    "host",
    "product",
    "gear_list",
  ];
  const brand = makeBrand({
    orders: [orderAt("o", noon - day, Object.fromEntries(nulls.map((name) => [name, null])))],
  });
  const { code, err } = await brand.run("sync orders");
  expect([code, err.includes("warning")]).toEqual([0, false]);
  expect(brand.sql("SELECT orders, orders_without_total FROM sales_by_month")).toEqual([
    { orders: 1, orders_without_total: 1 },
  ]);
  expect((await brand.run("export orders --csv")).code).toBe(0);
});

test("unusual field names and text with line breaks, quotes or a NUL are stored as the API sent them", async () => {
  const texts = ['a "b", c\r\nd', "nul\u0000after", "\u202eright to left", "=1+1"];
  const brand = makeBrand({
    gifts: texts.map((text, n) => openRecord(`g${n}`, { text, 'odd, "name"': text })),
  });
  await brand.run("sync gifts");
  const records = JSON.parse((await brand.run("export gifts --json")).out) as { text: string }[];
  expect(records.map((one) => one.text).sort()).toEqual(texts.toSorted());
});
