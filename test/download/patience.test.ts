import { describe, expect, test } from "vitest";
import { watchHost } from "../../src/download/host.js";
import { openPatience } from "../../src/download/patience.js";
import { FakeClock } from "../api/support.js";

/** A clock whose timers fire when it passes them. */
class TimerClock extends FakeClock {
  readonly #timers = new Set<{ at: number; call: () => void }>();

  readonly later = (ms: number, call: () => void) => {
    const timer = { at: this.mono + ms, call };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  override pass(ms: number): void {
    const end = this.mono + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers.delete(next);
      super.pass(next.at - this.mono);
      next.call();
    }
    super.pass(end - this.mono);
  }
}

const second = 1_000;

function start(maxWaitMs = 20 * second) {
  const clock = new TimerClock();
  return { clock, patience: openPatience(maxWaitMs, { clock, later: clock.later }) };
}

describe("the patience with a file host", () => {
  test("is used up by time, and a kilobyte gives a second back", () => {
    const { clock, patience } = start();
    clock.pass(12 * second);
    expect(patience.idleMs()).toBe(12 * second);
    patience.grew(10_000);
    expect(patience.idleMs()).toBe(2 * second);
    patience.grew(1_000_000);
    expect(patience.idleMs()).toBe(0);
    clock.pass(3 * second);
    expect(patience.idleMs()).toBe(3 * second);
  });

  test("is not used up by what the host is not to blame for", async () => {
    const { clock, patience } = start();
    clock.pass(2 * second);
    await patience.apart(async () => clock.pass(60 * second));
    await expect(patience.apart(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    expect(patience.idleMs()).toBe(2 * second);
  });

  test.each([
    ["is silent", 0, 20],
    ["drips, a byte ten times a second", 1, 20],
    ["drips, half of what it should bring", 50, 40],
  ])("ends for one that %s", (_, bytesEachTime, seconds) => {
    const { clock, patience } = start();
    const call = new AbortController();
    patience.watch(call);
    let passed = 0;
    for (; !call.signal.aborted && passed < 3_600 * second; passed += 100) {
      clock.pass(100);
      patience.grew(bytesEachTime);
    }
    expect(passed / second).toBeCloseTo(seconds, 0);
    expect(String(call.signal.reason)).toContain("the file host sent next to nothing for 20 s");
  });

  test("never ends for one that brings two kilobytes a second", () => {
    const { clock, patience } = start();
    const call = new AbortController();
    const end = patience.watch(call);
    for (let passed = 0; passed < 3_600; passed += 1) {
      clock.pass(second);
      patience.grew(2_000);
    }
    expect(call.signal.aborted).toBe(false);
    end();
    clock.pass(3_600 * second);
    expect(call.signal.aborted).toBe(false);
  });

  test.each([0, 1 * second])("of %i ms gives each answer five seconds all the same", (maxWaitMs) => {
    const { clock, patience } = start(maxWaitMs);
    clock.pass(60 * second);
    const call = new AbortController();
    patience.watch(call);
    clock.pass(4_900);
    expect(call.signal.aborted).toBe(false);
    clock.pass(200);
    expect(call.signal.aborted).toBe(true);
  });
});

describe("a file host is down", () => {
  function watch() {
    const clock = new FakeClock();
    const host = watchHost(20 * second, clock);
    for (let calls = 0; calls < 4; calls += 1) host.called();
    return { clock, host };
  }

  test("when one file is given up after a whole patience in which no file came on", () => {
    const { clock, host } = watch();
    clock.pass(20 * second);
    host.brought(1_000);
    expect(host.isDown).toBe(false);
    host.failed();
    expect(host.isDown).toBe(true);
  });

  test("not when another file has come on meanwhile", () => {
    const { clock, host } = watch();
    clock.pass(15 * second);
    host.brought(100_000);
    clock.pass(15 * second);
    host.failed();
    expect(host.isDown).toBe(false);
  });

  test("not when that file was the only one that was asked for", () => {
    const clock = new FakeClock();
    const host = watchHost(20 * second, clock);
    host.called();
    clock.pass(60 * second);
    host.failed();
    expect(host.isDown).toBe(false);
  });

  test("when four in a row were given up, and not any more when a file comes", () => {
    const { host } = watch();
    for (let failures = 0; failures < 4; failures += 1) {
      expect(host.isDown).toBe(false);
      host.failed();
    }
    expect(host.isDown).toBe(true);
    host.finished();
    expect(host.isDown).toBe(false);
  });

  test("although its drips add up in the end", () => {
    const { host } = watch();
    for (let failures = 0; failures < 4; failures += 1) {
      host.brought(60_000);
      host.failed();
    }
    expect(host.isDown).toBe(true);
  });
});
