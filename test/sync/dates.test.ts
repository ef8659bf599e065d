import { describe, expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, hour, noon, orderAt, ordersBefore } from "../support/records.js";

const orders = ordersBefore(noon - hour, 20, 12 * hour);

describe.each(["1969-12-31T23:59:59.000Z", "1900-02-28T12:00:00.000Z", "0001-01-01T00:00:00.000Z"])(
  "an order dated %s",
  (date) => {
    test("sync verifies an order with a very old date, and finds changes to it", async () => {
      const brand = makeBrand({
        orders: [...orders, orderAt("old", date)],
        variants: { emptyDays: "missing" },
      });
      for (const _ of [1, 2]) {
        expect((await brand.run("sync orders")).code).toBe(0);
        expect(brand.lastRun().verified).toBe(1);
        brand.pass(day);
      }
      brand.refund("old", 1);
      expect(await brand.run("verify orders")).toMatchObject({
        code: 8,
        out: expect.stringContaining(date.slice(0, 7)),
      });
      await brand.run("sync orders --audit 0");
      expect(brand.lastRun()).toMatchObject({ verified: 1, rows_changed: 1 });
      const { code, out } = await brand.run("verify orders --evidence");
      expect([code, out]).toEqual([0, expect.stringMatching(/days with totals .* agrees/)]);
    });

    test("sync --since reads an order with a very old date", async () => {
      const brand = makeBrand({
        orders: [...orders, orderAt("old", date)],
        variants: { emptyDays: "missing" },
      });
      await brand.run(`sync orders --since ${date.slice(0, 10)}`);
      expect(brand.lastRun()).toMatchObject({ verified: 1, since: `${date.slice(0, 10)}T00:00:00.000Z` });
      expect(brand.mirrored()).toHaveLength(21);
    });
  },
);

test("sync --until 9999-12-31 reads up to the current time", async () => {
  const brand = makeBrand({ orders });
  expect((await brand.run("sync orders --until 9999-12-31")).code).toBe(0);
  expect(brand.mirrored()).toHaveLength(20);
  for (const until of ["9999-12-31", "9999-12", "9999-12-31T23:59:59Z"]) {
    const { out } = await brand.run(`export orders --csv --until ${until}`);
    expect(out.trim().split("\n")).toHaveLength(1 + 20);
  }
  const report = "report --text --since 2026-11-01 --until 9999-12-31";
  expect((await brand.run(report)).out).toContain("1–21 Nov 2026");
});

test("sync --since accepts an age that goes back past 1970, but not past the year 0", async () => {
  const brand = makeBrand({ orders: [...orders, orderAt("old", "1950-01-01T00:00:00Z")] });
  await brand.run("sync orders --since 5000w");
  expect(brand.mirrored()).toHaveLength(21);
  const { code, err } = await brand.run("sync orders --since 999999w");
  expect([code, err]).toEqual([2, expect.stringContaining("is not a time: `999999w`")]);
});

test("sync accepts a window that is longer than the brand's history", async () => {
  const brand = makeBrand({ orders });
  await brand.run("sync orders");
  for (const command of ["sync orders --dry-run --window 999999w", "sync orders --window 999999999w"]) {
    const { requests, code } = await brand.run(command);
    const [first] = requests.filter(({ path }) => path === "/orders");
    expect([code, first?.query.start_date]).toEqual([0, undefined]);
  }
  expect(brand.lastRun()).toMatchObject({ verified: 1, rows_read: 20 });
  const { code, out } = await brand.run("verify orders --evidence");
  expect([code, out.match(/blind spot/g)]).toEqual([0, ["blind spot"]]);
});
