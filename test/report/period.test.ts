import { describe, expect, test } from "vitest";
import { parseInstant } from "../../src/lib/times.js";
import { choosePeriod } from "../../src/report/period.js";

const reached = "2026-11-22T17:00:00.000Z";

/** What `--since` and `--until` make of it, for a mirror that was read up to `at`. */
function period(since?: string, until?: string, at = reached, from: string | null = null) {
  const instant = (text: string | undefined, edge: "start" | "end") =>
    text === undefined ? undefined : parseInstant(text, edge, Date.parse(at));
  const asked = { since: instant(since, "start"), until: instant(until, "end") };
  return choosePeriod(asked, Date.parse(at), [{ from, to: at }]);
}

describe("the period of a report", () => {
  test("is compared with nothing where a part of the time before was never read", () => {
    const isRead = (from: string) => period("2026-11", "2026-11", reached, from).before.is_read;
    expect(isRead("2026-10-01T00:00:00.000Z")).toBe(true);
    expect(isRead("2026-10-01T00:00:01.000Z")).toBe(false);
  });

  test("is without a word the month of the last whole day, beside as many days of the month before", () => {
    expect(period()).toEqual({
      since: "2026-11-01",
      until: "2026-11-30",
      name: "November 2026",
      slug: "2026-11",
      through: "2026-11-22",
      is_partial: true,
      is_read: true,
      before: { since: "2026-10-01", until: "2026-10-22", name: "1 to 22 Oct 2026", is_read: true },
    });
    expect(period(undefined, undefined, "2026-11-01T04:57:00.000Z")).toMatchObject({
      name: "October 2026",
      is_partial: false,
      before: { name: "September 2026" },
    });
  });

  test("is a month beside the whole month before", () => {
    expect(period("2026-03", "2026-03")).toMatchObject({
      slug: "2026-03",
      is_partial: false,
      before: { since: "2026-02-01", until: "2026-02-28", name: "February 2026", is_read: true },
    });
  });

  test("has no more days before than the month before has", () => {
    expect(period("2026-03", "2026-03", "2026-03-30T12:00:00.000Z").before).toMatchObject({
      since: "2026-02-01",
      until: "2026-02-28",
    });
  });

  test("is any days beside as many days before them", () => {
    expect(period("2026-10-05", "2026-10-11")).toMatchObject({
      name: "5 to 11 Oct 2026",
      slug: "2026-10-05-to-2026-10-11",
      before: { since: "2026-09-28", until: "2026-10-04", name: "28 Sep to 4 Oct 2026", is_read: true },
    });
    expect(period("7d")).toMatchObject({
      since: "2026-11-15",
      until: "2026-11-22",
      is_partial: true,
      before: { since: "2026-11-07", until: "2026-11-14" },
    });
    expect(period("2026-10-05", "2026-10-05")).toMatchObject({ name: "5 Oct 2026", slug: "2026-10-05" });
  });

  test("is a quarter beside the quarter before, and days over New Year beside those before", () => {
    expect(period("2026-07", "2026-09").before).toMatchObject({ since: "2026-04-01", until: "2026-06-30" });
    expect(period("2025-12-30", "2026-01-02")).toMatchObject({ name: "30 Dec 2025 to 2 Jan 2026" });
  });
});
