import { expect, test } from "vitest";
import { Stopped } from "../../src/errors.js";
import { counts, makeBrand, readsOrders, type SentRequest, type TestBrand } from "../support/brand.js";
import { at, day, hour, minute, noon, orderAt, ordersBefore } from "../support/records.js";

const orders = ordersBefore(noon - hour, 250, 5 * hour);
const oldDay = noon - 45 * day;
const partialSync = `sync orders --audit 0 --since ${at(oldDay - day)} --until ${at(oldDay + day)}`;

/** Creates a brand and syncs its orders. The API returns no daily totals, so later runs do not re-read changed days. */
async function makeSyncedBrand(synced = orders): Promise<TestBrand> {
  const brand = makeBrand({ orders: newestFirst(synced), variants: { dailyTotals: "absent" } });
  await brand.run("sync orders");
  brand.pass(day);
  return brand;
}

/** Moves the given orders to an earlier day, one minute apart, newest first. */
function moveToOldDay(brand: TestBrand, ids: readonly string[]): void {
  const dates = new Map(ids.map((id, n) => [id, at(oldDay - n * minute)]));
  brand.data.orders = newestFirst(
    orders.map((order) => ({ ...order, order_date: dates.get(order.id) ?? order.order_date })),
  );
}

function newestFirst(list: typeof orders): typeof orders {
  return list.toSorted((a, b) => Date.parse(b.order_date ?? "") - Date.parse(a.order_date ?? ""));
}

function originalDate(id: string): string {
  return orders.find((order) => order.id === id)?.order_date ?? "";
}

function mirroredDate(brand: TestBrand, id: string): string | undefined {
  return brand.sql<{ date: string }>("SELECT order_date AS date FROM orders WHERE id = ?", id)[0]?.date;
}

function missing(brand: TestBrand): string[] {
  const select = "SELECT key FROM missing JOIN records USING (record_id) ORDER BY key";
  return brand.sql<{ key: string }>(select).map(({ key }) => key);
}

function faultySeconds(brand: TestBrand) {
  return brand.sql(`SELECT from_at AS "from", to_at AS "to", records.key AS key FROM faulty_slices
    LEFT JOIN json_each(record_ids) LEFT JOIN records ON record_id = json_each.value`);
}

const readsSecondOf =
  (id: string) =>
  (request: SentRequest): boolean =>
    readsOrders(request) && request.query.start_date === originalDate(id);

test("sync moves an order to an older date only after checking that the API no longer returns it with the newer date", async () => {
  const brand = await makeSyncedBrand();
  moveToOldDay(brand, ["o3"]);
  const { requests } = await brand.run(partialSync);
  expect(requests.some(readsSecondOf("o3"))).toBe(true);
  expect(mirroredDate(brand, "o3")).toBe(at(oldDay));
  expect([missing(brand), faultySeconds(brand)]).toEqual([[], []]);
  expect(brand.lastRun()).toMatchObject({ verified: 1, rows_changed: 1, rows_removed: 0 });
});

test("if the API returns two copies of an order, sync keeps the newer copy, and reports the date of the older copy as unverified", async () => {
  const brand = await makeSyncedBrand();
  brand.data.orders = newestFirst([...orders, orderAt("o3", oldDay)]);
  const { err, requests } = await brand.run(partialSync);
  expect(requests.some(readsSecondOf("o3"))).toBe(true);
  expect(err).toContain("`o3` is listed more than once");
  expect(mirroredDate(brand, "o3")).toBe(originalDate("o3"));
  expect(faultySeconds(brand)).toEqual([{ from: at(oldDay), to: at(oldDay + 999), key: "o3" }]);
  expect(missing(brand)).toEqual([]);
});

test("if a run reads an order with a newer date and then with an older date, sync does not look up the newer date again", async () => {
  const brand = makeBrand({ orders: newestFirst([...orders, orderAt("o3", oldDay)]) });
  const { requests } = await brand.run("sync orders --audit 0");
  expect(requests.filter(readsSecondOf("o3"))).toEqual([]);
  expect(mirroredDate(brand, "o3")).toBe(originalDate("o3"));
});

test("sync looks up at most ten moved orders per response, and updates further moved orders only after it has read both the old and the new dates", async () => {
  const brand = await makeSyncedBrand();
  const moved = Array.from({ length: 13 }, (_, n) => `o${n + 3}`);
  moveToOldDay(brand, moved);
  // The run is stopped before it compares counts, because a count mismatch would make it re-read the newer dates.
  const { requests } = await brand.stopped(partialSync, counts);
  expect(moved.filter((id) => requests.some(readsSecondOf(id)))).toEqual(moved.slice(0, 10));
  expect(moved.map((id) => mirroredDate(brand, id))).toEqual([
    ...moved.slice(0, 10).map((_, n) => at(oldDay - n * minute)),
    ...moved.slice(10).map(originalDate),
  ]);
  expect(missing(brand)).toEqual(moved.slice(10));
  expect(faultySeconds(brand)).toEqual([]);
  brand.pass(day);
  await brand.run("sync orders --full");
  expect(mirroredDate(brand, "o15")).toBe(at(oldDay - 12 * minute));
  expect(missing(brand)).toEqual([]);
  expect(brand.lastRun()).toMatchObject({ verified: 1, rows_removed: 0 });
});

test("if the last of eleven moved orders in a response comes from a date range with faulty records, sync looks up only the first ten and does not update the last one", async () => {
  const brand = await makeSyncedBrand([...orders, orderAt("o13", Date.parse(originalDate("o13")))]);
  expect(faultySeconds(brand)).toMatchObject([{ from: originalDate("o13"), key: "o13" }]);
  moveToOldDay(
    brand,
    Array.from({ length: 11 }, (_, n) => `o${n + 3}`),
  );
  await brand.stopped(partialSync, counts);
  expect(mirroredDate(brand, "o12")).toBe(at(oldDay - 9 * minute));
  expect(mirroredDate(brand, "o13")).toBe(originalDate("o13"));
  expect(missing(brand)).toEqual([]);
  expect(faultySeconds(brand)).toMatchObject([{ from: originalDate("o13"), key: "o13" }]);
});

test("if an order's date becomes unreadable, sync replaces the order with an older copy that has a readable date", async () => {
  const brand = await makeSyncedBrand();
  brand.data.orders = newestFirst([...orders, orderAt("o3", oldDay), orderAt("o3", oldDay - minute)]);
  const stop = new AbortController();
  brand.before = (request) => {
    // The run is stopped before it compares counts, because a count mismatch would make it re-read both dates.
    if (counts(request)) stop.abort(new Stopped("SIGINT"));
    if (!readsSecondOf("o3")(request)) return undefined;
    const withoutDates = (orders: object[]) => orders.map((order) => ({ ...order, order_date: "soon" }));
    return { envelope: (body) => ({ ...body, data: withoutDates(body.data as object[]) }) };
  };
  await brand.run(partialSync, { signal: stop.signal });
  expect(mirroredDate(brand, "o3")).toBe(at(oldDay - minute));
});
