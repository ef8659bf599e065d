import { expect, test } from "vitest";
import { parseInstant } from "../../src/cli/time-flags.js";
import type { DateRange } from "../../src/query/health.js";
import { choosePeriod } from "../../src/report/period.js";
import type { TimeRange } from "../../src/util/time-ranges.js";

/** Returns the period for `--since` and `--until` if orders have been read up to `reached`. */
function period(since?: string, until?: string, reached = "2026-11-22T17:00:00.000Z", read?: DateRange[]) {
  const instant = (text: string | undefined, edge: "start" | "end") =>
    text === undefined ? undefined : parseInstant(text, "--since", edge, Date.parse(reached));
  const requested = { since: instant(since, "start"), until: instant(until, "end") };
  return choosePeriod(requested, Date.parse(reached), parseRanges(read ?? [{ from: null, to: reached }]));
}

function parseRanges(ranges: readonly DateRange[]): TimeRange[] {
  const from = (text: string | null) => (text === null ? Number.NEGATIVE_INFINITY : Date.parse(text));
  return ranges.map((range) => ({ from: from(range.from), to: Date.parse(range.to) }));
}

const month = (name: string, reached: string) => period(name, name, reached);
const days = (one: { since: string; until: string } | null) => one && `${one.since} ${one.until}`;

test.each([
  ["2026-11", "2026-11-23T12:00:00Z", "2026-11-22", "2026-10-01", "2026-10-22"],
  ["2026-12", "2026-12-02T05:00:00Z", "2026-12-01", "2026-11-01", "2026-11-01"],
  ["2026-11", "2026-11-30T12:00:00Z", "2026-11-29", "2026-10-01", "2026-10-29"],
  ["2026-11", "2026-11-30T23:59:59.999Z", "2026-11-30", "2026-10-01", "2026-10-31"],
  ["2026-03", "2026-03-31T12:00:00Z", "2026-03-30", "2026-02-01", "2026-02-28"],
  ["2026-02", "2026-11-23T12:00:00Z", "2026-02-28", "2026-01-01", "2026-01-31"],
])(
  "a report on %s, with orders read up to %s, ends on %s and is compared with %s to %s",
  (name, reached, through, since, until) => {
    expect(month(name, reached)).toMatchObject({ through, before: { since, until } });
  },
);

test("a report on a month is partial until the month's last day has been fully read", () => {
  expect(month("2026-11", "2026-11-30T23:59:59.998Z").is_partial).toBe(true);
  expect(month("2026-11", "2026-11-30T23:59:59.999Z").is_partial).toBe(false);
  expect(month("2026-11", "2026-12-05T12:00:00Z").is_partial).toBe(false);
});

test("on the first day of a month, that month's report contains no comparison", () => {
  expect(month("2026-12", "2026-12-01T05:00:00Z")).toMatchObject({ through: "2026-12-01", before: null });
});

test("a report's default period is the month of the last complete day", () => {
  expect(period(undefined, undefined, "2026-12-01T05:00:00Z").name).toBe("November 2026");
  expect(period(undefined, undefined, "2026-12-01T23:59:59.998Z").name).toBe("November 2026");
  expect(period(undefined, undefined, "2026-12-01T23:59:59.999Z").name).toBe("December 2026");
});

test("a report without `--since` starts with the month of `--until`, and a report without `--until` ends on the last day with data", () => {
  expect(period(undefined, "2026-11-10")).toMatchObject({ since: "2026-11-01", until: "2026-11-10" });
  expect(period("2026-09-15")).toMatchObject({ since: "2026-09-15", until: "2026-11-22" });
});

test("a report compares a month with the same days of the previous year, ending on 28 February if the month ends on 29 February", () => {
  expect(days(month("2026-11", "2026-11-23T12:00:00Z").year_ago)).toBe("2025-11-01 2025-11-22");
  expect(days(month("2024-02", "2024-03-01T00:00:00Z").year_ago)).toBe("2023-02-01 2023-02-28");
  expect(days(month("2024-02", "2024-03-01T00:00:00Z").before)).toBe("2024-01-01 2024-01-31");
  expect(period("2026-11-02", "2026-11-08").year_ago).toBeNull();
  expect(month("2026-10", "2026-11-23T12:00:00Z")).toMatchObject({
    slug: "2026-10",
    before: { name: "Sep 2026" },
    year_ago: { name: "Oct 2025" },
  });
});

test("a report compares a period other than a month with the same number of preceding days", () => {
  expect(period("2026-10-05", "2026-10-11")).toMatchObject({
    name: "5–11 Oct 2026",
    slug: "2026-10-05-to-2026-10-11",
    before: { since: "2026-09-28", until: "2026-10-04", name: "28 Sep – 4 Oct 2026" },
  });
  expect(period("7d")).toMatchObject({ since: "2026-11-15", through: "2026-11-21", is_partial: true });
  expect(days(period("7d").before)).toBe("2026-11-08 2026-11-14");
  expect(period("2025-12-30", "2026-01-02").name).toBe("30 Dec 2025 – 2 Jan 2026");
  expect(period("2026-10-05", "2026-10-05")).toMatchObject({
    name: "5 Oct 2026",
    slug: "2026-10-05",
    before: { since: "2026-10-04", until: "2026-10-04" },
  });
  expect(period("2026-10-01", "2026-10-30").slug).toBe("2026-10-01-to-2026-10-30");
  expect(period("2026-10-02", "2026-10-31").slug).toBe("2026-10-02-to-2026-10-31");
});

const since = (from: string): DateRange[] => [{ from, to: "2026-11-22T17:00:00.000Z" }];

test("a report contains no comparison if the mirror contains only part of the preceding days", () => {
  const comparison = (from: string) => period("2026-11", "2026-11", undefined, since(from)).before;
  expect(comparison("2026-10-01T00:00:00.000Z")).not.toBeNull();
  expect(comparison("2026-10-01T00:00:01.000Z")).toBeNull();
});

test("a report contains no comparison if the first order is newer than the preceding days", () => {
  const reached = Date.parse("2026-11-22T17:00:00Z");
  const comparison = (first: string) =>
    choosePeriod(
      { since: undefined, until: undefined },
      reached,
      [{ from: Number.NEGATIVE_INFINITY, to: reached }],
      first,
    ).before;
  expect([comparison("2026-10-21") !== null, comparison("2026-10-22")]).toEqual([true, null]);
});

test("a report on a month contains no comparison if the mirror does not contain the start of that month", () => {
  const one = period("2026-10", "2026-10", undefined, since("2026-10-03T00:00:00.000Z"));
  expect(one.before).toBeNull();
});

test("if a report's period contains unread days, the report lists them, includes only the days before them, and contains no comparison", () => {
  const read = [
    { from: null, to: "2026-02-15T11:00:00.000Z" },
    { from: "2026-02-20T00:00:00.000Z", to: "2026-03-01T08:00:00.000Z" },
    { from: "2026-05-01T00:00:00.000Z", to: "2026-11-22T17:00:00.000Z" },
  ];
  expect(period("2026-02", "2026-02", undefined, read)).toMatchObject({
    from: "2026-02-01",
    through: "2026-02-14",
    is_partial: true,
    unread: [{ since: "2026-02-15", until: "2026-02-19" }],
    before: null,
    year_ago: null,
  });
  expect(period("2026-02-01", "2026-04-30", undefined, read).unread).toEqual([
    { since: "2026-02-15", until: "2026-02-19" },
    { since: "2026-03-01", until: "2026-04-30" },
  ]);
  expect(period("2026-10", "2026-10", undefined, read)).toMatchObject({ unread: [], is_partial: false });
});

test("a report on an unfinished month lists no unread days", () => {
  const one = period("2026-11", "2026-11");
  expect([one.unread, one.through, days(one.before)]).toEqual([[], "2026-11-21", "2026-10-01 2026-10-21"]);
});
