import fc from "fast-check";
import { expect, test } from "vitest";
import {
  daysSince1970,
  formatDuration,
  formatInstantOrNull,
  formatMinute,
  formatStart,
  formatUtc,
  isTimestampText,
  parseTimestamp,
  parseTimestampParts,
} from "../../src/util/timestamps.js";
import { visible } from "../support/visible.js";

test.each([
  ["2026-11-20T11:00:00Z", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20t11:00:00z", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20 11:00:00", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20T11:00:00.5Z", "2026-11-20T11:00:00.500Z"],
  ["2026-11-20T11:00:00+00:00", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20 11:00:00+00", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20T00:30:00+0530", "2026-11-19T19:00:00.000Z"],
  ["2026-06-30T23:00:00-14:00", "2026-07-01T13:00:00.000Z"],
  ["2026-07-01T00:00:00+14:00", "2026-06-30T10:00:00.000Z"],
  ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
  ["1582-10-10T00:00:00Z", "1582-10-10T00:00:00.000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["2262-04-12T00:00:00Z", "2262-04-12T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"],
])("the timestamp %s is parsed as %s", (text, instant) => {
  const { ms = Number.NaN, hasSeconds } = parseTimestampParts(text) ?? {};
  expect(new Date(ms).toISOString()).toBe(instant);
  expect(hasSeconds).toBe(true);
  expect(Math.floor(parseTimestamp(text) ?? Number.NaN)).toBe(ms);
});

test.each([
  ["2026-11-20", "2026-11-20T00:00:00.000Z"],
  ["2026-11-20T11:00Z", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20T11:00", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20 11:00+02:00", "2026-11-20T09:00:00.000Z"],
])("the timestamp %s, which has no seconds, is parsed as %s", (text, instant) => {
  expect(parseTimestampParts(text)).toEqual({ ms: Date.parse(instant), micros: 0, hasSeconds: false });
});

const invalidTimestamps = [
  "2026-02-30T12:00:00Z",
  "2026-02-29",
  "2026-04-31T00:00:00Z",
  "2026-06-31",
  "2026-09-31",
  "2026-11-31",
  "1900-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-00-10T00:00:00Z",
  "2026-01-00T00:00:00Z",
  "2026-11-20T24:00:00Z",
  "2026-11-20T24:00Z",
  "2026-11-20T11:60:00Z",
  "2016-12-31T23:59:60Z",
  "2026-11-20T11:00:00+14:01",
  "2026-11-20T11:00:00-15:00",
  "2026-11-20T11:00:00+02:60",
  "2026-11-20T11:00:00+2",
  "2026-11-20T11:00:00 Z",
  "2026-11-20Z",
  " 2026-11-20T11:00:00Z",
  "2026-11-20T11:00:00Z ",
  "2026-11-20T11:00:00Z\n",
  "2026-11-20  11:00:00Z",
  "2026-11-20T 11:00:00Z",
  "2026-11-20T11:00:00.Z",
  "2026-11-20T11Z",
  "2026-11",
  "20261120T110000Z",
  "+002026-11-20T11:00:00Z",
  "-000001-01-01T00:00:00Z",
  "10000-01-01T00:00:00Z",
  "9999-12-31T23:00:00-02:00",
  "0000-01-01T01:00:00+02:00",
  "２０２６-11-20T11:00:00Z",
  "Fri, 20 Nov 2026 11:00:00 GMT",
  "1763636400",
  "31.01.2026",
  "soon",
  "",
];

test.each(invalidTimestamps.map((text) => [visible(text), text]))(
  "%s is rejected as a timestamp",
  (_, text) => {
    expect(parseTimestampParts(text)).toBeUndefined();
    expect(parseTimestamp(text)).toBeUndefined();
  },
);

test.each([
  ["2026-11-20T11:00:00.123456Z", 123, 456],
  ["2026-11-20T11:00:00.1234569Z", 123, 456],
  ["2026-11-20T11:00:00.000001Z", 0, 1],
  ["1969-12-31T23:59:59.999999999Z", 999, 999],
  ["1969-12-31T23:59:59.9999Z", 999, 900],
  ["9999-12-31T23:59:59.999999Z", 999, 999],
])(
  "the fraction of the second in %s is truncated to %i ms and %i µs, not rounded",
  (text, millis, micros) => {
    const start = Date.parse(`${text.slice(0, 19)}Z`);
    expect(parseTimestampParts(text)).toMatchObject({ ms: start + millis, micros });
    expect(Math.floor(parseTimestamp(text) ?? Number.NaN)).toBe(start + millis);
  },
);

test("parseTimestamp preserves microseconds as fractions of a millisecond for dates from 1970 to 2200", () => {
  const [earliest, latest] = [0, Date.parse("2200-01-01T00:00:00Z")];
  fc.assert(
    fc.property(
      fc.integer({ min: earliest, max: latest }),
      fc.integer({ min: 0, max: 999 }),
      (ms, micros) => {
        const text = new Date(ms).toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
        const instant = parseTimestamp(text) ?? Number.NaN;
        expect(Math.round((instant - ms) * 1_000)).toBe(micros);
      },
    ),
  );
});

test("parseTimestamp returns the same instant as JavaScript's Date from the year 0000 to 9999, with any offset up to 14:00", () => {
  const [earliest, latest] = [Date.parse("0000-01-02T00:00:00Z"), Date.parse("9999-12-30T00:00:00Z")];
  fc.assert(
    fc.property(
      fc.integer({ min: earliest, max: latest }),
      fc.integer({ min: -840, max: 840 }),
      (ms, offset) => {
        const pad = (n: number) => String(n).padStart(2, "0");
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const local = new Date(ms + offset * 60_000).toISOString().slice(0, -1);
        const text = `${local}${offset < 0 ? "-" : "+"}${pad(hours)}:${pad(minutes)}`;
        expect(parseTimestampParts(text)?.ms).toBe(ms);
      },
    ),
  );
});

test.each([
  ["1970-01-01", 0],
  ["1969-12-31", -1],
  ["2026-10-31", 20_757],
])("daysSince1970 converts the date %s to the day number %i", (text, days) => {
  expect(daysSince1970(text)).toBe(days);
});

const invalidDates = ["2026-02-30", "2026-13-01", " 2026-01-01", "2026-01-01T00:00:00Z", ""];

test.each(invalidDates.map((text) => [visible(text), text]))("daysSince1970 rejects %s", (_, text) => {
  expect(daysSince1970(text)).toBeUndefined();
});

test.each([
  [0, "0s"],
  [89_499, "89s"],
  [89_500, "2m"],
  [12 * 60_000, "12m"],
  [89.4 * 60_000, "89m"],
  [90 * 60_000, "2h"],
  [47.4 * 3_600_000, "47h"],
  [48 * 3_600_000, "2d"],
  [60 * 3_600_000, "3d"],
  [100 * 86_400_000, "100d"],
])("a duration of %d ms is printed as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("messages contain times to the minute, and the start of a day as a date without a time", () => {
  const noon = Date.parse("2026-01-31T12:00:59.999Z");
  expect([formatMinute(noon), formatMinute("2026-01-31T12:00:59.999Z")]).toEqual([
    "2026-01-31 12:00",
    "2026-01-31 12:00",
  ]);
  expect(formatStart("2026-01-31T00:00:00.000Z")).toBe("2026-01-31");
  expect(formatStart("2026-01-31T00:00:00.001Z")).toBe("2026-01-31 00:00");
  expect(formatInstantOrNull(Number.POSITIVE_INFINITY)).toBeNull();
  expect([formatInstantOrNull(noon), formatInstantOrNull(Number.NEGATIVE_INFINITY)]).toEqual([
    "2026-01-31T12:00:59.999Z",
    null,
  ]);
});

test.each([
  ["2026-10-31T23:30:00.000Z", 0, "2026-10-31 23:30:00"],
  ["2026-10-31T23:30:00.500Z", 0, "2026-10-31 23:30:00.5"],
  ["2026-10-31T23:30:10.000Z", 7, "2026-10-31 23:30:10.000007"],
  ["2026-10-31T23:30:00.100Z", 100, "2026-10-31 23:30:00.1001"],
])("formatUtc formats %s plus %d microseconds as %s", (instant, micros, text) => {
  expect(formatUtc({ ms: Date.parse(instant), micros })).toBe(text);
});

test.each([
  "2026-11-20T11:00:00Z",
  "2026-11-20T11:00:00.123Z",
  "2026-11-20 11:00:00",
  "2026-11-20 11:00:00.5",
])("the text %j is recognized as a timestamp in the API's or SQLite's format", (text) => {
  expect(isTimestampText(text)).toBe(true);
});

test.each([
  "2026-11-20",
  "2026-11-20T11:00:00",
  "2026-11-20 11:00:00Z",
  "at 2026-11-20 11:00:00",
  "2026-11-20 11:00:00 UTC",
])("the text %j is not recognized as a timestamp in the API's or SQLite's format", (text) => {
  expect(isTimestampText(text)).toBe(false);
});
