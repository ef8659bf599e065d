import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ApiEvents, ApiSettings } from "../../src/api/client.js";
import { RateLimiter } from "../../src/api/rate-limit.js";
import { FakeClock, key, temporaryFolder } from "./support.js";

const never = new AbortController().signal;
const baseUrl = "https://api.test/api/brand/v1";

function budgetOn(clock: FakeClock, given: Partial<ApiSettings> = {}, events: ApiEvents = {}) {
  const statePath = given.statePath ?? join(temporaryFolder(), "state");
  const usual = { baseUrl, key, rateLimit: 60, maxWaitMs: 0, userAgent: "" };
  const budget = new RateLimiter({ ...usual, ...given, statePath }, clock, events);
  onTestFinished(() => budget.close());
  /** Sends requests, each answered after `ms`. @returns when each was sent */
  const send = async (count: number, ms = 0) => {
    const times: number[] = [];
    for (let each = 0; each < count; each += 1) {
      const permit = await budget.acquire(never);
      times.push(clock.mono);
      clock.pass(ms);
      budget.release(permit, null);
    }
    return times;
  };
  /** Sends one request. @returns how long it had to wait */
  const waited = async () => {
    const start = clock.mono;
    const [sent = 0] = await send(1);
    return sent - start;
  };
  return { budget, send, waited, statePath, file: join(statePath, "rate.sqlite") };
}

function mostInAMinute(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
}

describe("the budget", () => {
  it("lets a burst of 60 pass at once, then holds every sliding minute to 60", async () => {
    const clock = new FakeClock();
    const start = clock.mono;
    const times = await budgetOn(clock).send(190, 20);
    expect((times[59] ?? 0) - start).toBe(59 * 20);
    expect(mostInAMinute(times)).toBe(60);
    expect((times[189] ?? 0) - start).toBeLessThan(3 * 60_000 * 1.03);
  });

  it("counts a request from its answer's headers: a slow network does not squeeze 61 into the server's minute", async () => {
    const clock = new FakeClock();
    const { send } = budgetOn(clock);
    const times = await send(60, 500);
    const [next = 0] = await send(1);
    expect(next - (times[0] ?? 0)).toBe(500 + 60_050);
  });

  it("is one for all processes: for a key, for a machine twice as much, for each origin its own", async () => {
    const clock = new FakeClock();
    const { send, statePath } = budgetOn(clock);
    const other = budgetOn(clock, { statePath });
    await send(30);
    await other.send(30);
    await budgetOn(clock, { statePath, key: "other key" }).send(60);
    await budgetOn(clock, { statePath, baseUrl: "http://127.0.0.1:9/api/brand/v1" }).send(60);
    expect(clock.slept).toEqual([]);
    const waits: object[] = [];
    const third = budgetOn(clock, { statePath, key: "third key" }, { onWait: (wait) => waits.push(wait) });
    expect(await third.waited()).toBe(60_050);
    expect(waits).toEqual([{ ms: 60_050, reason: "budget" }]);
  });

  it("waits until enough requests have expired if a process allows itself fewer", async () => {
    const clock = new FakeClock();
    const { send, statePath } = budgetOn(clock);
    const times = await send(60, 100);
    const [next = 0] = await budgetOn(clock, { statePath, rateLimit: 10 }).send(1);
    expect(next).toBe((times[50] ?? 0) + 100 + 60_050);
  });

  it("gives the permit of a killed process back when its request can no longer arrive", async () => {
    const clock = new FakeClock();
    const { budget, statePath } = budgetOn(clock, { rateLimit: 1 });
    await budget.acquire(never);
    expect(await budgetOn(clock, { rateLimit: 1, statePath }).waited()).toBe(70_000);
  });

  it.each([
    ["back: a reboot", -900_000, 60_050],
    ["back by less than a window", -30_000, 60_050],
    ["on by less than a window", 30_000, 30_050],
  ])("is never faster after a jump of the clock %s", async (_, jump, expected) => {
    const clock = new FakeClock();
    const { send, statePath } = budgetOn(clock);
    await send(60);
    clock.mono += jump;
    expect(await budgetOn(clock, { statePath }).waited()).toBe(expected);
  });
});

describe("the file of the budget", () => {
  it("is private, and holds no key", async () => {
    const { file, send, statePath } = budgetOn(new FakeClock());
    await send(3);
    expect([statePath, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    expect(readFileSync(file).includes(key)).toBe(false);
  });

  it("is not made without a limit, and nothing waits then", async () => {
    const clock = new FakeClock();
    const { send, statePath } = budgetOn(clock, { rateLimit: null });
    await send(500);
    expect(clock.slept).toEqual([]);
    expect(statSync(statePath, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("is made anew if it was deleted, with the whole window used", async () => {
    const clock = new FakeClock();
    const { file, send, waited } = budgetOn(clock);
    await send(2);
    rmSync(file);
    expect(await waited()).toBe(60_050);
    expect(statSync(file).isFile()).toBe(true);
  });

  it("is replaced if it is damaged, with the whole window used", async () => {
    const clock = new FakeClock();
    const { file, statePath, waited } = budgetOn(clock);
    mkdirSync(statePath);
    writeFileSync(file, "this is not a database, whatever its name says".repeat(100));
    expect(await waited()).toBe(60_050);
  });

  it("is done without, with a notice, if its folder cannot be used", async () => {
    const clock = new FakeClock();
    const statePath = join(temporaryFolder(), "state");
    writeFileSync(statePath, "a file, where the folder should be");
    const notices: string[] = [];
    const { send } = budgetOn(clock, { statePath }, { onNotice: ({ message }) => notices.push(message) });
    expect(mostInAMinute(await send(130))).toBe(60);
    expect(notices).toEqual([
      expect.stringMatching(
        /cannot be used \((file already exists|a part of its path is not a folder)\): requests of other/,
      ),
    ]);
  });
});

describe("the server's own words", () => {
  it.each([60, null])(
    "of nothing left delay the run until the reset, a minute at most, with a limit of %s",
    async (rateLimit) => {
      for (const [resetMs, expected] of [
        [12_000, 12_000],
        [3_600_000, 60_000],
      ] as const) {
        const clock = new FakeClock();
        const { budget, waited } = budgetOn(clock, { rateLimit });
        budget.release(await budget.acquire(never), { remaining: 0, resetMs });
        expect(await waited()).toBe(expected);
      }
    },
  );

  it("of less than our own count hold until the reset, of more do not", async () => {
    const clock = new FakeClock();
    const { budget, send } = budgetOn(clock);
    budget.release(await budget.acquire(never), { remaining: 5_000, resetMs: 20_000 });
    budget.release(await budget.acquire(never), { remaining: 3, resetMs: 20_000 });
    const start = clock.mono;
    expect((await send(5)).map((at) => at - start)).toEqual([0, 0, 0, 20_000, 20_000]);
  });

  it("that agree with our own count hold nothing: each permit comes free by itself", async () => {
    const clock = new FakeClock();
    const { budget } = budgetOn(clock, { rateLimit: 3 });
    const start = clock.mono;
    const times: number[] = [];
    for (const remaining of [2, 1, 0, 0]) {
      const permit = await budget.acquire(never);
      times.push(clock.mono - start);
      clock.pass(1_000);
      budget.release(permit, { remaining, resetMs: 60_000 });
    }
    expect(times).toEqual([0, 1_000, 2_000, 61_050]);
  });

  it("are not stored for other processes", async () => {
    const clock = new FakeClock();
    const { budget, statePath } = budgetOn(clock);
    budget.pause(120_000);
    budget.release(await budgetOn(clock, { statePath }).budget.acquire(never), {
      remaining: 0,
      resetMs: 30_000,
    });
    expect(await budgetOn(clock, { statePath }).waited()).toBe(0);
  });

  it("are not waited for longer than the patience; our own budget is", async () => {
    const clock = new FakeClock();
    const { budget, send } = budgetOn(clock, { rateLimit: 1 });
    await send(1);
    await budget.acquire(never, 2_000);
    budget.pause(120_000);
    await expect(budget.acquire(never, 8_000)).rejects.toMatchObject({
      exitCode: 6,
      message:
        "The API asks for a wait of another 2m before the next request, longer than is left of `--max-wait`.",
      hint: expect.stringMatching(
        /^try again after 2026-10-20 12:\d\d UTC, or wait for it with `--max-wait 30m`$/,
      ),
    });
  });
});
