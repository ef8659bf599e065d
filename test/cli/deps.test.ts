import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock, systemDeps } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";

test("the monotonic clock returns milliseconds that can be compared across processes on the same machine", () => {
  const difference = systemClock.monotonic() - Number(process.hrtime.bigint()) / 1e6;
  expect(Math.abs(difference)).toBeLessThan(60_000);
});

test("sleep supports durations beyond the limit of Node's timers, and rejects with the abort signal's reason", async () => {
  const stop = new AbortController();
  let hasEnded = false;
  const sleeping = systemClock.sleep(2 ** 32, stop.signal).finally(() => {
    hasEnded = true;
  });
  await systemClock.sleep(5);
  expect(hasEnded).toBe(false);
  const reason = new Stopped("SIGINT");
  stop.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  await expect(systemClock.sleep(0, stop.signal)).rejects.toBe(reason);
});

test("by default, commands use the environment, streams and working directory of the process", () => {
  const { signal } = new AbortController();
  const deps = systemDeps({ signal, runGracefully: (work) => work(), fetch });
  const { argv, env, execPath, platform, stderr, stdin, stdout } = process;
  expect([deps.env, deps.stdin, deps.stdout, deps.stderr]).toEqual([env, stdin, stdout, stderr]);
  expect(deps).toMatchObject({ cwd: process.cwd(), platform });
  expect(deps.machine).toMatchObject({ node: execPath, script: argv[1], version: process.versions.node });
});

test("a command can cancel its timers", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { signal } = new AbortController();
  const deps = systemDeps({ signal, runGracefully: (work) => work(), fetch });
  const calls: string[] = [];
  deps.setTimer?.(10, () => calls.push("a"));
  deps.setTimer?.(10, () => calls.push("b"))();
  vi.advanceTimersByTime(9);
  expect(calls).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(calls).toEqual(["a"]);
});
