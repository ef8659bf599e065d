import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { ApiEvents, ApiSettings } from "../../src/api/client.js";
import { RateLimiter } from "../../src/api/rate-limit.js";
import { loadSqlite } from "../../src/util/sqlite.js";
import { FakeClock, key, temporaryFolder } from "./support.js";

const never = new AbortController().signal;
const baseUrl = "https://api.test/api/brand/v1";

function openLimiter(clock: FakeClock, given: Partial<ApiSettings> = {}, events: ApiEvents = {}) {
  const statePath = given.statePath ?? join(temporaryFolder(), "state");
  const defaults = { baseUrl, key, rateLimit: 60, maxWaitMs: 0, userAgent: "" };
  const limiter = new RateLimiter({ ...defaults, ...given, statePath }, clock, events);
  onTestFinished(() => limiter.close());
  /** Sends requests that take `ms` milliseconds each, and returns the times at which they were sent. */
  const send = async (count: number, ms = 0) => {
    const times: number[] = [];
    for (let each = 0; each < count; each += 1) {
      const permit = await limiter.acquire(never);
      times.push(clock.mono);
      clock.pass(ms);
      limiter.endRequest(permit, null);
    }
    return times;
  };
  /** Sends a request, and returns its delay in milliseconds. */
  const waited = async () => {
    const start = clock.mono;
    const [sent = 0] = await send(1);
    return sent - start;
  };
  return { limiter, send, waited, statePath, file: join(statePath, "rate.sqlite") };
}

function maxPerMinute(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
}

it("the rate limit allows a burst of 60 requests, but no more than 60 requests in any minute", async () => {
  const clock = new FakeClock();
  const start = clock.mono;
  const times = await openLimiter(clock).send(190, 20);
  expect((times[59] ?? 0) - start).toBe(59 * 20);
  expect(maxPerMinute(times)).toBe(60);
  expect((times[189] ?? 0) - start).toBeLessThan(3 * 60_000 * 1.03);
});

it("a request counts toward the limit for a minute after its response, so the API never receives 61 requests in a minute", async () => {
  const clock = new FakeClock();
  const { send } = openLimiter(clock);
  const times = await send(60, 500);
  const [next = 0] = await send(1);
  expect(next - (times[0] ?? 0)).toBe(500 + 60_050);
});

it("all processes share one limit per API key and host, and all API keys together can use twice that limit", async () => {
  const clock = new FakeClock();
  const { send, statePath } = openLimiter(clock);
  const other = openLimiter(clock, { statePath });
  await send(30);
  await other.send(30);
  await openLimiter(clock, { statePath, key: "other key" }).send(60);
  await openLimiter(clock, { statePath, baseUrl: "http://127.0.0.1:9/api/brand/v1" }).send(60);
  expect(clock.slept).toEqual([]);
  const inOtherOrder = openLimiter(clock, { key: "other key" });
  await inOtherOrder.send(60);
  await openLimiter(clock, { statePath: inOtherOrder.statePath }).send(60);
  expect(clock.slept).toEqual([]);
  const waits: object[] = [];
  const third = openLimiter(clock, { statePath, key: "third key" }, { onWait: (wait) => waits.push(wait) });
  expect(await third.waited()).toBe(60_050);
  expect(waits).toEqual([{ ms: 60_050, reason: "rate-limit" }]);
});

it("a process with a low rate limit also counts requests from processes with a higher limit", async () => {
  const clock = new FakeClock();
  const { send, statePath } = openLimiter(clock);
  const times = await send(60, 100);
  const [next = 0] = await openLimiter(clock, { statePath, rateLimit: 10 }).send(1);
  expect(next).toBe((times[50] ?? 0) + 100 + 60_050);
});

it("a killed process's request counts toward the limit until the request can no longer reach the server", async () => {
  const clock = new FakeClock();
  const { limiter, statePath } = openLimiter(clock, { rateLimit: 1 });
  await limiter.acquire(never);
  expect(await openLimiter(clock, { rateLimit: 1, statePath }).waited()).toBe(70_000);
});

it.each([
  ["back to zero after a reboot", -900_000, 60_050],
  ["back by 30 seconds", -30_000, 60_050],
  ["forward by 30 seconds", 30_000, 30_050],
])("the rate limit is not exceeded if the clock jumps %s", async (_, jump, expected) => {
  const clock = new FakeClock();
  const { send, statePath } = openLimiter(clock);
  await send(60);
  clock.mono += jump;
  expect(await openLimiter(clock, { statePath }).waited()).toBe(expected);
});

it("the rate-limit file is readable only by its owner, and does not contain the API key", async () => {
  const { file, send, statePath } = openLimiter(new FakeClock());
  await send(3);
  expect([statePath, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  expect(readFileSync(file).includes(key)).toBe(false);
});

it("processes that run different versions of the program count each other's requests toward the limit", async () => {
  const clock = new FakeClock();
  const { file, send, waited } = openLimiter(clock);
  await send(20);
  const Sqlite = await loadSqlite();
  const db = new Sqlite(file);
  onTestFinished(() => void db.close());
  const earlier = "SELECT total(weight) FROM sent_requests WHERE key = ?";
  const hash = createHash("sha256").update(key).digest("hex");
  expect(db.prepare(earlier).pluck().get(hash)).toBe(20);
  const insert = "INSERT INTO sent_requests (origin, key, until, ms, weight) VALUES (?, ?, ?, 60000, 1)";
  for (let each = 0; each < 40; each += 1)
    db.prepare(insert).run(new URL(baseUrl).origin, hash, clock.mono + 60_000);
  expect(await waited()).toBe(60_000);
});

it("a request that is aborted before it is sent does not count toward the limit", async () => {
  const clock = new FakeClock();
  const { limiter, waited } = openLimiter(clock, { rateLimit: 1 });
  await expect(limiter.acquire(AbortSignal.abort(new Error("stop now")))).rejects.toThrow("stop now");
  expect(await waited()).toBe(0);
});

it("if the rate limit is disabled, requests are not delayed, and no rate-limit file is created", async () => {
  const clock = new FakeClock();
  const { send, statePath } = openLimiter(clock, { rateLimit: null });
  await send(500);
  expect(clock.slept).toEqual([]);
  expect(statSync(statePath, { throwIfNoEntry: false })).toBeUndefined();
});

it("if the rate-limit file is deleted during a request, the next request with any API key waits a minute, as if the limit were used up", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const onWait = () => stop.abort(new Error("stop now"));
  const { file, limiter, statePath } = openLimiter(clock, {}, { onWait });
  const permit = await limiter.acquire(stop.signal);
  rmSync(file);
  limiter.endRequest(permit, null);
  await expect(limiter.acquire(stop.signal)).rejects.toThrow("stop now");
  expect(statSync(file).isFile()).toBe(true);
  expect(await openLimiter(clock, { statePath, key: "other key" }).waited()).toBe(60_050);
});

it("if the rate-limit file's folder is replaced by a file, the next request waits a minute, as if the limit were used up", async () => {
  const clock = new FakeClock();
  const { send, statePath, waited } = openLimiter(clock);
  await send(1);
  rmSync(statePath, { recursive: true });
  writeFileSync(statePath, "");
  expect(await waited()).toBe(60_050);
});

it("if the rate-limit file is damaged, the next request waits a minute, as if the limit were used up", async () => {
  const clock = new FakeClock();
  const { file, statePath, waited } = openLimiter(clock);
  mkdirSync(statePath);
  writeFileSync(file, "this is not a database, whatever its name says".repeat(100));
  expect(await waited()).toBe(60_050);
});

it("if the rate-limit file's folder cannot be used, requests are counted in memory and a notice is printed", async () => {
  const clock = new FakeClock();
  const statePath = join(temporaryFolder(), "state");
  writeFileSync(statePath, "a file, where the folder should be");
  const notices: string[] = [];
  const { send } = openLimiter(clock, { statePath }, { onNotice: ({ message }) => notices.push(message) });
  expect(maxPerMinute(await send(130))).toBe(60);
  expect(notices).toEqual([
    expect.stringMatching(
      /cannot be used \((it is a file, not a folder|part of the path is not a folder)\); requests from other/,
    ),
  ]);
});

it.each([
  ["a", 60],
  ["no", null],
])(
  "if rate-limit headers report no remaining requests, the next request waits at most a minute (with %s configured limit)",
  async (_, rateLimit) => {
    for (const [resetMs, expected] of [
      [12_000, 12_000],
      [3_600_000, 60_000],
    ] as const) {
      const clock = new FakeClock();
      const { limiter, waited } = openLimiter(clock, { rateLimit });
      limiter.endRequest(await limiter.acquire(never), { remaining: 0, resetMs });
      expect(await waited()).toBe(expected);
    }
  },
);

it("rate-limit headers are ignored unless they allow fewer requests than the configured limit", async () => {
  const clock = new FakeClock();
  const { limiter, send } = openLimiter(clock);
  // When the headers arrive, these requests are more than a minute old and no longer count toward the configured limit.
  await send(60);
  clock.pass(61_000);
  limiter.endRequest(await limiter.acquire(never), { remaining: 5_000, resetMs: 20_000 });
  limiter.endRequest(await limiter.acquire(never), { remaining: 3, resetMs: 20_000 });
  const start = clock.mono;
  expect((await send(5)).map((at) => at - start)).toEqual([0, 0, 0, 20_000, 20_000]);
});

it("rate-limit headers that agree with the configured limit do not delay requests", async () => {
  const clock = new FakeClock();
  const { limiter } = openLimiter(clock, { rateLimit: 3 });
  const start = clock.mono;
  const times: number[] = [];
  for (const remaining of [2, 1, 0, 0]) {
    const permit = await limiter.acquire(never);
    times.push(clock.mono - start);
    clock.pass(1_000);
    limiter.endRequest(permit, { remaining, resetMs: 60_000 });
  }
  expect(times).toEqual([0, 1_000, 2_000, 61_050]);
});

it("rate-limit headers in a response do not delay requests from other processes", async () => {
  const clock = new FakeClock();
  const { limiter, statePath } = openLimiter(clock);
  limiter.pause(120_000);
  limiter.endRequest(await openLimiter(clock, { statePath }).limiter.acquire(never), {
    remaining: 0,
    resetMs: 30_000,
  });
  expect(await openLimiter(clock, { statePath }).waited()).toBe(0);
});

it("--max-wait limits delays requested by the API, but not waits for the configured limit", async () => {
  const clock = new FakeClock();
  const { limiter, send } = openLimiter(clock, { rateLimit: 1 });
  await send(1);
  await limiter.acquire(never, -1);
  limiter.pause(120_000);
  await expect(limiter.acquire(never, 8_000)).rejects.toMatchObject({
    exitCode: 6,
    message: expect.stringMatching(/2m.*longer than the remaining `--max-wait`/),
    hint: expect.stringMatching(
      /^try again after 2026-10-20 12:\d\d UTC, or let brandapi wait with `--max-wait 30m`$/,
    ),
  });
});

/** Makes the limiter pause for five seconds after the given number of waits, as a 429 for another request would. */
function pauseAfter(waits: number, { clock, limiter }: { clock: FakeClock; limiter: RateLimiter }): void {
  const sleep = clock.sleep.bind(clock);
  clock.sleep = async (ms, signal) => {
    await sleep(ms, signal);
    if (clock.slept.length === waits) limiter.pause(5_000);
  };
}

it("if a request waits for the configured limit and then for a delay requested by the API, only the delay counts toward --max-wait", async () => {
  const clock = new FakeClock();
  const { limiter, send } = openLimiter(clock, { rateLimit: 1 });
  await send(1);
  pauseAfter(58, { clock, limiter });
  await limiter.acquire(never, 5_000);
  expect(clock.waitedMs).toBe(63_000);
});

it("a request that waits for a delay requested by the API and then for the configured limit reports each wait with its reason", async () => {
  const clock = new FakeClock();
  const waits: object[] = [];
  const { limiter, send } = openLimiter(clock, { rateLimit: 1 }, { onWait: (wait) => waits.push(wait) });
  await send(1);
  limiter.pause(20_000);
  await send(1);
  expect(waits).toEqual([
    { ms: 20_000, reason: "server" },
    { ms: 40_050, reason: "rate-limit" },
  ]);
});

it("a request fails if the API extends a delay so that the total exceeds --max-wait", async () => {
  const clock = new FakeClock();
  const { limiter } = openLimiter(clock);
  limiter.pause(5_000);
  pauseAfter(1, { clock, limiter });
  await expect(limiter.acquire(never, 8_000)).rejects.toMatchObject({ exitCode: 6 });
  expect(clock.waitedMs).toBe(5_000);
});

it("if the API requests a delay and then a shorter delay, the longer delay applies and is reported once", async () => {
  const clock = new FakeClock();
  const waits: object[] = [];
  const { limiter, waited } = openLimiter(clock, {}, { onWait: (wait) => waits.push(wait) });
  limiter.pause(20_000);
  limiter.pause(5_000);
  expect(await waited()).toBe(20_000);
  expect(waits).toEqual([{ ms: 20_000, reason: "server" }]);
});
