import { expect, test } from "vitest";
import { createSandboxApi } from "../../src/sandbox/api.js";
import { noon } from "../support/records.js";
import { history } from "./support.js";

function limited(rateLimit: number | null) {
  let now = noon;
  const api = createSandboxApi({ brands: [history], now: () => now, rateLimit });
  return {
    pass: (ms: number) => {
      now += ms;
    },
    ask(key = 0, address = "127.0.0.1", path = "/me") {
      const headers = { authorization: `Bearer ${history.keys[key]?.secret}` };
      return api.handle({ method: "GET", url: `/api/brand/v1${path}`, headers, address });
    },
  };
}

test("a key that exceeds its request limit within 60 seconds gets 429 with Retry-After", () => {
  const { ask, pass } = limited(3);
  expect([ask(), ask()].map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual(["2", "1"]);
  pass(10_000);
  // Requests with a different key do not count toward the limit.
  ask(1);
  ask(1);
  pass(10_500);
  expect([ask().status, ask().status]).toEqual([200, 429]);
  pass(39_500);
  // Rejected requests count as well, so the window contains two requests.
  expect(ask()).toMatchObject({ status: 200, headers: { "x-ratelimit-reset": "60" } });
  expect(ask()).toMatchObject({
    status: 429,
    headers: {
      "retry-after": "21",
      "x-ratelimit-limit": "3",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "21",
    },
  });
  expect(ask().headers["retry-after"]).toBe("60");
});

test("sandbox responses have no rate-limit headers if the rate limit is disabled", () => {
  const { status, headers } = limited(null).ask();
  expect([status, Object.keys(headers).sort()]).toEqual([200, ["content-type", "date"]]);
});

test("keys used from the same IP address share a rate limit that is twice the limit for a single key", () => {
  const { ask } = limited(2);
  expect([ask(0), ask(0), ask(1), ask(1), ask(7)].map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 429,
  ]);
  expect(ask(8).headers).toMatchObject({ "x-ratelimit-limit": "4", "retry-after": "60" });
  expect(ask(7, "127.0.0.2").status).toBe(200);
});

test("the sandbox checks the rate limit before everything else, and counts rejected requests toward the limit", () => {
  const { ask } = limited(2);
  expect(
    [ask(0, "", "/none"), ask(0, "", "/orders?foo=1"), ask(0, "", "/none")].map(({ status }) => status),
  ).toEqual([404, 400, 429]);
});
