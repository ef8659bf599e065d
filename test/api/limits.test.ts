import { describe, expect, it } from "vitest";
import { readRetryAfter, readServerLimit } from "../../src/api/limits.js";

const now = Date.parse("2026-10-20T12:00:00Z");

describe("rate-limit headers", () => {
  it.each([
    [
      { "RateLimit-Remaining": "0", "RateLimit-Reset": "30" },
      { remaining: 0, resetMs: 30_000 },
    ],
    [
      { "X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "30" },
      { remaining: 7, resetMs: 30_000 },
    ],
    [
      { "X-Rate-Limit-Remaining": "7", "X-Rate-Limit-Reset": "1.5" },
      { remaining: 7, resetMs: 1_500 },
    ],
    [
      { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(now / 1_000 + 20) },
      { remaining: 0, resetMs: 20_000 },
    ],
    [
      { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(now + 20_000) },
      { remaining: 0, resetMs: 20_000 },
    ],
    [
      { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2026-10-20T12:00:20Z" },
      { remaining: 0, resetMs: 20_000 },
    ],
    [
      { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2026-10-20T11:00:00Z" },
      { remaining: 0, resetMs: 0 },
    ],
    [{ RateLimit: '"default";r=0;t=30' }, { remaining: 0, resetMs: 30_000 }],
    [{ RateLimit: '"day";r=900;t=40000, "minute";r=3;t=12' }, { remaining: 3, resetMs: 12_000 }],
    [{ RateLimit: "limit=60, remaining=0, reset=30" }, { remaining: 0, resetMs: 30_000 }],
    [{ RateLimit: "limit=60;remaining=4;reset=30" }, { remaining: 4, resetMs: 30_000 }],
    [{ "RateLimit-Remaining": "5" }, { remaining: 5, resetMs: null }],
    [
      { "RateLimit-Remaining": "5", "RateLimit-Reset": "soon" },
      { remaining: 5, resetMs: null },
    ],
    [
      { "RateLimit-Remaining": "59, 59;w=60", "RateLimit-Reset": "30" },
      { remaining: 59, resetMs: 30_000 },
    ],
    [{ "RateLimit-Remaining": "many" }, null],
    [{ "RateLimit-Limit": "60" }, null],
    [{ RateLimit: "what?" }, null],
    [{}, null],
  ] as const)("%j say %j", (headers, expected) => {
    expect(readServerLimit(new Headers(headers), now)).toEqual(expected);
  });

  it("that name an instant are read by the server's own clock where it tells it", () => {
    const headers = new Headers({
      date: "Tue, 20 Oct 2026 15:00:00 GMT",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "2026-10-20T15:00:09Z",
    });
    expect(readServerLimit(headers, now)?.resetMs).toBe(9_000);
  });
});

describe("Retry-After", () => {
  it.each([
    ["30", 30_000],
    [" 2 ", 2_000],
    ["1.5", 1_500],
    ["31536000", 31_536_000_000],
    ["99999999999", null],
    ["Tue, 20 Oct 2026 12:00:45 GMT", 45_000],
    ["Tue, 20 Oct 2026 11:59:00 GMT", null],
    ["0", null],
    ["-5", null],
    ["later", null],
    ["", null],
  ])("%j is %j ms", (value, expected) => {
    expect(readRetryAfter(new Headers({ "retry-after": value }), now)).toBe(expected);
  });

  it("is null when it is not there", () => {
    expect(readRetryAfter(new Headers(), now)).toBeNull();
  });
});
