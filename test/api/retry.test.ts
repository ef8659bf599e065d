import { describe, expect, it } from "vitest";
import type { RequestFailure } from "../../src/api/request-failure.js";
import { planRetry } from "../../src/api/retry.js";

const status = (code: number, retryAfterMs: number | null = null): RequestFailure => ({
  kind: "status",
  status: code,
  reason: "",
  retryAfterMs,
});
const network: RequestFailure = { kind: "network", reason: "" };
const garbled: RequestFailure = { kind: "garbled", reason: "" };
const permanent: RequestFailure = { kind: "permanent", reason: "", hint: "" };

const usual = { attempt: 1, leftMs: 300_000, random: 0.5 };
const wait = (fault: RequestFailure, given: Partial<typeof usual> = {}) =>
  planRetry(fault, { ...usual, ...given })?.waitMs ?? null;

describe("the next try", () => {
  it.each([408, 429, 500, 502, 501, 503, 504, 520])("comes after %i", (code) => {
    expect(wait(status(code))).toBe(250);
  });

  it.each([201, 204, 301, 302, 304, 400, 401, 402, 403, 404, 405, 410, 418, 422])(
    "never comes after %i",
    (code) => {
      expect(wait(status(code, 1_000))).toBeNull();
    },
  );

  it("comes after a broken connection, not after an untrusted certificate", () => {
    expect([wait(network), wait(permanent)]).toEqual([250, null]);
  });

  it("after a body that is not JSON comes four times at most", () => {
    const waits = [1, 2, 3, 4, 5].map((attempt) => wait(garbled, { attempt, random: 0 }));
    expect(waits).toEqual([0, 0, 0, 0, null]);
  });

  it.each([
    [1, 500],
    [2, 1_000],
    [3, 2_000],
    [6, 16_000],
    [7, 30_000],
    [500, 30_000],
  ])("after failure %i waits anything from 0 to %i ms", (attempt, most) => {
    expect([0, 1].map((random) => wait(network, { attempt, random }))).toEqual([0, most]);
  });

  it.each([
    ["as told, and a little more", status(429, 20_000), 300_000, 20_125],
    ["as told by a 503, too", status(503, 20_000), 300_000, 20_125],
    ["as told, to the very end", status(429, 199_950), 200_000, 200_000],
    ["not at all if told longer than is left", status(429, 200_001), 200_000, null],
    ["to the very end of what is left", network, 100, 100],
    ["not at all if nothing is left", network, 5, null],
    ["not at all without retries", status(429, 1_000), 0, null],
  ] as const)("waits %s", (_, fault, leftMs, expected) => {
    expect(wait(fault, { leftMs, attempt: 3 })).toBe(expected);
  });
});
