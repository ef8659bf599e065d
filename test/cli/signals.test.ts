import { expect, onTestFinished, test, vi } from "vitest";
import { GracefulStop } from "../../src/signals.js";

/** Runs work that ignores signals until the test has finished. */
function runStubbornWork(): GracefulStop {
  vi.useFakeTimers();
  const stop = new GracefulStop();
  let endWork = () => {};
  const work = () =>
    new Promise<void>((resolve) => {
      endWork = resolve;
    });
  const running = stop.runGracefully(work, "the hint").catch(() => {});
  onTestFinished(async () => {
    vi.useRealTimers();
    endWork();
    await running;
  });
  return stop;
}

test("the first signal aborts the command's work, and a second signal ends the program at once", () => {
  const { signal } = runStubbornWork();
  process.emit("SIGINT", "SIGINT");
  expect(signal.reason).toMatchObject({ exitCode: 130, hint: "the hint" });
  expect(() => process.emit("SIGTERM", "SIGTERM")).toThrow(
    expect.objectContaining({ exitCode: 143, hint: "the hint" }),
  );
});

test("a command that ignores the first signal ends 1.5 seconds later", () => {
  runStubbornWork();
  process.emit("SIGINT", "SIGINT");
  vi.advanceTimersByTime(1_400);
  expect(() => vi.advanceTimersByTime(200)).toThrow(expect.objectContaining({ exitCode: 130 }));
});
