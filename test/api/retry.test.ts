import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/api/faults.js";
import { nextTry, type Situation } from "../../src/api/retry.js";

const status = (code: number, retryAfterMs: number | null = null): Fault => ({
  kind: "status",
  status: code,
  reason: "",
  retryAfterMs,
});
const network: Fault = { kind: "network", reason: "" };
const garbled: Fault = { kind: "garbled", reason: "" };
const permanent: Fault = { kind: "permanent", reason: "", hint: "" };

const usual: Situation = { attempt: 1, idleMs: 0, maxWaitMs: 300_000, budgetFreeMs: null, random: 0.5 };
const wait = (fault: Fault, given: Partial<Situation> = {}) =>
  nextTry(fault, { ...usual, ...given })?.waitMs ?? null;

describe("the next try", () => {
  it.each([408, 429, 500, 502, 503, 504, 520])("comes after %i", (code) => {
    expect(wait(status(code))).toBe(250);
  });

  it.each([201, 204, 301, 302, 304, 400, 401, 402, 403, 404, 405, 410, 418, 422, 501, 505])(
    "never comes after %i",
    (code) => {
      expect(wait(status(code, 1_000))).toBeNull();
    },
  );

  it("comes after a broken connection, not after an untrusted certificate", () => {
    expect(wait(network)).toBe(250);
    expect(wait(permanent)).toBeNull();
  });

  it("after a body that is not JSON comes four times at most", () => {
    expect([1, 2, 3, 4, 5].map((attempt) => wait(garbled, { attempt, random: 0 }))).toEqual([
      0,
      0,
      0,
      0,
      null,
    ]);
  });

  it.each([
    [1, 500],
    [2, 1_000],
    [3, 2_000],
    [6, 16_000],
    [7, 30_000],
    [500, 30_000],
  ])("after failure %i waits anything from 0 to %i ms (full jitter)", (attempt, most) => {
    expect(wait(network, { attempt, random: 0 })).toBe(0);
    expect(wait(network, { attempt, random: 1 })).toBe(most);
  });

  it.each([
    ["as told, and a little more", 20_000, {}, 20_125],
    ["as told by a 503 too", 20_000, {}, 20_125],
    ["as told, to the very end", 199_950, { idleMs: 100_000 }, 200_000],
    ["not at all when told longer than is left", 200_001, { idleMs: 100_000 }, null],
    ["not at all when nothing is left", 1_000, { idleMs: 300_000 }, null],
    ["not at all without retries", 1_000, { maxWaitMs: 0 }, null],
  ] as const)("waits %s", (name, retryAfterMs, given, expected) => {
    expect(wait(status(name.includes("503") ? 503 : 429, retryAfterMs), given)).toBe(expected);
  });

  it("after a 429 without Retry-After waits until the own window has room, if that is what it takes", () => {
    expect(wait(status(429), { budgetFreeMs: 42_000 })).toBe(42_000);
    expect(wait(status(429), { budgetFreeMs: 10, attempt: 4 })).toBe(2_000);
    expect(wait(status(503), { budgetFreeMs: 42_000 })).toBe(250);
  });

  it("is made one last time at the very end of the patience, then never again", () => {
    expect(wait(network, { idleMs: 299_900, attempt: 9 })).toBe(100);
    expect(wait(network, { idleMs: 299_996 })).toBeNull();
    expect(wait(network, { idleMs: 300_001 })).toBeNull();
  });

  it("is never made after a negative or an unbounded wait", () => {
    for (const fault of [network, garbled, status(429, 900), status(429), status(500)]) {
      for (const attempt of [1, 2, 3, 4]) {
        for (const idleMs of [0, 1, 5_000, 299_000]) {
          const ms = wait(fault, { attempt, idleMs, random: 0.999, budgetFreeMs: 59_000 });
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(300_000 - idleMs);
        }
      }
    }
  });
});
