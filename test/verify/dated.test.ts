import { describe, expect, test } from "vitest";
import type { FakeRequest } from "../support/fake-api.js";
import {
  answerOnce,
  change,
  come,
  day,
  fileAt,
  hour,
  listed,
  type Nights,
  nights,
  noon,
  orderAt,
  ordersBefore,
  withdraw,
} from "../support/nights.js";

test("days that nobody read are not proven: 2,000 orders synced, 70 days pass, 400 new ones", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 2_000, 6 * hour) });
  expect((await brand.run("sync orders")).code).toBe(0);
  expect((await brand.run("verify orders")).code).toBe(0);
  brand.pass(70 * day);
  come(brand, ...Array.from({ length: 400 }, (_, n) => orderAt(`new${n}`, noon + hour + n * 4 * hour)));
  const { code, out, err } = await brand.run("verify orders");
  expect(code).toBe(8);
  expect(out).toContain("400 newer orders were never read: `brandapi sync orders` reads them");
  expect(err).toContain("The API has records that were not read yet: orders.");
  const verdict = await brand.verify();
  expect(verdict).toMatchObject({ state: "unproven", unread: 400 });
  // The month in which the last reading lies is read in part: not proven either; those before it are.
  const states = new Map(verdict.months.map(({ month, state }) => [month, state]));
  expect(states.get("2026-11")).toBe("unproven");
  expect(states.get("2026-10")).toBe("proven");
  expect(states.get("2026-12") ?? "unproven").toBe("unproven");
  await brand.sync();
  expect(await brand.verify()).toMatchObject({ state: "proven", unread: 0 });
});

/** The months that `verify` finds different; it has to find some. */
async function differentMonths(brand: Nights): Promise<string[]> {
  const { months, state } = await brand.verify();
  expect(state).toBe("different");
  return months.filter((one) => one.state === "different").map(({ month }) => month);
}

test.each([
  ["are compared record by record, also those on which one is gone", 500],
  ["and nobody came to, are proven by no figures: the months are counted", 2_500],
])("days whose figures nobody knew, %s", async (_, orders) => {
  const brand = await nights(
    { orders: ordersBefore(noon, orders, 12 * hour) },
    { figures: "absent", mostPerPage: 5 },
  );
  await brand.sync();
  brand.api.behaviour.figures = "all";
  withdraw(brand, "o100");
  come(brand, orderAt("late", noon - 150 * day));
  expect(await differentMonths(brand)).toEqual(["2026-06", "2026-10"]);
});

test("days from before the API's figures begin are proven by none: the months are counted", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 500, 12 * hour) }, { figures: "recent" });
  await brand.sync();
  brand.pass(day);
  withdraw(brand, "o400");
  come(brand, orderAt("late", noon - 150 * day));
  expect(await differentMonths(brand)).toEqual(["2026-05", "2026-06"]);
});

test("a first sync of an empty brand, and then an order of a date that was read: it is not proven", async () => {
  const brand = await nights();
  expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_read: 0 });
  expect((await brand.verify()).state).toBe("proven");
  brand.pass(hour);
  come(brand, orderAt("late", noon - 400 * day));
  expect((await brand.verify()).state).toBe("different");
  expect((await brand.run("verify orders")).code).toBe(8);
  expect(await brand.verify("orders", true)).toMatchObject({ state: "repaired" });
  expect(brand.mirrored()).toEqual(["late"]);
});

test("a first sync of an empty brand, and then an order of after it: it is not proven", async () => {
  const brand = await nights();
  await brand.sync();
  brand.pass(3 * day);
  come(brand, orderAt("new", noon + day));
  expect(await brand.verify()).toMatchObject({ state: "unproven", unread: 1 });
});

test("an order dated ahead of the last reading that was withdrawn is a difference, and is mended", async () => {
  const brand = await nights({ orders: [...ordersBefore(noon, 40, day), orderAt("ahead", noon + 5 * hour)] });
  await brand.sync();
  expect(brand.mirrored()).toContain("ahead");
  withdraw(brand, "ahead");
  brand.pass(hour);
  const verdict = await brand.verify();
  expect(verdict.state).toBe("different");
  expect(verdict.months.at(-1)).toMatchObject({
    month: "2026-11",
    state: "different",
    why: "2026-11-21 to now: all: 0 in the API, 1 here",
  });
  expect((await brand.verify("orders", true)).state).toBe("repaired");
  expect(brand.mirrored()).not.toContain("ahead");
});

test("of a day that is not over, which no count speaks of where dates are shown by the day, it is told who left", async () => {
  const brand = await nights({ orders: ordersBefore(noon - hour, 20, day) }, { shows: "days" });
  brand.api.before = ({ path }) => (path === "/analytics/clicks" ? { status: 501 } : undefined);
  await brand.sync();
  brand.api.before = undefined;
  expect(await brand.verify()).toMatchObject({ state: "proven" });
  withdraw(brand, "o0");
  expect(await brand.verify()).toMatchObject({ state: "different" });
});

describe("where dates are shown by the day", () => {
  test("an order of later today is no difference, though another is dated ahead", async () => {
    const ahead = [orderAt("a", noon + 3 * hour), orderAt("b", noon + 3 * day)];
    const brand = await nights(
      { orders: [...ordersBefore(noon - hour, 20, day), ...ahead] },
      { shows: "days" },
    );
    await brand.sync();
    const { state, unread, months } = await brand.verify();
    expect({ unread, months: months.filter(({ state }) => state === "different") }).toEqual({
      unread: 0,
      months: [],
    });
    expect(state).not.toBe("different");
  });

  test("orders of a day of which all that was read is a part were read", async () => {
    const brand = await nights({ orders: ordersBefore(noon - hour / 2, 20, hour / 2) }, { shows: "days" });
    await brand.sync("orders", { since: noon - 2 * hour });
    expect(await brand.verify()).toMatchObject({ unread: 0 });
  });
});

describe("one leaves a month while another comes to another: no total tells, and both are found", () => {
  test("orders, without figures by day", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 300, day) }, { figures: "absent" });
    await brand.sync();
    withdraw(brand, "o100");
    come(brand, orderAt("late", noon - 200 * day - hour));
    await expectTwoMonthsMended(brand, "orders", "o100");
  });

  test("content", async () => {
    const items = Array.from({ length: 300 }, (_, n) => fileAt(`c${n}`, noon - n * day));
    const brand = await nights({ content: items });
    await brand.sync("content");
    brand.api.records.content = [
      ...items.filter(({ id }) => id !== "c100"),
      fileAt("late", noon - 200 * day - hour),
    ];
    await expectTwoMonthsMended(brand, "content", "upload/c100");
  });

  async function expectTwoMonthsMended(brand: Nights, resource: string, gone: string): Promise<void> {
    expect(brand.mirrored(resource)).toContain(gone);
    brand.pass(hour);
    const { months } = await brand.verify(resource);
    expect(months.filter(({ state }) => state === "different").map(({ month }) => month)).toEqual([
      "2026-05",
      "2026-08",
    ]);
    expect(await brand.verify(resource, true)).toMatchObject({ state: "repaired" });
    expect(brand.mirrored(resource)).not.toContain(gone);
    expect(brand.mirrored(resource).some((key) => key.endsWith("late"))).toBe(true);
  }
});

describe("what differs is named by its month and day", () => {
  test.each(["all", "absent"] as const)("a late order (figures: %s)", async (figures) => {
    const brand = await nights({ orders: ordersBefore(noon, 400, day) }, { figures });
    await brand.sync();
    brand.pass(hour);
    come(brand, orderAt("late", noon - 200 * day - hour));
    const verdict = await brand.verify();
    expect(verdict.state).toBe("different");
    const different = verdict.months.filter(({ state }) => state === "different");
    expect(different).toHaveLength(1);
    expect(different[0]).toMatchObject({ month: "2026-05" });
    expect(different[0]?.why).toContain("2026-05-05");
    expect(verdict.requests).toBeLessThan(30);
    // A look writes nothing to the data.
    expect(brand.mirrored()).not.toContain("late");
  });

  test("a cancelled order that moves no figure: the filter that counts it", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 400, day) });
    await brand.sync();
    brand.pass(hour);
    change(brand, "o200", { is_cancelled: true });
    const { months } = await brand.verify();
    expect(months.find(({ state }) => state === "different")?.why).toContain(
      "cancelled: 1 in the API, 0 here",
    );
  });

  test.each([1, 60])(
    "partial refunds on %d days, which only the figures tell: each of them",
    async (days) => {
      const orders = ordersBefore(noon, 61, day);
      const brand = await nights({ orders }, { revenue: "net" });
      await brand.sync();
      brand.pass(hour);
      const refunded = orders.slice(-days).reverse();
      for (const { id } of refunded) change(brand, String(id), { refund_amount: 3 });
      const { months, state } = await brand.verify();
      expect(state).toBe("different");
      const named = months.flatMap(({ why }) => why?.match(/\d{4}-\d\d-\d\d/g) ?? []);
      expect(named).toEqual(refunded.map((order) => String(order.order_date).slice(0, 10)));
    },
  );

  test("`--repair` mends it, and only then it is repaired", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 400, day) });
    await brand.sync();
    brand.pass(hour);
    come(brand, orderAt("late", noon - 200 * day - hour));
    withdraw(brand, "o300");
    change(brand, "o250", { refund_amount: 3, is_refunded: true });
    expect(await brand.verify("orders", true)).toMatchObject({ state: "repaired" });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(brand.sql("SELECT refund_amount FROM orders WHERE id = 'o250'")).toEqual([{ refund_amount: 3 }]);
    expect((await brand.verify()).state).toBe("proven");
  });

  test("`--repair` reads what is newer too", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 40, day) });
    await brand.sync();
    brand.pass(9 * day);
    come(brand, orderAt("new", noon + 3 * day));
    expect(await brand.verify("orders", true)).toMatchObject({ state: "repaired", unread: 0 });
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

test("a month of which only the beginning was read is not proven", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 100, day) });
  await brand.sync("orders", { until: noon - 10 * day - hour });
  const { months, state } = await brand.verify();
  expect(state).toBe("unproven");
  expect(months.find(({ month }) => month === "2026-11")?.state).toBe("unproven");
  expect(months.find(({ month }) => month === "2026-10")?.state).toBe("proven");
});

const hasNoEnd = ({ path, query }: FakeRequest) => path === "/orders" && query.end_date === undefined;

test("one wrong count of nothing makes no month proven of which days were never read", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 60, 12 * hour) });
  await brand.sync("orders", { until: noon - 10 * day - hour });
  const isWrong = answerOnce(brand, hasNoEnd, { wrong: "empty" });
  expect(await brand.verify()).toMatchObject({ state: "unproven", unread: 21 });
  expect(isWrong()).toBe(true);
});

test("one wrong count of nothing hides no order that came right after the reading, dated two days ahead", async () => {
  const brand = await nights({ orders: ordersBefore(noon - hour, 60, 12 * hour) });
  await brand.sync();
  come(brand, orderAt("ahead", noon + 2 * day));
  const isWrong = answerOnce(brand, hasNoEnd, { wrong: "empty" });
  expect(await brand.verify()).toMatchObject({ state: "unproven", unread: 1 });
  expect(isWrong()).toBe(true);
});

test("a gap is not proven", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 200, day) });
  await brand.sync("orders", { until: noon - 120 * day });
  await brand.sync("orders", { since: noon - 30 * day });
  const { months, state } = await brand.verify();
  expect(state).toBe("unproven");
  expect(months.find(({ month }) => month === "2026-09")?.state).toBe("unproven");
  expect(months.find(({ month }) => month === "2026-06")?.state).toBe("proven");
});

test.each([
  ["the same day", 0],
  ["two days later", 2 * day],
])("the day on which the last reading ended is compared too: %s", async (_, later) => {
  const brand = await nights({ orders: ordersBefore(noon - hour, 100, 6 * hour) });
  await brand.sync();
  brand.pass(6 * hour + later);
  // Its figures and the counts, and twice that nothing came later: nothing is read for it.
  expect(await brand.verify()).toMatchObject({ state: "proven", requests: 6 });
  withdraw(brand, "o0");
  come(brand, orderAt("other", noon - 2 * hour, { total_amount: 50 }));
  expect((await brand.verify()).state).toBe("different");
  // What came after that reading is no difference on its day.
  come(brand, orderAt("newer", noon + hour));
  const { months, unread } = await brand.verify();
  expect({ unread, why: months.find(({ state }) => state === "different")?.why }).toEqual({
    unread: 1,
    why: "2026-11-21: its figures moved since it was read",
  });
  expect(await brand.verify("orders", true)).toMatchObject({ state: "repaired" });
  expect(brand.mirrored()).toEqual(listed(brand));
});

test("a newer order is no difference on the day of the last reading, where the API gives figures of whole days only", async () => {
  const brand = await nights({ orders: ordersBefore(noon - hour, 100, 6 * hour) });
  const { fetch } = brand.api;
  brand.api.fetch = async (input, init) => {
    const url = new URL(input);
    const until = url.searchParams.get("end_date");
    if (url.pathname.endsWith("/analytics/clicks") && until)
      url.searchParams.set("end_date", until.slice(0, 10));
    return await fetch(url, init);
  };
  await brand.sync();
  brand.pass(6 * hour);
  come(brand, orderAt("newer", noon + hour));
  const { months, unread } = await brand.verify();
  expect({ unread, states: new Set(months.map(({ state }) => state)) }).toEqual({
    unread: 1,
    states: new Set(["proven", "unproven"]),
  });
});

test("figures of days after the last reading, which was asked for alone, are no reason to look there", async () => {
  const brand = await nights({ orders: ordersBefore(noon - hour, 100, 6 * hour) }, { emptyDays: "zero" });
  await brand.sync();
  brand.pass(3 * day);
  const before = brand.api.asked.length;
  expect((await brand.verify()).state).toBe("proven");
  for (const { query } of brand.api.asked.slice(before))
    if (query.start_date && query.end_date) expect(query.start_date <= query.end_date).toBe(true);
});
