import { expect, it } from "vitest";
import { parseDateHeader, parseRetryAfter, parseServerLimit } from "../../src/api/headers.js";
import { visible } from "../support/visible.js";

const now = Date.parse("2026-10-20T12:00:00Z");

it.each([
  ["RateLimit-", "0", "30", 0, 30_000],
  ["X-RateLimit-", "7", "30", 7, 30_000],
  ["X-Rate-Limit-", "7", "1.5", 7, 1_500],
  ["X-RateLimit-", "0", String(now / 1_000 + 20), 0, 20_000],
  ["X-RateLimit-", "0", String(now + 20_000), 0, 20_000],
  ["X-RateLimit-", "0", "2026-10-20T12:00:20Z", 0, 20_000],
  ["X-RateLimit-", "0", "2026-10-20T11:00:00Z", 0, 0],
  ["X-RateLimit-", "0", String(now / 1_000 - 20), 0, 0],
  ["X-RateLimit-", "0", "86400", 0, 86_400_000],
  ["RateLimit-", "59, 59;w=60", "30", 59, 30_000],
])(
  "at 2026-10-20T12:00:00Z, the headers `%sRemaining: %s` and `Reset: %s` allow %i more requests in the next %i ms",
  (prefix, value, reset, remaining, resetMs) => {
    const headers = new Headers({ [`${prefix}Remaining`]: value, [`${prefix}Reset`]: reset });
    expect(parseServerLimit(headers, now)).toEqual({ remaining, resetMs });
  },
);

const unusable = [
  ["RateLimit-", "5", "soon"],
  ["RateLimit-", "5", ""],
  ["X-RateLimit-", "5", "2814, 2"],
  ["X-RateLimit-", "5", "86401"],
  ["X-RateLimit-", "5", "3600000"],
  ["X-RateLimit-", "5", String(now / 1_000 + 999_999)],
  ["X-RateLimit-", "5", "2026-10-22T12:00:20Z"],
  ["RateLimit-", "many", "30"],
] as const;

it.each(unusable)(
  "the headers `%sRemaining: %s` and `Reset: %s` are ignored, because one is invalid or the reset is more than a day away",
  (prefix, remaining, reset) => {
    const headers = new Headers({ [`${prefix}Remaining`]: remaining, [`${prefix}Reset`]: reset });
    expect(parseServerLimit(headers, now)).toBeNull();
  },
);

it.each([
  ['"default";r=0;t=30', 0, 30_000],
  ['"day";r=900;t=40000, "minute";r=3;t=12', 3, 12_000],
  ["limit=60, remaining=0, reset=30", 0, 30_000],
  ["limit=60;remaining=4;reset=30", 4, 30_000],
])("the header `RateLimit: %s` allows %i more requests in the next %i ms", (text, remaining, resetMs) => {
  expect(parseServerLimit(new Headers({ RateLimit: text }), now)).toEqual({ remaining, resetMs });
});

it("a RateLimit header in an unknown format is ignored", () => {
  expect(parseServerLimit(new Headers({ RateLimit: "what?" }), now)).toBeNull();
});

it("the time until the rate limit resets is measured from the server's Date header", () => {
  const headers = new Headers({
    date: "Tue, 20 Oct 2026 15:00:00 GMT",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "2026-10-20T15:00:09Z",
  });
  expect(parseServerLimit(headers, now)?.resetMs).toBe(9_000);
});

it.each([
  ["30", 30_000],
  ["1", 1_000],
  ["1.5", 1_500],
  ["Tue, 20 Oct 2026 12:00:45 GMT", 45_000],
  ["Tuesday, 20-Oct-26 12:00:45 GMT", 45_000],
  ["Wednesday, 21-Oct-26 12:00:00 GMT", 86_400_000],
  ["2026-10-20T12:00:45Z", 45_000],
])("at 2026-10-20T12:00:00Z, the header Retry-After: %j requests a delay of %i ms", (value, expected) => {
  expect(parseRetryAfter(new Headers({ "retry-after": value }), now)).toBe(expected);
});

it("the delay until a date in a Retry-After header is measured from the server's Date header", () => {
  const headers = new Headers({
    date: "Tue, 20 Oct 2026 15:00:00 GMT",
    "retry-after": "Tue, 20 Oct 2026 15:00:09 GMT",
  });
  expect(parseRetryAfter(headers, now)).toBe(9_000);
});

it.each(
  [
    "Tue, 20 Oct 2026 11:59:00 GMT",
    "Tue, 20 Oct 2026 12:00:00 GMT",
    "0",
    "-5",
    "later",
    "",
    "2814, 2",
    "3600, 1",
    "30, 30",
    "in 40",
    "Tue, 20 Oct 2026 12:00:45 GMT, Tue, 20 Oct 2026 12:00:45 GMT",
    "Thu, 22 Oct 2026 12:00:45 GMT",
    "in 2026",
    "Infinity",
    "1e9",
  ].map((value) => [visible(value), value]),
)("at 2026-10-20T12:00:00Z, a Retry-After header is ignored if its value is %s", (_, value = "") => {
  expect(parseRetryAfter(new Headers({ "retry-after": value }), now)).toBeNull();
});

it.each(["Mon, 19 Oct 2026 12:00:07 GMT", "Monday, 19-Oct-26 12:00:07 GMT", "2026-10-19T12:00:07Z"])(
  "the header Date: %j is parsed as a time",
  (date) => {
    expect(parseDateHeader(new Headers({ date }))).toBe(Date.parse("2026-10-19T12:00:07Z"));
  },
);

it.each(
  [
    "2814, 2",
    "Tue, 20 Oct 2026 12:00:07 GMT, Tue, 20 Oct 2026 12:00:07 GMT",
    "Tue, 40 Oct 2026 12:00:07 GMT",
    "in 2026",
    "",
  ].map((date) => [visible(date), date]),
)("a Date header is ignored if its value is %s", (_, date = "") => {
  expect(parseDateHeader(new Headers({ date }))).toBeNull();
});
