import { expect, it } from "vitest";
import { classifyStatus, type RequestFailure } from "../../src/api/request-errors.js";
import { retryDelay } from "../../src/api/retry.js";

const unavailable = (status: number, retryAfterMs: number | null = null): RequestFailure => ({
  kind: "unavailable",
  status,
  reason: "",
  retryAfterMs,
});
const network: RequestFailure = { kind: "network", reason: "" };
const invalidBody: RequestFailure = { kind: "invalid-body", reason: "" };
const permanent: RequestFailure = { kind: "permanent", reason: "", hint: "" };

const defaults = { attempt: 1, remainingMs: 300_000, random: 0.5 };
const wait = (failure: RequestFailure, given: Partial<typeof defaults> = {}) =>
  retryDelay(failure, { ...defaults, ...given });

const classify = (status: number) => classifyStatus({ status, headers: new Headers(), body: null }, 0);

it.each([
  [408, " Request Timeout"],
  [429, " Too Many Requests"],
  [500, " Internal Server Error"],
  [501, " Not Implemented"],
  [502, " Bad Gateway"],
  [503, " Service Unavailable"],
  [504, " Gateway Timeout"],
  [520, ""],
  [599, ""],
])("a request is retried after HTTP %i%s", (status, name) => {
  expect(classify(status)).toMatchObject({ kind: "unavailable", reason: `HTTP ${status}${name}` });
  expect(wait(unavailable(status))).toBe(250);
});

it.each([201, 204, 301, 302, 304, 400, 401, 402, 403, 404, 405, 410, 418, 422])(
  "a request is not retried after HTTP %i",
  (status) => {
    expect(classify(status).kind).toBe("rejected");
  },
);

it("a request is retried after a network error, but not if the certificate is untrusted", () => {
  expect([wait(network), wait(permanent)]).toEqual([250, null]);
});

it("a request is retried at most four times if the body is not JSON", () => {
  const waits = [1, 2, 3, 4, 5].map((attempt) => wait(invalidBody, { attempt, random: 0 }));
  expect(waits).toEqual([0, 0, 0, 0, null]);
});

it.each([
  [1, 500],
  [2, 1_000],
  [3, 2_000],
  [6, 16_000],
  [7, 30_000],
  [2_000, 30_000],
])("the wait after failed attempt %i is a random time of at most %i ms", (attempt, maximum) => {
  expect([0, 1].map((random) => wait(network, { attempt, random }))).toEqual([0, maximum]);
});

it.each([
  [
    "a retry after HTTP 429 waits for the Retry-After plus a small random time",
    unavailable(429, 20_000),
    300_000,
    20_125,
  ],
  [
    "a retry after HTTP 503 waits for the Retry-After plus a small random time",
    unavailable(503, 20_000),
    300_000,
    20_125,
  ],
  [
    "a retry waits exactly until --max-wait expires if the Retry-After takes up nearly all of that time",
    unavailable(429, 199_950),
    200_000,
    200_000,
  ],
  [
    "a request is not retried if the Retry-After exceeds the remaining --max-wait",
    unavailable(429, 200_001),
    200_000,
    null,
  ],
  ["the wait before a retry does not exceed the remaining --max-wait", network, 100, 100],
  ["a request is retried if 6 ms of --max-wait remain", network, 6, 6],
  ["a request is not retried if 5 ms of --max-wait remain", network, 5, null],
  ["a request is not retried after --max-wait has expired", unavailable(429, 1_000), 0, null],
] as const)("%s", (_, failure, remainingMs, expected) => {
  expect(wait(failure, { remainingMs, attempt: 3 })).toBe(expected);
});
