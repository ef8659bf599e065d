import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GovernorEvents, GovernorSettings } from "../../src/api/governing.js";
import { openGovernor } from "../../src/api/governor.js";
import { FakeClock, temporaryFolder } from "./support.js";

const never = new AbortController().signal;

function governorOn(clock: FakeClock, given: Partial<GovernorSettings> = {}, events?: GovernorEvents) {
  const settings = { origin: "https://api.test", key: "k", rateLimit: 60, statePath: "", ...given };
  if (!settings.statePath) settings.statePath = join(temporaryFolder(), "state");
  const governor = openGovernor(settings, { clock }, events);
  onTestFinished(() => governor.close());
  /** Sends `count` requests, each answered after `ms`; returns when each was sent. */
  const send = async (count: number, ms = 20) => {
    const times: number[] = [];
    for (let each = 0; each < count; each += 1) {
      const place = await governor.take(never);
      times.push(clock.mono);
      clock.pass(ms);
      place.answered(null);
    }
    return times;
  };
  return { governor, send, path: join(settings.statePath, "rate.sqlite"), settings };
}

/** The most sends that any window of a minute holds, the server seeing each up to `jitter` later. */
function mostInAMinute(times: readonly number[], jitter = 0): number {
  return Math.max(
    ...times.map((from) => times.filter((each) => each >= from && each < from + 60_000 - jitter).length),
  );
}

describe("the rate governor", () => {
  it("lets a burst of 60 through at once, then holds every sliding minute to 60", async () => {
    const clock = new FakeClock();
    const { send } = governorOn(clock);
    const start = clock.mono;
    const times = await send(190);
    expect((times[59] ?? 0) - start).toBe(59 * 20);
    expect(mostInAMinute(times)).toBe(60);
  });

  it("reads 130 pages in two windows and no more than 5 % over", async () => {
    const clock = new FakeClock();
    const { send } = governorOn(clock);
    const start = clock.mono;
    const times = await send(130, 100);
    expect((times[129] ?? 0) - start).toBeLessThan(2 * 60_000 * 1.05);
  });

  it("counts from the answer, so that a slow network cannot squeeze 61 into the server's minute", async () => {
    const clock = new FakeClock();
    const { send } = governorOn(clock);
    const start = clock.mono;
    await send(60, 500);
    const [sixtyFirst = 0] = await send(1);
    expect(sixtyFirst).toBeGreaterThanOrEqual(start + 500 + 60_000);
  });

  it("waits until enough places are free where a run allows itself fewer than the one before", async () => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const times = await governorOn(clock, { statePath }).send(60, 100);
    const [next = 0] = await governorOn(clock, { statePath, rateLimit: 10 }).send(1);
    expect(next).toBe((times[50] ?? 0) + 100 + 60_050);
    expect(clock.slept).toHaveLength(1);
  });

  it("says once how long a wait will be, however often it looks again", async () => {
    const clock = new FakeClock();
    const waits: object[] = [];
    const { governor } = governorOn(clock, { rateLimit: 1 }, { onWait: (wait) => waits.push(wait) });
    await governor.take(never);
    await governor.take(never);
    expect(clock.slept.length).toBeGreaterThan(10);
    expect(waits).toEqual([{ ms: 70_000, reason: "budget" }]);
  });

  it("waits while another process has the file locked", async () => {
    const clock = new FakeClock();
    const notices: object[] = [];
    const { send, path } = governorOn(clock, {}, { onNotice: (notice) => notices.push(notice) });
    await send(1);
    const other = new Database(path);
    other.exec("BEGIN IMMEDIATE");
    const sleep = clock.sleep.bind(clock);
    clock.sleep = (ms, signal) => {
      if (other.open) other.close();
      return sleep(ms, signal);
    };
    await send(1);
    expect(notices).toEqual([]);
    expect(clock.slept).toHaveLength(1);
  });

  it("is shared: two governors on one key and file have one budget, other keys have theirs, an origin has two", async () => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const times: number[] = [];
    const one = governorOn(clock, { statePath });
    const two = governorOn(clock, { statePath });
    for (let each = 0; each < 30; each += 1) times.push(...(await one.send(1, 0)), ...(await two.send(1, 0)));
    expect(clock.slept).toEqual([]);
    const other = governorOn(clock, { statePath, key: "other" });
    await other.send(60, 0);
    expect(clock.slept).toEqual([]);
    const third = governorOn(clock, { statePath, key: "third" });
    await third.send(1, 0);
    expect(clock.slept).toEqual([60_050]);
    const sandbox = governorOn(clock, { statePath, origin: "http://127.0.0.1:9" });
    await sandbox.send(60, 0);
    expect(clock.slept.length).toBe(1);
  });

  it("gives the place of a crashed process back, but only when its request can no longer arrive", async () => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const crashed = governorOn(clock, { statePath, rateLimit: 1 });
    await crashed.governor.take(never);
    crashed.governor.close();
    const start = clock.mono;
    await governorOn(clock, { statePath, rateLimit: 1 }).send(1);
    expect(clock.mono - start).toBeGreaterThanOrEqual(70_000);
    expect(clock.mono - start).toBeLessThan(71_000);
  });

  it("writes a private file, with no key in it", async () => {
    const { send, path, settings } = governorOn(new FakeClock(), { key: "bk_live_secret" });
    await send(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(settings.statePath).mode & 0o777).toBe(0o700);
    expect(readFileSync(path).includes("bk_live_secret")).toBe(false);
  });

  it("makes a file that others could read private", async () => {
    const statePath = temporaryFolder();
    writeFileSync(join(statePath, "rate.sqlite"), "", { mode: 0o644 });
    const { send, path } = governorOn(new FakeClock(), { statePath });
    await send(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("opens no file without a limit", async () => {
    const clock = new FakeClock();
    const { send, settings } = governorOn(clock, { rateLimit: null });
    await send(500, 0);
    expect(clock.slept).toEqual([]);
    expect(statSync(settings.statePath, { throwIfNoEntry: false })).toBeUndefined();
  });

  it.each([
    ["monotonic back (a reboot), wall 10 s on", -900_000, 10_000],
    ["monotonic back, wall back", -900_000, -3_600_000],
    ["monotonic back, wall back by thirty years", -900_000, -30 * 365 * 86_400_000],
    ["wall an hour back", 0, -3_600_000],
    ["wall a year on", 0, 365 * 86_400_000],
  ])("never speeds up when clocks jump: %s", async (_name, mono, wall) => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const before = governorOn(clock, { statePath });
    await before.send(60, 0);
    before.governor.close();
    clock.mono += mono;
    clock.wall += wall;
    const start = clock.mono;
    await governorOn(clock, { statePath }).send(1, 0);
    const passed = mono < 0 && wall > 0 ? wall : 0;
    expect(clock.mono - start).toBe(60_050 - passed);
  });

  it("outlives a hold from the future of both clocks", async () => {
    const clock = new FakeClock();
    const { governor, send } = governorOn(clock);
    await send(1, 0);
    governor.hold(30_000);
    clock.mono -= 900_000;
    clock.wall -= 3_600_000;
    await send(1, 0);
    expect(clock.slept).toEqual([30_000]);
  });

  it("counts another's request as sent when it was, although it asks with a time from before", async () => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const before = new FakeClock();
    const late = governorOn(before, { statePath, rateLimit: 1 });
    clock.pass(500);
    await governorOn(clock, { statePath, rateLimit: 1 }).send(1, 0);
    const [next = 0] = await late.send(1);
    expect(next).toBeGreaterThanOrEqual(clock.mono + 60_000);
  });

  it("after a reboot, counts what was sent long ago by the wall clock as gone", async () => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const before = governorOn(clock, { statePath });
    await before.send(60, 0);
    before.governor.close();
    clock.mono = 5_000;
    clock.wall += 90_000;
    await governorOn(clock, { statePath }).send(60, 0);
    expect(clock.slept).toEqual([]);
  });

  it("makes a deleted file anew, its own requests still counted", async () => {
    const clock = new FakeClock();
    const { send, path } = governorOn(clock);
    await send(60, 0);
    rmSync(path);
    await send(1, 0);
    expect(clock.slept).toEqual([60_050]);
    expect(statSync(path).isFile()).toBe(true);
  });

  it("replaces a damaged file, and takes the window as spent", async () => {
    const clock = new FakeClock();
    const { send, path, settings } = governorOn(clock);
    await send(1, 0);
    writeFileSync(path, "this is not a database, whatever its name says".repeat(100));
    const next = governorOn(clock, settings);
    await next.send(1, 0);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(60_000);
    await send(1, 0);
  });

  it("counts in memory where the folder cannot be used, and says so once", async () => {
    const clock = new FakeClock();
    const folder = temporaryFolder();
    writeFileSync(join(folder, "state"), "a file, where the folder should be");
    const notices: string[] = [];
    const { send } = governorOn(
      clock,
      { statePath: join(folder, "state") },
      { onNotice: (e) => notices.push(e.message) },
    );
    const times = await send(130, 0);
    expect(mostInAMinute(times)).toBe(60);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/cannot be used \((EEXIST|ENOTDIR)\)/);
  });

  it("waits in silence for nobody: an abort ends the wait with its reason", async () => {
    const clock = new FakeClock();
    const { governor, send } = governorOn(clock, { rateLimit: 1 });
    await send(1);
    const stop = new AbortController();
    clock.sleep = (_ms, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    const waiting = governor.take(stop.signal);
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(waiting).rejects.toThrow("enough");
  });
});

describe("what the server says is left", () => {
  it("of nothing holds the key until the reset, and no longer than a minute", async () => {
    for (const [resetMs, expected] of [
      [12_000, 12_000],
      [3_600_000, 60_000],
    ] as const) {
      const clock = new FakeClock();
      const { governor, send } = governorOn(clock);
      const place = await governor.take(never);
      place.answered({ remaining: 0, resetMs });
      const start = clock.mono;
      await send(1, 0);
      expect(clock.mono - start).toBe(expected);
    }
  });

  it("is obeyed where it is less than our own count, until the reset", async () => {
    const clock = new FakeClock();
    const { governor, send } = governorOn(clock);
    const place = await governor.take(never);
    place.answered({ remaining: 3, resetMs: 20_000 });
    const start = clock.mono;
    const times = await send(6, 0);
    expect(times.map((time) => time - start)).toEqual([0, 0, 0, 20_000, 20_000, 20_000]);
  });

  it("is ignored without a reset, and where it is more than our own count", async () => {
    const clock = new FakeClock();
    const { governor, send } = governorOn(clock);
    (await governor.take(never)).answered({ remaining: 0, resetMs: null });
    (await governor.take(never)).answered({ remaining: 5_000, resetMs: 60_000 });
    const start = clock.mono;
    const times = await send(59, 0);
    expect(times.filter((time) => time === start).length).toBe(58);
  });

  it("is forgotten where it agrees with our own count: each place goes as it comes free, not all at a reset", async () => {
    const clock = new FakeClock();
    const { governor } = governorOn(clock, { rateLimit: 3 });
    const times: number[] = [];
    const start = clock.mono;
    for (const remaining of [0, 1, 0, 0]) {
      const place = await governor.take(never);
      times.push(clock.mono - start);
      clock.pass(1_000);
      place.answered({ remaining, resetMs: times.length === 1 ? 2_000 : 60_000 });
    }
    // Less than our own count after the first: held. Just as much after the second and third: not held.
    expect(times).toEqual([0, 3_000, 4_000, 61_050]);
  });

  it("is taken from the request sent last, whatever answer comes last", async () => {
    const clock = new FakeClock();
    const { governor, send } = governorOn(clock);
    const first = await governor.take(never);
    const second = await governor.take(never);
    second.answered({ remaining: 0, resetMs: 5_000 });
    first.answered({ remaining: 50, resetMs: 5_000 });
    const start = clock.mono;
    await send(1);
    expect(clock.mono - start).toBeGreaterThanOrEqual(5_000);
  });

  it("holds every process on the key, and none on another", async () => {
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const { governor, send } = governorOn(clock, { statePath });
    await send(1, 0);
    governor.hold(90_000);
    governor.hold(1_000);
    await governorOn(clock, { statePath, key: "other" }).send(1, 0);
    expect(clock.slept).toEqual([]);
    await governorOn(clock, { statePath }).send(1, 0);
    expect(clock.slept).toEqual([90_000]);
  });

  it("is obeyed without a budget of our own too", async () => {
    const clock = new FakeClock();
    const { governor, send } = governorOn(clock, { rateLimit: null });
    (await governor.take(never)).answered({ remaining: 0, resetMs: 7_000 });
    await send(1, 0);
    expect(clock.slept).toEqual([7_000]);
  });
});
