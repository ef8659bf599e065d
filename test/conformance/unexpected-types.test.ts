import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, noon, orderAt } from "../support/records.js";

const orders = [
  orderAt("text", noon - day, {
    total_amount: "12.50",
    refund_amount: "2.5",
    line_items: [{ title: "a", quantity: "3", price: "1e1" }],
  }),
  orderAt("none", noon - 2 * day, {
    total_amount: "12,50",
    refund_amount: true,
    line_items: [{ title: "b", quantity: "3.5", price: " 4" }],
  }),
  orderAt("plain", noon - 3 * day),
];

test("a number sent as a string is stored as a number in its column and as a string in the record", async () => {
  const brand = makeBrand({ orders });
  const { code, err } = await brand.run("sync orders");
  expect(code, err).toBe(0);
  expect(brand.sql("SELECT id, total_amount, refund_amount FROM orders ORDER BY order_date DESC")).toEqual([
    { id: "text", total_amount: 12.5, refund_amount: 2.5 },
    { id: "none", total_amount: null, refund_amount: null },
    { id: "plain", total_amount: 10, refund_amount: 0 },
  ]);
  expect(brand.sql("SELECT title, quantity, price FROM order_line_items ORDER BY title")).toEqual([
    { title: "a", quantity: 3, price: 10 },
    { title: "b", quantity: null, price: null },
  ]);
  expect(brand.sql("SELECT net_amount FROM orders_net WHERE id = 'text'")).toEqual([{ net_amount: 10 }]);
  expect(JSON.parse((await brand.run("export orders --json")).out)).toEqual(expect.arrayContaining(orders));
  const csv = (await brand.run("export orders --csv --columns id,total_amount")).out;
  expect(csv.trim().split("\n").sort()).toEqual(["id,total_amount", "none,", "plain,10", "text,12.5"]);
});

test("each run reports the number of records with unexpected types until none remain", async () => {
  const brand = makeBrand({ orders });
  const warned = /^brandapi: warning: orders: unexpected types in 2 records: .*/m;
  const first = await brand.run("sync orders --quiet");
  expect(first.err).toContain("1 number sent as text in orders.total_amount (read as numbers)");
  expect(first.err).toContain("1 text value in orders.total_amount (null in the column)");
  expect(first.err).toContain("1 text value in order_line_items.quantity (null in the column)");
  const text = warned.exec(first.err)?.[0];
  // The sync does not re-read these records, because they are too old.
  brand.pass(60 * day);
  const second = await brand.run("sync orders --quiet --audit 0");
  expect(warned.exec(second.err)?.[0]).toBe(text);
  expect(warned.exec((await brand.run("verify orders")).err)?.[0]).toBe(text);
  expect(brand.lastRun()).toMatchObject({ verified: 1 });

  const status = JSON.parse((await brand.run("status --json")).out);
  expect(status.resources[0].unexpected_columns).toContainEqual({
    table: "orders",
    column: "refund_amount",
    found: "boolean",
    records: 1,
  });
  expect((await brand.run("status")).out).toContain("1 boolean in orders.refund_amount (null in the column)");
  const doctor = await brand.run("doctor");
  expect(doctor.code).toBe(0);
  expect(doctor.out).toContain(" columns: unexpected types: ");
  expect(doctor.out).toContain("brandapi export orders --ndjson");

  brand.data.orders = [
    orderAt("text", noon - day),
    orderAt("none", noon - 2 * day),
    orderAt("plain", noon - 3 * day),
  ];
  expect((await brand.run("sync orders --full")).err).not.toContain("unexpected types");
  expect((await brand.run("doctor")).out).toContain("ok columns: all values match their column's type");
});

test("unexpected types in removed records are not counted", async () => {
  const brand = makeBrand({ orders });
  await brand.run("sync orders");
  brand.data.orders = brand.data.orders.filter(({ id }) => id === "plain");
  expect((await brand.run("sync orders --full")).err).not.toContain("unexpected types");
});

test("numbers sent as strings appear as numbers in the history and in views", async () => {
  const brand = makeBrand({
    orders: [orderAt("o", noon - 40 * day, { total_amount: "20.5", refund_amount: "1" })],
  });
  await brand.run("sync orders");
  brand.pass(day);
  brand.data.orders = [orderAt("o", noon - 40 * day, { total_amount: "20.5", refund_amount: "3.5" })];
  await brand.run("sync orders --full");
  expect(brand.sql("SELECT net_reported, net_now FROM restatements")).toEqual([
    { net_reported: 19.5, net_now: 17 },
  ]);
  expect(brand.sql("SELECT refunded_amount FROM late_refunds")).toEqual([{ refunded_amount: 2.5 }]);
  brand.pass(day);
  brand.data.orders = [orderAt("o", noon - 40 * day, { total_amount: 20.5, refund_amount: 3.5 })];
  await brand.run("sync orders --full");
  expect(brand.sql("SELECT count(*) AS n FROM late_refunds")).toEqual([{ n: 1 }]);
});

test("a number outside the range of a double is stored as text in the record, and is null in its column", async () => {
  const brand = makeBrand({ orders: [orderAt("huge", noon - day, { total_amount: 777, note: 888 })] });
  brand.before = ({ path, query }) => {
    if (path !== "/orders" || (query.status ?? "all") !== "all") return undefined;
    const [order] = brand.data.orders;
    const pagination = {
      page: 1,
      per_page: 100,
      total_items: 1,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    };
    const body = JSON.stringify({ success: true, data: [order], pagination });
    return { body: body.replace("777", "-1e400").replace("888", `{"a":[${"9".repeat(400)}]}`) };
  };
  const first = await brand.run("sync orders");
  expect(first.code, first.err).toBe(0);
  expect(first.err).toContain("1 text value in orders.total_amount (null in the column)");
  expect(brand.sql("SELECT total_amount FROM orders")).toEqual([{ total_amount: null }]);
  const [record] = JSON.parse((await brand.run("export orders --json")).out);
  expect(record).toMatchObject({ total_amount: "-1e400", note: { a: ["9".repeat(400)] } });
  expect((await brand.run("export orders --csv --columns id,total_amount")).out).toBe(
    "id,total_amount\nhuge,\n",
  );
  const second = await brand.run("sync orders --full");
  expect(second.err).toContain("1 text value in orders.total_amount (null in the column)");
  expect(brand.lastRun()).toMatchObject({ rows_changed: 0, rows_new: 0 });
  expect((await brand.run("doctor")).out).toContain("match the records");
});

test("if the API starts to send a number as a string, the sync keeps the column's value, records a change and prints a warning", async () => {
  const brand = makeBrand({ orders: [orderAt("a", noon - day, { total_amount: 12.5 })] });
  await brand.run("sync orders");
  brand.pass(day);
  brand.change("orders", "a", { total_amount: "12.50" } as object);
  const { code, err } = await brand.run("sync orders");
  expect(code, err).toBe(0);
  expect(err).toContain("1 number sent as text in orders.total_amount");
  expect(brand.sql("SELECT total_amount FROM orders")).toEqual([{ total_amount: 12.5 }]);
  expect(brand.sql("SELECT field, old, new FROM changes")).toEqual([
    { field: "total_amount", old: "12.5", new: "12.50" },
  ]);
});
