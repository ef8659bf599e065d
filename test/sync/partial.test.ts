import { expect, test } from "vitest";
import {
  at,
  come,
  day,
  fileAt,
  hour,
  listed,
  nights,
  noon,
  orderAt,
  ordersBefore,
  withdraw,
} from "../support/nights.js";

test("a run up to a time before its window reads nothing, and is no proof of anything", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 300, day) });
  await brand.sync();
  brand.pass(80 * day);
  come(brand, orderAt("new", noon + 40 * day));
  const run = await brand.sync("orders", { until: noon - 100 * day, audit: 0 });
  expect(run).toMatchObject({ failure: null, verified: false, rows_read: 0 });
  expect(Date.parse(String(run.until))).toBe(noon - 100 * day);
});

test("what told one month from another is asked again by the next sync, until it agrees", async () => {
  const items = Array.from({ length: 300 }, (_, n) => fileAt(`c${n}`, noon - n * day));
  const brand = await nights({ content: items });
  await brand.sync("content");
  brand.api.records.content = [...items.filter(({ id }) => id !== "c100"), fileAt("late", noon - 200 * day)];
  brand.pass(hour);
  expect((await brand.verify("content")).state).toBe("different");
  expect(await brand.sync("content", { audit: 0 })).toMatchObject({ failure: null, verified: true });
  expect(brand.mirrored("content")).toContain("upload/late");
  expect(brand.mirrored("content")).not.toContain("upload/c100");
  // From then on a night is as cheap as before.
  brand.pass(day);
  expect((await brand.sync("content", { audit: 0 })).asked.length).toBeLessThan(5);
});

test("a series of clicks of its own is a part, and is read again when the mirror's months moved", async () => {
  const monthly = { groupBy: "month" };
  const brand = await nights({ orders: ordersBefore(noon, 300, day) });
  await brand.sync("analytics-clicks");
  expect(await brand.sync("analytics-clicks", monthly)).toMatchObject({ failure: null, verified: false });
  brand.pass(day);
  come(brand, orderAt("late", Date.parse("2026-03-04T12:00:00Z")));
  const starts = async (options = {}) =>
    (await brand.sync("analytics-clicks", options)).asked.map(({ query }) => query.start_date?.slice(0, 7));
  expect(await starts(monthly)).toContain("2026-03");
  come(brand, orderAt("later", Date.parse("2026-03-05T12:00:00Z")));
  expect(await starts()).toContain("2026-03");
  expect(await starts(monthly)).toContain("2026-03");
  expect(await starts(monthly)).not.toContain("2026-03");
});

test("a part of what there is keeps nothing fresh", async () => {
  const brand = await nights({ content: [fileAt("c", noon - day)], orders: ordersBefore(noon, 60, day) });
  await brand.run("sync content orders");
  brand.pass(30 * day);
  const partial = ["sync content --source deliverable", "sync orders --until 2026-11-21"];
  for (const command of partial) expect((await brand.run(command)).code).toBe(0);
  const { code, err } = await brand.run("status --max-age 26h");
  expect({ code, err }).toEqual({
    code: 10,
    err: expect.stringContaining("Older than 26h: orders, content."),
  });
});

test("what was read in part, and is refused now, is a warning", async () => {
  const brand = await nights({ content: [fileAt("c", noon - day)] });
  await brand.run("sync content --source upload");
  brand.api.before = ({ path }) => (path === "/content" ? { status: 403 } : undefined);
  expect((await brand.run("sync --quiet")).err).toContain("content: it was read before, and is refused now");
});

test("a list that is refused half-way is incomplete, though nobody named it", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 900, hour) });
  let pages = 0;
  brand.api.before = ({ path }) => (path === "/orders" && ++pages > 2 ? { status: 403 } : undefined);
  const { code, err } = await brand.run("sync");
  expect(code).toBe(8);
  expect(err).toContain("orders is incomplete");
  expect((await brand.run("status")).out).toContain("orders");
});

test("what lies unread between what was read makes `verify` end with 8, and is what `--repair` reads", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 100, day) });
  await brand.sync("orders", { until: noon - 60 * day, since: noon - 200 * day });
  const { covered_from, warnings } = await brand.sync("orders", { since: noon - 10 * day });
  // What lies below the gap is not claimed with what lies above it.
  expect(covered_from).toBe(at(noon - 10 * day));
  expect(warnings).toEqual([expect.stringContaining("has never been read")]);
  const line = (await brand.run(`sync orders --since ${at(noon - 10 * day)}`)).err;
  expect(line).toContain("verified from 2026-11-11 (older orders were never read)");
  expect(await brand.verify()).toMatchObject({ state: "unproven", unread: 49 });
  expect((await brand.run("verify orders")).code).toBe(8);
  expect((await brand.verify("orders", true)).unread).toBe(0);
  expect(brand.mirrored()).toEqual(listed(brand));
  withdraw(brand, "o50");
  expect((await brand.verify()).state).toBe("different");
});
