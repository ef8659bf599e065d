import { describe, expect, test } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.js";
import { ask, handClock, noon, sandboxOf } from "./support.js";

async function limited(options: SandboxOptions = {}) {
  const clock = handClock();
  return { clock, sandbox: await sandboxOf({ rateLimit: 5, ...options }, clock) };
}

describe("rate limits", () => {
  test("a key has its limit in any 60 seconds, sliding: one request is free again exactly when one is 60 s old", async () => {
    const { clock, sandbox } = await limited();
    for (let n = 0; n < 5; n++) {
      expect((await ask(sandbox, "/me")).status).toBe(200);
      clock.move(10_000);
    }
    // 50 s after the first: still five in the last minute.
    clock.move(9_999);
    expect((await ask(sandbox, "/me")).status).toBe(429);
    // The refused one was counted too: the window now holds the last four and itself.
    clock.move(10_000);
    expect((await ask(sandbox, "/me")).status).toBe(429);
    clock.move(60_000);
    expect((await ask(sandbox, "/me")).status).toBe(200);
  });

  test("the first request after 60 s passes, one millisecond earlier it does not", async () => {
    for (const [wait, status] of [
      [59_999, 429],
      [60_000, 200],
    ] as const) {
      const { clock, sandbox } = await limited();
      for (let n = 0; n < 5; n++) await ask(sandbox, "/me");
      clock.move(wait);
      expect((await ask(sandbox, "/me")).status).toBe(status);
    }
  });

  test("an address has twice the limit over all keys, keyless and retired requests included", async () => {
    const { clock, sandbox } = await limited();
    const origin = new URL(sandbox.baseUrl).origin;
    for (let n = 0; n < 4; n++) expect((await ask(sandbox, "/me")).status).toBe(200);
    for (let n = 0; n < 3; n++) {
      expect((await ask(sandbox, "/me", { key: sandbox.keys.expiring.secret, method: "HEAD" })).status).toBe(
        200,
      );
    }
    expect((await fetch(`${origin}/api/brands/x/recommendations`)).status).toBe(410);
    expect((await ask(sandbox, "/me", { key: null })).status).toBe(401);
    expect((await ask(sandbox, "/nowhere")).status).toBe(404);
    expect((await ask(sandbox, "/me", { key: sandbox.keys["other-brand"].secret })).status).toBe(429);
    expect((await ask(sandbox, "/nowhere", { key: null })).status).toBe(429);
    clock.move(60_000);
    expect((await ask(sandbox, "/me")).status).toBe(200);
  });

  test("the limit of one key is not another's", async () => {
    const { sandbox } = await limited();
    for (let n = 0; n < 5; n++) await ask(sandbox, "/me");
    expect((await ask(sandbox, "/me")).status).toBe(429);
    expect((await ask(sandbox, "/me", { key: sandbox.keys.expiring.secret })).status).toBe(200);
  });

  test("every answer says what is left, under names of several styles", async () => {
    const x = await limited();
    const remaining: (string | null)[] = [];
    for (const path of ["/me", "/orders?bad=1", "/nowhere", "/me", "/me", "/me"]) {
      const { headers } = await ask(x.sandbox, path);
      remaining.push(headers.get("x-ratelimit-remaining"));
      expect(headers.get("x-ratelimit-limit")).toBe("5");
      expect(Number(headers.get("x-ratelimit-reset"))).toBe(noon / 1000 + 60);
    }
    expect(remaining).toEqual(["4", "3", "2", "1", "0", "0"]);

    const draft = await limited({ rateHeaders: "draft" });
    const { headers } = await ask(draft.sandbox, "/me");
    expect(["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`))).toEqual([
      "5",
      "4",
      "60",
    ]);

    const ietf = await limited({ rateHeaders: "ietf" });
    const standard = (await ask(ietf.sandbox, "/me")).headers;
    expect([standard.get("ratelimit-policy"), standard.get("ratelimit")]).toEqual([
      '"minute";q=5;w=60',
      '"minute";r=4;t=60',
    ]);

    const none = await limited({ rateHeaders: "none" });
    expect(
      [...(await ask(none.sandbox, "/me")).headers.keys()].filter((name) => name.includes("rate")),
    ).toEqual([]);
  });

  test("a 429 says when to come back in seconds, as a date, or not at all, and coming back then succeeds", async () => {
    for (const retryAfter of ["seconds", "date", "none"] as const) {
      const { clock, sandbox } = await limited({ retryAfter });
      for (let n = 0; n < 5; n++) {
        await ask(sandbox, "/me");
        clock.move(1_500);
      }
      const { status, headers } = await ask(sandbox, "/me");
      expect(status).toBe(429);
      const said = headers.get("retry-after");
      if (retryAfter === "none") {
        expect(said).toBeNull();
        continue;
      }
      // Counted with the refused one, the oldest of the last five is 6 s old.
      const wait = retryAfter === "seconds" ? Number(said) * 1000 : Date.parse(said ?? "") - clock.now();
      expect(wait).toBeGreaterThanOrEqual(54_000);
      expect(wait).toBeLessThanOrEqual(55_000);
      clock.move(wait);
      expect((await ask(sandbox, "/me")).status).toBe(200);
    }
  });

  test("without a limit nothing is refused and nothing said", async () => {
    const sandbox = await sandboxOf();
    for (let n = 0; n < 130; n++) expect((await ask(sandbox, "/me")).status).toBe(200);
    expect((await ask(sandbox, "/me")).headers.get("x-ratelimit-limit")).toBeNull();
  });
});
