import { expect, onTestFinished, test, vi } from "vitest";
import { GracefulStop } from "../../src/signals.js";

/** Runs a task that ignores signals until the test has ended. */
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

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "%s during work that must clean up ends the program with exit code %i, even if the work succeeds",
  async (name, exitCode) => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { runGracefully } = new GracefulStop();
    const running = runGracefully(async () => void process.emit(name, name));
    await expect(running).rejects.toMatchObject({ exitCode });
  },
);

test("if runGracefully is called inside runGracefully, the outer call handles signals and adds its hint to the error", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { runGracefully } = new GracefulStop();
  const before = process.listenerCount("SIGINT");
  const running = runGracefully(async () => {
    expect(await runGracefully(async () => "result", "the inner hint")).toBe("result");
    process.emit("SIGINT", "SIGINT");
  }, "the hint");
  await expect(running).rejects.toMatchObject({ exitCode: 130, hint: "the hint" });
  expect(process.listenerCount("SIGINT")).toBe(before);
});

test("runGracefully installs signal handlers, and removes them when its work ends or fails", async () => {
  const { runGracefully } = new GracefulStop();
  const before = process.listenerCount("SIGTERM");
  const fail = () => Promise.reject(new RangeError("x"));
  await expect(runGracefully(fail)).rejects.toThrow(RangeError);
  expect(process.listenerCount("SIGTERM")).toBe(before);
  const during = runGracefully(async () => process.listenerCount("SIGTERM"));
  expect(await during).toBe(before + 1);
});
