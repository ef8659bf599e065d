import { describe, expect, test } from "vitest";
import {
  change,
  come,
  day,
  hour,
  listed,
  type Nights,
  nights,
  noon,
  orderAt,
  ordersBefore,
  withdraw,
} from "../support/nights.js";

const orders = () => ordersBefore(noon, 600, 12 * hour);
const setAside = ({ sql }: Nights) =>
  sql("SELECT name FROM mirror_info WHERE name LIKE 'aside:%' AND value <> 'trusted'");
const asksFor = ({ asked }: { asked: { query: Readonly<Record<string, string>> }[] }, status: string) =>
  asked.some(({ query }) => query.status === status);

describe("a filter that counts what the records say", () => {
  test("shows an old cancellation that moves no figure, and the order is read", async () => {
    const brand = await nights({ orders: orders() }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    change(brand, "o500", { is_cancelled: true });
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({
      failure: null,
      verified: true,
      rows_changed: 1,
      warnings: [],
    });
  });

  test("is not set aside for an order that is cancelled between the page and the count that measures it", async () => {
    const brand = await nights({ orders: orders() }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    change(brand, "o500", { is_cancelled: true });
    const steps: string[] = [];
    brand.api.before = ({ query }) => {
      const isCount = query.per_page === "1";
      if (isCount && query.status === "cancelled") {
        if (steps.includes("read") && !steps.includes("cancelled")) {
          steps.push("cancelled");
          change(brand, "o501", { is_cancelled: true });
        } else steps.push("counted");
      } else if (!isCount && steps.includes("counted")) steps.push("read");
      return undefined;
    };
    const night = await brand.sync("orders", { audit: 0 });
    expect(steps).toContain("cancelled");
    expect(night).toMatchObject({ failure: null, verified: true, warnings: [], rows_changed: 2 });
    expect(setAside(brand)).toEqual([]);
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("is not set aside where the pages lack an order that is counted: the count of all differs as well", async () => {
    const brand = await nights({ orders: orders() }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    const hidden = orderAt("hidden", noon - 200 * day - hour, { is_cancelled: true });
    brand.api.before = ({ query }) => {
      withdraw(brand, "hidden");
      if (query.per_page === "1") come(brand, hidden);
      return undefined;
    };
    const { verified, warnings } = await brand.sync("orders", { audit: 0 });
    expect({ verified, warnings }).toEqual({ verified: false, warnings: [] });
    expect(setAside(brand)).toEqual([]);
  });
});

describe("a filter that means something else than its records say", () => {
  /** Here `refunded` selects what was refunded in part as well. */
  async function partly() {
    const brand = await nights({ orders: orders() }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    brand.api.behaviour.refunded = "any";
    change(brand, "o500", { refund_amount: 4 });
    return brand;
  }

  test("is set aside after two measurements that agree: with a warning, for a week, and no run is spoilt", async () => {
    const brand = await partly();
    const first = await brand.sync("orders", { audit: 0 });
    expect(first).toMatchObject({ failure: null, verified: true });
    expect(first.warnings).toEqual([
      expect.stringContaining("filter `refunded` does not count what its records say"),
    ]);
    for (let night = 1; night < 7; night += 1) {
      brand.pass(day);
      const quiet = await brand.sync("orders", { audit: 0 });
      expect(quiet).toMatchObject({ failure: null, verified: true, warnings: [] });
      expect(asksFor(quiet, "refunded")).toBe(false);
      expect(asksFor(quiet, "cancelled")).toBe(true);
    }
    expect((await brand.verify()).state).toBe("proven");
    brand.pass(day + hour);
    const again = await brand.sync("orders", { audit: 0 });
    expect(asksFor(again, "refunded")).toBe(true);
    expect(again.warnings).toHaveLength(1);
  });

  test("is trusted anew by `--full`", async () => {
    const brand = await partly();
    await brand.sync("orders", { audit: 0 });
    expect(setAside(brand)).toHaveLength(1);
    brand.api.behaviour.refunded = "fully";
    const full = await brand.sync("orders", { full: true });
    expect(asksFor(full, "refunded")).toBe(true);
    expect(full).toMatchObject({ failure: null, verified: true, warnings: [] });
    expect(setAside(brand)).toEqual([]);
  });

  test("is found out on a first sync too, where partial refunds are there from the beginning", async () => {
    const brand = await nights({ orders: orders() }, { refunded: "any" });
    change(brand, "o3", { refund_amount: 4 });
    change(brand, "o300", { refund_amount: 4 });
    const first = await brand.sync();
    expect(first).toMatchObject({ failure: null, verified: true });
    expect(first.warnings).toHaveLength(1);
  });
});
