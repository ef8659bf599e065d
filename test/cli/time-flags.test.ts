import { expect, test } from "vitest";
import { parseDuration, parseInstant, parseSpan } from "../../src/cli/time-flags.js";
import { UsageError } from "../../src/errors.js";
import { formatDuration, formatInstant, parseTimestamp } from "../../src/util/timestamps.js";
import { visible } from "../support/visible.js";

const now = Date.parse("2026-11-21T12:00:00.000Z");

test.each([
  ["90s", 90_000],
  ["5m", 300_000],
  ["26h", 93_600_000],
  ["30d", 2_592_000_000],
  ["12w", 7_257_600_000],
  ["0s", 0],
])("the duration %s is parsed as %i ms", (text, ms) => {
  expect(parseDuration(text, "--window")).toBe(ms);
});

const invalidDurations = ["", "5", "5 m", "-5m", "1.5h", "5M", "5min", "9999999999d"];

test.each(invalidDurations.map((text) => [visible(text), text]))(
  "%s is rejected as a duration",
  (_, text) => {
    expect(() => parseDuration(text, "--window")).toThrow(UsageError);
  },
);

test("--window accepts a number of days without a unit", () => {
  expect(parseSpan("30", "--window")).toBe(parseDuration("30d", "--window"));
  expect(parseSpan("36h", "--window")).toBe(parseDuration("36h", "--window"));
});

test.each([
  ["2026-01-31", "start", "2026-01-31T00:00:00.000Z"],
  ["2026-01-31", "end", "2026-01-31T23:59:59.999Z"],
  ["2026-01-31T12:30:00Z", "start", "2026-01-31T12:30:00.000Z"],
  ["2026-01-31T12:30:00Z", "end", "2026-01-31T12:30:00.000Z"],
  ["2026-01-31T12:30:00.1239Z", "start", "2026-01-31T12:30:00.123Z"],
  ["2026-01-31T12:30:00.1231Z", "end", "2026-01-31T12:30:00.123Z"],
  ["2026-01-31T12:30", "start", "2026-01-31T12:30:00.000Z"],
  ["2026-01-31 12:30:00.25", "start", "2026-01-31T12:30:00.250Z"],
  ["2026-01-31T00:30:00+02:00", "start", "2026-01-30T22:30:00.000Z"],
  ["2026-01-31T00:30:00-0730", "start", "2026-01-31T08:00:00.000Z"],
  ["36h", "start", "2026-11-20T00:00:00.000Z"],
  ["1w", "end", "2026-11-14T12:00:00.000Z"],
  ["2026-10", "start", "2026-10-01T00:00:00.000Z"],
  ["2026-10", "end", "2026-10-31T23:59:59.999Z"],
  ["2026-11", "end", "2026-11-30T23:59:59.999Z"],
  ["2026-12", "end", "2026-12-31T23:59:59.999Z"],
  ["2026-02", "end", "2026-02-28T23:59:59.999Z"],
  ["2028-02", "end", "2028-02-29T23:59:59.999Z"],
  ["1900-02", "end", "1900-02-28T23:59:59.999Z"],
  ["0099-12", "end", "0099-12-31T23:59:59.999Z"],
  ["9999-12", "end", "9999-12-31T23:59:59.999Z"],
  ["today", "start", "2026-11-21T00:00:00.000Z"],
  ["today", "end", "2026-11-21T23:59:59.999Z"],
  ["yesterday", "start", "2026-11-20T00:00:00.000Z"],
  ["yesterday", "end", "2026-11-20T23:59:59.999Z"],
  ["this-month", "start", "2026-11-01T00:00:00.000Z"],
  ["this-month", "end", "2026-11-30T23:59:59.999Z"],
  ["last-month", "start", "2026-10-01T00:00:00.000Z"],
  ["last-month", "end", "2026-10-31T23:59:59.999Z"],
] as const)(
  "at 2026-11-21T12:00Z, `%s` as the %s of a range means %s in any time zone",
  (text, edge, instant) => {
    expect(formatInstant(parseInstant(text, "--since", edge, now))).toBe(instant);
  },
);

test.each([
  ["2027-01-01T00:00:00.000Z", "yesterday", "2026-12-31T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
  ["2027-01-01T00:00:00.000Z", "last-month", "2026-12-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
  ["2026-12-31T23:59:59.999Z", "this-month", "2026-12-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
  ["2026-03-31T12:00:00.000Z", "last-month", "2026-02-01T00:00:00.000Z", "2026-02-28T23:59:59.999Z"],
  ["2028-03-01T00:00:00.000Z", "yesterday", "2028-02-29T00:00:00.000Z", "2028-02-29T23:59:59.999Z"],
  ["2026-01-31T12:00:00.000Z", "this-month", "2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.999Z"],
])("if it is %s now, the word %s selects the range from %s to %s", (at, word, first, last) => {
  expect(formatInstant(parseInstant(word, "--since", "start", Date.parse(at)))).toBe(first);
  expect(formatInstant(parseInstant(word, "--since", "end", Date.parse(at)))).toBe(last);
});

const invalidTimes = [
  "2026-02-30",
  "2026-02-30T12:00:00Z",
  "2026-13-01",
  "2026-1-1",
  "20260101",
  "2026-13",
  "2026-00",
  "2026-1",
  "tomorrow",
  "2026-01-01T25:00:00Z",
  "2026-01-01T12:00:00+2",
  "999999999w",
  "",
];

test.each(invalidTimes.map((text) => [visible(text), text]))(
  "%s is rejected as a time, and the error names the valid formats",
  (_, text) => {
    expect(() => parseInstant(text, "--since", "start", now)).toThrow(
      expect.objectContaining({ exitCode: 2, hint: expect.stringContaining("2026-01-31T12:00:00Z") }),
    );
  },
);

test("parseTimestamp returns the same instant for timestamps that differ only in precision", () => {
  const instants = ["2026-01-31T12:30:00Z", "2026-01-31T12:30:00.000Z", "2026-01-31T12:30:00.000000+00:00"];
  expect(new Set(instants.map(parseTimestamp)).size).toBe(1);
});

test("parseTimestamp parses a date without a time as the start of the day", () => {
  expect(parseTimestamp("2026-01-31")).toBe(Date.UTC(2026, 0, 31));
});

test("parseTimestamp rejects months, words and other date formats", () => {
  for (const text of ["2026-01", "2026-13-01", "31.01.2026", "soon", ""])
    expect(parseTimestamp(text), text).toBeUndefined();
});

test.each([
  [0, "0s"],
  [89_000, "89s"],
  [90_000, "2m"],
  [5_340_000, "89m"],
  [7_200_000, "2h"],
  [172_800_000, "2d"],
])("a duration of %i ms is printed as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
