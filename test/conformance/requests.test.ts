import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { at, day, fileAt, hour, memberOf, noon, openRecord, ordersBefore } from "../support/records.js";

const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

test("a sync sends one request per hundred list items, plus one for each record whose details are read", async () => {
  const brand = makeBrand({
    history: 0,
    roster: many(350, (n) => memberOf(`r${n}`)),
    gifts: many(30, (n) => openRecord(`g${n}`)),
  });
  const { requests } = await brand.run(
    "sync roster recommendations opportunities gifts surveys analytics-hosts",
  );
  const count = (start: string) => requests.filter(({ path }) => path.startsWith(start)).length;
  expect({
    me: count("/me"),
    roster: count("/roster"),
    recommendations: count("/recommendations"),
    opportunities: count("/opportunities"),
    surveys: count("/surveys/"),
    hosts: count("/analytics/hosts"),
  }).toEqual({ me: 1, roster: 4, recommendations: 1, opportunities: 1 + 46, surveys: 9, hosts: 1 });
  expect(count("/gifts")).toBeLessThanOrEqual(2);
  const others = requests.filter(
    ({ path, query }) => !["/me"].includes(path) && query.per_page && query.per_page !== "100",
  );
  expect(others).toEqual([]);
});

test("a sync sends one request per hundred orders or files, plus a few requests for counts", async () => {
  const content = many(280, (n) => fileAt(`c${n}`, noon - n * 2 * day));
  const brand = makeBrand({ orders: ordersBefore(noon, 2_400, 7 * hour), content });
  const pages = ({ requests }: Awaited<ReturnType<typeof brand.run>>, path: string) => {
    const list = requests.filter((one) => one.path === path);
    return [list.filter(({ query }) => query.per_page === "100").length, list.length] as const;
  };
  const first = await brand.run("sync orders content");
  expect(first.code).toBe(0);
  expect(pages(first, "/orders")[0]).toBeLessThanOrEqual(25);
  expect(pages(first, "/orders")[1]).toBeLessThanOrEqual(30);
  expect(pages(first, "/content")[1]).toBeLessThanOrEqual(6);
  brand.pass(day);
  const second = await brand.run("sync orders content");
  expect(pages(second, "/orders")[1]).toBeLessThanOrEqual(12);
  expect(pages(second, "/content")[1]).toBeLessThanOrEqual(6);
});

test("the first sync reads every month's clicks, and later syncs re-read only the months that may still change", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon, 24, 30 * day) });
  const months = async () =>
    (await brand.run("sync analytics-clicks")).requests.filter(({ path }) => path !== "/me").length;
  expect(await months()).toBeLessThanOrEqual(25);
  brand.pass(day);
  expect(await months()).toBeLessThanOrEqual(4);
});

test("a sync reads details only for campaigns that have changed or are open", async () => {
  const brand = makeBrand({ history: 0 });
  await brand.run("sync opportunities");
  const done = brand.data.opportunities.filter(({ status }) =>
    ["COMPLETED", "DECLINED", "ARCHIVED"].includes(status),
  );
  const [changed] = done;
  brand.pass(100 * day);
  brand.change("opportunities", changed?.id ?? "", { status: "ARCHIVED", updated_at: at(brand.now()) });
  const { requests } = await brand.run("sync opportunities");
  const read = requests.map(({ path }) => path.split("/")[2]).filter(Boolean);
  expect(read).toContain(changed?.id);
  expect(read.length).toBeLessThan(46);
});
