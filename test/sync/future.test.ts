import { describe, expect, test } from "vitest";
import { type CountComparison, noFilter, subtractFuture } from "../../src/sync/counts.js";
import { makeBrand } from "../support/brand.js";
import { day, fileAt, hour, noon, orderAt, ordersBefore } from "../support/records.js";

const orders = ordersBefore(noon - hour, 100, 12 * hour);
const ahead = [3, 5, 9].map((hours) => orderAt(`ahead${hours}`, noon + hours * hour));
const message =
  "3 records have dates in the future (newest: 2026-11-21 21:00) and will be read once those dates arrive";

describe("orders dated in the future", () => {
  test("sync and verify report the number of orders dated in the future, and exit with code 0", async () => {
    const brand = makeBrand({ orders: [...ahead, ...orders] });
    const synced = await brand.run("sync orders");
    expect([synced.code, brand.lastRun().verified]).toEqual([0, 1]);
    expect(synced.err.split("\n").filter((line) => line.includes(message))).toHaveLength(1);
    for (const command of ["verify orders", "verify orders --repair"]) {
      const { code, err, out } = await brand.run(command);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toMatch(/^orders: proven, 100 in the API and 100 in the mirror/);
      expect(out).toContain(`  not due yet: ${message}\n`);
      expect(out).not.toContain("never read");
    }
    const [verdict] = (await brand.run("verify orders --json")).out.split("\n");
    expect(JSON.parse(verdict ?? "")).toMatchObject({
      state: "proven",
      unread: 0,
      future: { records: 3, until: "2026-11-21T21:00:00.000Z" },
    });
    const { out } = await brand.run("verify orders --evidence");
    expect(out).toMatch(/ 3 +0 +unproven +\S+ \S+ +dated in the future, so not due yet/);
  });

  test("sync reads an order dated in the future after that date has arrived", async () => {
    const brand = makeBrand({ orders: [...ahead, ...orders] });
    await brand.run("sync orders");
    brand.pass(4 * hour);
    expect((await brand.run("sync orders")).err).toContain("2 records have dates in the future");
    expect(brand.mirrored()).toContain("ahead3");
    brand.pass(day);
    expect((await brand.run("sync orders")).err).not.toContain("future");
    expect(brand.mirrored()).toHaveLength(103);
    expect(await brand.run("verify orders")).toMatchObject({
      code: 0,
      out: expect.not.stringContaining("due"),
    });
  });

  test("verify reports an unread order even if another order is dated in the future", async () => {
    const brand = makeBrand({ orders: [...ahead, ...orders] });
    await brand.run("sync orders");
    brand.pass(2 * hour);
    brand.order(orderAt("new", brand.now() - hour));
    const { code, err, out } = await brand.run("verify orders");
    expect([code, err]).toEqual([
      8,
      expect.stringContaining("orders has 1 record that has not been read yet"),
    ]);
    expect(out).toContain(message);
    expect((await brand.run("verify orders --repair")).code).toBe(0);
  });
});

test("verify subtracts orders dated in the future only from the count for the newest unread date range", () => {
  const count = (from: number, to: number, apiCount: number): CountComparison => ({
    ...{ from, to, apiCount, mirrorCount: 0, filter: noFilter },
    ...{ requestedAt: 0, newestRecord: null, fault: null },
  });
  const unread = [count(Number.NEGATIVE_INFINITY, 9, 2), count(20, Number.POSITIVE_INFINITY, 7)];
  const future = { count: count(30, Number.POSITIVE_INFINITY, 4), datedRecords: null };
  expect(subtractFuture(unread, future)).toEqual([unread[0], count(20, 29, 3)]);
  expect(subtractFuture(unread, null)).toEqual(unread);
});

test("sync and verify exit with code 0 if a library file is dated in the future", async () => {
  const brand = makeBrand({ content: [fileAt("ahead", noon + hour), fileAt("one", noon - hour)] });
  expect((await brand.run("sync content")).err).toContain("1 record has a date in the future");
  expect((await brand.run("verify content")).code).toBe(0);
});
