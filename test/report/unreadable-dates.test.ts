import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, hour, noon, orderAt, ordersBefore } from "../support/records.js";

/** Orders whose dates are not affected by the API variant `invalid`. */
const orders = ordersBefore(noon - hour + 60_000, 60, day);

test.each([
  ["in every date range", orderAt("odd", "2026-11-10T24:00:00Z"), { undated: "in every range" }],
  ["on one day", orderAt("odd", Date.UTC(2026, 10, 10, 10, 20)), { datePrecision: "invalid" }],
] as const)(
  "`report` shows the stored orders as not proven if the API returns an order with an unreadable date %s",
  async (_, odd, variants) => {
    const brand = makeBrand({ orders: [...orders, odd], variants });
    expect((await brand.run("sync orders")).code).toBe(0);
    const { code, out } = await brand.run("report --month 2026-11 --json");
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report.proof).toMatch(/^Not proven/);
    expect(report.is_proven).toBe(false);
    const sales = report.sections.find(({ id }: { id: string }) => id === "sales");
    const count = sales.blocks[0].figures.find(({ title }: { title: string }) => title === "Orders").value;
    // The newest day is excluded because it may be incomplete.
    expect(count).toBe(20);
    const text = (await brand.run("report --month 2026-11 --text")).out;
    expect(text).not.toContain("does not have");
  },
);
