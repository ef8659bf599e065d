import { describe, expect, test } from "vitest";
import type { MonthFigures, Restatement, TriangleCell } from "../../src/query/index.js";
import { readOutlook } from "../../src/report/outlook.js";

/** A brand of which each month is refunded in the same steps, watched from a time on. */
const steps = [100, 50, 30, 20, 0, 0, 0];
const months = Array.from({ length: 12 }, (_, nth) => `2026-${String(nth + 1).padStart(2, "0")}`);

/** What the views say at the end of a month, of a mirror that was first read at `since`. */
function mirrorOf(since: string, through: string, scale = (_month: string, _age: number) => 1) {
  const nth = (month: string) => months.indexOf(month.slice(0, 7));
  const closed = months.filter((month) => month <= through);
  const cells: TriangleCell[] = closed.flatMap((month) =>
    steps.flatMap((step, age) => {
      const at = nth(month) + age;
      if (at > nth(through) || at < nth(since) || step === 0) return [];
      return [{ month, currency: "EUR", age_months: age, refunded_amount: step * scale(month, age) }];
    }),
  );
  const told = closed.map((month) => {
    const passed = steps.slice(0, nth(through) - nth(month) + 1);
    const sum = passed.reduce((total, step, age) => total + step * scale(month, age), 0);
    const refunded_amount = Number(sum.toFixed(6));
    return { month, currency: "EUR", refunded_amount } as MonthFigures;
  });
  const reported = closed.map((month) => {
    const after = `${months[nth(month) + 1] ?? "2027-01"}-01T02:00:00.000Z`;
    return { month, currency: "EUR", reported_at: after < since ? since : after } as Restatement;
  });
  return readOutlook("EUR", told, reported, cells);
}

describe("what is still to be refunded", () => {
  test("is what months of the same growth came to", () => {
    const { months: young, to_come, why_none, through, standard_error } = mirrorOf("2026-01-01", "2026-10");
    expect({ why_none, through, to_come, standard_error }).toEqual({
      why_none: null,
      through: "2026-10",
      to_come: 100 + 50 + 20,
      standard_error: 0,
    });
    const still = young.filter((month) => month.to_come !== 0);
    expect(still.map(({ month, refunded, to_come: rest }) => [month, refunded, rest])).toEqual([
      ["2026-08", 180, 20],
      ["2026-09", 150, 50],
      ["2026-10", 100, 100],
    ]);
  });

  test("takes what adds up to nothing for nothing: sums of cents are not exact", () => {
    const later: Record<number, number> = { 1: 10.1 / 50, 2: 20.2 / 30 };
    const scale = (month: string, age: number) => (month === "2026-02" ? (later[age] ?? 0) : 1);
    const { to_come, standard_error } = mirrorOf("2026-01-01", "2026-10", scale);
    expect(to_come).toBeLessThan(1_000);
    expect(standard_error).toBeLessThan(1_000);
  });

  test("is known too of a mirror that came later, since what was refunded by then is in the month's sum", () => {
    const { to_come, why_none } = mirrorOf("2026-06-15T02:00:00.000Z", "2026-11");
    expect({ to_come, why_none }).toEqual({ to_come: 170, why_none: null });
  });

  test("has a range where months did not grow alike", () => {
    const { to_come, standard_error } = mirrorOf("2026-01-01", "2026-10", (month, age) =>
      month === "2026-03" && age === 1 ? 2 : 1,
    );
    expect(to_come).toBeGreaterThan(170);
    expect(standard_error).toBeGreaterThan(10);
    expect(standard_error).toBeLessThan(to_come);
  });

  test("is not told where too little was seen, with the reason", () => {
    const young = mirrorOf("2026-09-15T02:00:00.000Z", "2026-11");
    expect(young).toMatchObject({ months: [], to_come: 0 });
    expect(young.why_none).toBe(
      "this mirror has watched refunds since 15 Sep 2026, and it takes 3 whole months or more of watching to tell how refunds grow",
    );
    expect(readOutlook("EUR", [], [], []).why_none).toBe("no month was read to its end yet");
  });

  test("is unknown of a month of which nothing was refunded: the method multiplies what is there", () => {
    const none = mirrorOf("2026-01-01", "2026-10", (month) => (month === "2026-10" ? 0 : 1));
    expect(none.months.find(({ month }) => month === "2026-10")).toEqual({
      month: "2026-10",
      refunded: 0,
      to_come: null,
      standard_error: null,
    });
    expect(none.to_come).toBe(70);
  });
});
