import { expect, onTestFinished, test, vi } from "vitest";
import { type Progress, type ReporterOptions, TerminalReporter } from "../../src/cli/progress.js";
import type { Deps } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { until } from "../support/process.js";
import { type ProgramOptions, testDeps } from "../support/program.js";
import { screenOf } from "./screen.js";

function reporterFor(
  output: ReporterOptions = {},
  options: ProgramOptions = {},
  timer: Pick<Deps, "setTimer"> = {},
) {
  let time = 0;
  const deps = { ...testDeps({ clock: { monotonic: () => time }, ...options }), ...timer };
  const notified: Progress[] = [];
  const reporter = new TerminalReporter(deps, output);
  reporter.setProgressListener((progress) => void notified.push(progress));
  return {
    reporter,
    notified,
    pass: (ms: number) => {
      time += ms;
    },
    get screen() {
      return screenOf(deps.stderr.text).lines;
    },
    get text() {
      return deps.stderr.text;
    },
  };
}

/** Waits long enough for the progress line to be drawn. */
async function settle(): Promise<void> {
  await import("cli-progress");
  await new Promise((resolve) => setImmediate(resolve));
}

const terminal: ProgramOptions = { tty: true, columns: 100, env: { NO_COLOR: "1", LANG: "C.UTF-8" } };

test("without a terminal, the reporter prints a line only at the end of each task", () => {
  const seen = reporterFor();
  const task = seen.reporter.begin({ name: "orders", total: 3 });
  task.update({ done: 1 });
  task.waiting(1_000, "rate limit");
  task.end("250 read in 3s, verified");
  seen.reporter.close();
  expect(seen.text).toBe("orders: 250 read in 3s, verified\n");
});

test("the reporter escapes control characters", () => {
  const seen = reporterFor({ verbose: true });
  seen.reporter.detail("GET /me: 200\u001b[2J");
  seen.reporter.note("host \u202eevil\nbrandapi: forged");
  expect(seen.text).toBe("GET /me: 200\\u001b[2J\nhost \\u202eevil\n  brandapi: forged\n");
});

test("the reporter prints no details without --verbose", () => {
  const silent = reporterFor();
  silent.reporter.detail("GET /me");
  expect(silent.text).toBe("");
});

test.each(["warn", "note"] as const)(
  "a command suggested by the reporter's %s method uses the same profile and mirror as the current command",
  (method) => {
    const seen = reporterFor({ profile: "acme", db: "acme.sqlite" });
    seen.reporter[method]("run `brandapi sync orders`");
    expect(seen.text).toContain("`brandapi sync orders --profile acme --db acme.sqlite`");
  },
);

test("with --quiet, the reporter prints only warnings, and each warning only once", async () => {
  const seen = reporterFor({ quiet: true }, terminal);
  const task = seen.reporter.begin({ name: "orders" });
  await settle();
  task.end("done");
  seen.reporter.note("a note");
  seen.reporter.warn("the key expires");
  seen.reporter.warn("the key expires");
  seen.reporter.waiting(60_000, "rate limit");
  seen.reporter.close();
  expect(seen.text).toBe("warning: the key expires\n");
});

test("while a request is waiting for a response, the progress line names the API's host, even before the first task", async () => {
  const timers: (() => void)[] = [];
  const setTimer = (ms: number, call: () => void) => {
    expect(ms).toBe(3_000);
    timers.push(call);
    return () => timers.splice(timers.indexOf(call), 1);
  };
  const seen = reporterFor({}, terminal, { setTimer });
  for (let request = 0; request < 2; request += 1) seen.reporter.startRequest("api.example");
  expect(timers).toHaveLength(1);
  seen.pass(3_000);
  for (const call of timers) call();
  await until(() => seen.screen[0] === "waiting for api.example");
  seen.reporter.endRequest();
  expect(timers).toHaveLength(1);
  seen.reporter.endRequest();
  expect(timers).toEqual([]);

  const orders = seen.reporter.begin({ name: "orders" });
  seen.reporter.startRequest("api.example");
  await until(() => seen.screen[0]?.startsWith("orders  2 requests done"));
  expect(seen.screen[0]).not.toContain("waiting");
  seen.pass(3_000);
  for (const call of timers) call();
  await until(() => seen.screen[0] === "orders  2 requests done  waiting for api.example");
  orders.end(null);
  seen.reporter.close();
  expect(timers).toEqual([]);
});

test("the progress line shows the number of requests sent, the number remaining and the remaining time", async () => {
  const seen = reporterFor({}, terminal);
  seen.reporter.setRateLimit(60);
  seen.reporter.expect([
    { name: "roster", requests: 2 },
    { name: "content", requests: undefined },
    { name: "orders", requests: 100 },
  ]);
  const roster = seen.reporter.begin({ name: "roster" });
  roster.update({ done: 1, total: 2 });
  seen.reporter.endRequest();
  seen.reporter.endRequest();
  const begun = "roster (1 of 3)  2 requests done, at least 101 left, 2m";
  await until(() => seen.screen[0]?.startsWith(begun));
  roster.end("2 read");
  seen.reporter.begin({ name: "content" }).end("done");
  const orders = seen.reporter.begin({ name: "orders" });
  orders.update({ done: 50, total: 98 });
  const line = /^orders \(3 of 3\) {2}2 requests done, 48 left, 48s {2}█░{19}$/u;
  await until(() => line.test(seen.screen[2] ?? ""));
  seen.reporter.note("a note that is rather long: ".repeat(5).trim());
  await until(() => line.test(seen.screen[3] ?? ""));
  orders.end("98 read");
  seen.reporter.close();
  expect(seen.screen.filter((text) => !text.startsWith("a note"))).toEqual([
    "roster: 2 read",
    "content: done",
    "orders: 98 read",
    "",
  ]);
});

interface LineState {
  done: number;
  total?: number;
  perMinute?: number;
  columns?: number;
  wait?: string;
}

const bar = (filled: number) => "█".repeat(filled) + "░".repeat(20 - filled);

test.each<[string, string, LineState]>([
  ["halfway through the requests", `5 requests done, 5 left, 5s  ${bar(10)}`, { done: 5, total: 10 }],
  ["after all requests", `5 requests done  ${bar(20)}`, { done: 5, total: 5 }],
  ["before the first request", `0 requests done  ${bar(0)}`, { done: 0, total: 0 }],
  ["if the total is unknown", "5 requests done", { done: 5 }],
  ["without a rate limit", `5 requests done, 5 left  ${bar(10)}`, { done: 5, total: 10, perMinute: 0 }],
  ["with just enough space for the bar", `5 requests done  ${bar(20)}`, { done: 5, total: 5, columns: 46 }],
  ["without space for the bar", "5 requests done", { done: 5, total: 5, columns: 45 }],
  ["without space for the time", "5 requests done, 5 left", { done: 5, total: 10, columns: 35 }],
  ["without space for the word `requests`", "5 done, 5 left", { done: 5, total: 10, columns: 30 }],
  ["with space for only one number", "5 left", { done: 5, total: 10, columns: 20 }],
  [
    "after all requests, with space for only one number",
    "5 requests done",
    { done: 5, total: 5, columns: 24 },
  ],
  ["during a wait", "waiting 42s: limit", { done: 5, total: 5, columns: 35, wait: "limit" }],
  ["on a terminal that reports no width", `5 requests done  ${bar(20)}`, { done: 5, total: 5, columns: 0 }],
])("%s, the progress line is: orders  %s", async (_, expected, state) => {
  const { done, total, perMinute = 60, columns = 100, wait } = state;
  const seen = reporterFor({}, { ...terminal, columns });
  seen.reporter.setRateLimit(perMinute || null);
  for (let request = 0; request < done; request += 1) seen.reporter.endRequest();
  const task = seen.reporter.begin({ name: "orders" });
  if (total !== undefined) task.update({ done, total });
  if (wait !== undefined) task.waiting(42_000, wait);
  await until(() => seen.screen[0] !== "");
  expect(seen.screen[0]).toBe(`orders  ${expected}`);
  seen.reporter.close();
});

test("in a narrow terminal, the progress line still shows the number of remaining requests", async () => {
  const seen = reporterFor({}, { ...terminal, columns: 40 });
  seen.reporter.expect([
    { name: "orders", requests: 2 },
    { name: "content", requests: undefined },
  ]);
  seen.reporter.begin({ name: "orders", total: 28 });
  seen.reporter.endRequest();
  await until(() => seen.screen[0] === "orders  1 done, at least 28 left");
  seen.reporter.close();
});

test("a task's result line wraps between words in a narrow terminal", () => {
  const seen = reporterFor({}, { ...terminal, columns: 40 });
  const task = seen.reporter.begin({ name: "orders" });
  task.end("250 read, 0 new, 0 changed, 0 removed, 3 requests in 3s, verified");
  seen.reporter.close();
  expect(seen.screen).toEqual([
    "orders: 250 read, 0 new, 0 changed, 0",
    "  removed, 3 requests in 3s, verified",
    "",
  ]);
});

test.each([100, 60, 40, 30, 12])(
  "the progress line is never wider than a terminal with %i columns",
  async (columns) => {
    const seen = reporterFor({}, { ...terminal, columns });
    const drawn: string[] = [];
    const draw = async (text: RegExp) => {
      await until(() => text.test(seen.screen[0] ?? ""));
      drawn.push(seen.screen[0] ?? "");
    };
    seen.reporter.setRateLimit(60);
    seen.reporter.expect([
      { name: "recommendations", requests: 2 },
      { name: "orders", requests: 1_234 },
    ]);
    const task = seen.reporter.begin({ name: "recommendations" });
    await draw(/recommend/);
    task.update({ done: 1, total: 1_234 });
    seen.reporter.endRequest();
    await draw(columns < 60 ? /recommend/ : /1 request done/);
    seen.reporter.waiting(42_000, "rate limit of 60 requests per minute");
    await draw(columns < 40 ? /…$/ : /wait/);
    seen.reporter.close();
    expect(drawn.filter((line) => line.length >= columns)).toEqual([]);
  },
);

test("the progress line shows a countdown during a wait", async () => {
  const seen = reporterFor({}, terminal);
  seen.reporter.begin({ name: "orders", total: 9 });
  seen.reporter.waiting(42_000, "rate limit");
  await until(() => seen.screen[0]?.endsWith("waiting 42s: rate limit"));
  seen.pass(5_000);
  await until(() => seen.screen[0]?.endsWith("waiting 37s: rate limit"));
  seen.reporter.endRequest();
  await until(() => seen.screen[0]?.includes("1 request done") && !seen.screen[0].includes("waiting"));
  seen.reporter.close();
});

test("a wait between two tasks shows a countdown, which disappears after the wait", async () => {
  const seen = reporterFor({}, terminal);
  seen.reporter.waiting(42_000, "rate limit");
  await until(() => seen.screen[0] === "waiting 42s: rate limit");
  seen.pass(5_000);
  await until(() => seen.screen[0] === "waiting 37s: rate limit");
  seen.pass(37_000);
  await until(() => seen.screen[0] === "");
  seen.reporter.endRequest();
  expect(seen.screen).toEqual([""]);
  seen.reporter.note("done");
  expect(seen.screen).toEqual(["done", ""]);
  seen.reporter.close();
});

test("without a terminal, a long wait is printed once per reason, not once per retry", () => {
  const seen = reporterFor();
  for (const ms of [500, 3_000, 8_000, 27_000]) seen.reporter.waiting(ms, "connection refused");
  seen.reporter.waiting(42_000, "rate limit");
  expect(seen.text).toBe("waiting 3s: connection refused\nwaiting 42s: rate limit\n");
});

test("the reporter calls its progress callback at the start of a task, every two seconds, and before a long wait", () => {
  const { reporter, notified, pass } = reporterFor();
  reporter.expect([{ name: "orders", requests: 9 }]);
  const orders = reporter.begin({ name: "orders" });
  for (let page = 1; page <= 5; page += 1) {
    pass(700);
    reporter.endRequest();
    orders.update({ done: page, total: 5 });
  }
  reporter.waiting(500, "rate limit");
  reporter.waiting(30_000, "rate limit");
  expect(
    notified.map(({ requestsSent, requestsLeft, isLeftKnown }) => [requestsSent, requestsLeft, isLeftKnown]),
  ).toEqual([
    [0, 0, false],
    [3, 2, true],
    [5, 0, true],
  ]);
});

test("the reporter passes the number of requests remaining in all tasks to its progress callback, even between two tasks", () => {
  const { reporter, notified, pass } = reporterFor();
  reporter.expect([
    { name: "roster", requests: 2 },
    { name: "orders", requests: 9 },
  ]);
  const roster = reporter.begin({ name: "roster", total: 2 });
  pass(2_000);
  roster.update({ done: 3 });
  roster.end(null);
  reporter.waiting(30_000, "rate limit");
  const shared = { taskCount: 2, requestsSent: 0, isLeftKnown: true };
  expect(notified).toEqual([
    { ...shared, name: "roster", position: 1, requestsLeft: 11 },
    { ...shared, name: "roster", position: 1, requestsLeft: 9 },
    { ...shared, name: null, position: 1, requestsLeft: 9 },
  ]);
});

test("the reporter's progress callback receives task 1 of 1 if a task starts without a list of expected tasks", () => {
  const { reporter, notified } = reporterFor();
  reporter.begin({ name: "orders" });
  expect(notified).toMatchObject([{ name: "orders", position: 1, taskCount: 1 }]);
});

test("no progress line is drawn after a task has ended, even if several updates of the line were pending", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const seen = reporterFor({}, terminal);
  seen.reporter.begin({ name: "roster" }).end("done");
  await settle();
  expect(seen.text).toBe("roster: done\n");
  const orders = seen.reporter.begin({ name: "orders" });
  seen.reporter.note("a note");
  await settle();
  orders.end("done");
  seen.reporter.close();
  const { text } = seen;
  vi.advanceTimersByTime(1_000);
  expect(seen.text).toBe(text);
});

test("a colored progress line resets its colors even if it fills the terminal", async () => {
  const seen = reporterFor({}, { tty: true, columns: 56, env: { LANG: "C.UTF-8" } });
  seen.reporter.begin({ name: "orders", total: 28 });
  await until(() => seen.text.includes("░"));
  expect(seen.screen[0]).toHaveLength("orders  0 requests done, 28 left  ".length + 20);
  expect(seen.text).toContain("░\u001b[22m");
  seen.reporter.close();
});

test("the progress line does not change the terminal's line wrapping or cursor, and disappears if the command fails", async () => {
  const seen = reporterFor({}, terminal);
  seen.reporter.begin({ name: "orders", total: 3 });
  await until(() => seen.screen[0]?.includes("orders"));
  expect(seen.text).not.toContain("\u001b[?");
  seen.reporter.close();
  expect(seen.screen).toEqual([""]);
});

test("the progress line disappears when a signal arrives", async () => {
  const stop = new AbortController();
  const seen = reporterFor({}, { ...terminal, signal: stop.signal });
  const task = seen.reporter.begin({ name: "orders", total: 3 });
  await until(() => seen.text.includes("orders"));
  stop.abort(new Stopped("SIGINT"));
  expect(seen.screen).toEqual([""]);
  task.end("stopped");
  seen.reporter.close();
  expect(seen.screen).toEqual(["orders: stopped", ""]);
  const { text } = seen;
  seen.reporter.begin({ name: "roster", total: 3 });
  await settle();
  expect(seen.text).toBe(text);
});

test.each<[string, ReporterOptions, ProgramOptions]>([
  ["--no-progress", { progress: false }, terminal],
  ["TERM=dumb", {}, { ...terminal, env: { TERM: "dumb" } }],
  ["JSON output on the same terminal", { json: true }, terminal],
  ["stderr redirected to a file", {}, { tty: { stdout: true } }],
])("no progress line is shown with %s", async (_, output, options) => {
  const seen = reporterFor(output, options);
  const task = seen.reporter.begin({ name: "orders", total: 3 });
  await settle();
  task.end("done");
  seen.reporter.close();
  expect(seen.screen).toEqual(["orders: done", ""]);
  expect(seen.text).not.toContain("requests");
});

test("a command with --json shows a progress line on stderr if only stdout is redirected to a file", async () => {
  const seen = reporterFor({ json: true }, { ...terminal, tty: { stderr: true } });
  seen.reporter.begin({ name: "orders", total: 3 });
  await settle();
  expect(seen.screen[0]).toContain("orders  0 requests done");
  seen.reporter.close();
});
