import { expect, test, vi } from "vitest";
import { Stopped } from "../../src/errors.js";
import { createReporter, type ReporterOptions, type ReporterOutput } from "../../src/ui/reporter.js";
import type { WholeProgress } from "../../src/ui/whole-run.js";
import { type ProgramOptions, testDeps } from "../support/program.js";
import { screenOf } from "../support/screen.js";

function reporterFor(output: ReporterOutput = {}, options: ProgramOptions = {}, more: ReporterOptions = {}) {
  let time = 0;
  const clock = { monotonic: () => time };
  const deps = testDeps({ clock, ...options });
  const reporter = createReporter(deps, output, more);
  return {
    reporter,
    pass: (ms: number) => {
      time += ms;
    },
    get screen() {
      return screenOf(deps.stderr.text);
    },
    get text() {
      return deps.stderr.text;
    },
  };
}

const terminal: ProgramOptions = { tty: true, columns: 100, env: { NO_COLOR: "1" } };

test("without a terminal a task is one line, at its end", () => {
  const seen = reporterFor();
  const task = seen.reporter.begin({ name: "orders", unit: "pages", total: 3 });
  task.update({ done: 1, rows: 100 });
  task.waiting(1_000, "rate limit");
  task.end("250 read in 3s, verified");
  task.end("twice");
  seen.reporter.close();
  expect(seen.text).toBe("orders: 250 read in 3s, verified\n");
});

test("--quiet leaves nothing but warnings, each once", () => {
  const seen = reporterFor({ quiet: true }, terminal);
  seen.reporter.begin({ name: "orders", unit: "pages" }).end("done");
  seen.reporter.note("a note");
  seen.reporter.warn("the key expires");
  seen.reporter.warn("the key expires");
  seen.reporter.detail("GET /orders");
  seen.reporter.close();
  expect(seen.text).toBe("warning: the key expires\n");
});

test("--verbose shows details, and what comes from outside is escaped", () => {
  const seen = reporterFor({ verbose: true });
  seen.reporter.detail("GET /me: 200\u001b[2J");
  seen.reporter.note("host \u202eevil\nbrandapi: forged");
  expect(seen.text).toBe("GET /me: 200\\x1b[2J\nhost \\u202eevil\n  brandapi: forged\n");
});

test("on a terminal each task has a bar; notes and ends go above the bars, and nothing is torn or left behind", async () => {
  const seen = reporterFor({}, terminal);
  const orders = seen.reporter.begin({ name: "orders", unit: "pages", total: 300 });
  const roster = seen.reporter.begin({ name: "roster", unit: "pages" });
  await vi.waitUntil(() => seen.text.includes("\u001b[?25l"));
  for (let page = 1; page <= 60; page++) {
    seen.pass(100);
    orders.update({ done: page, rows: page * 100 });
    seen.reporter.answered();
  }
  roster.update({ done: 2, rows: 150 });
  seen.reporter.note("the first note is rather long: ".repeat(4).trim());
  seen.reporter.note("short");
  orders.waiting(34_000, "rate limit");
  await vi.waitUntil(() => seen.text.includes("waiting 34s: rate limit"));
  expect(seen.screen.cursorVisible).toBe(false);
  expect(seen.text, "long lines are wrapped, not cut").not.toContain("\u001b[?7l");
  const [first, second, third, fourth] = seen.screen.lines;
  expect(first).toMatch(/^the first note is rather long:/);
  expect(second).toBe("short");
  expect(third).toMatch(/^orders {11}[█░]{6,28} {2}20% {2}60\/300 pages .*waiting 34s: rate limit/u);
  expect(fourth).toMatch(/^roster {11} {2}2 pages {2}150 rows/);

  // Printed over two bars that do not change: each has to be wiped and drawn again further down.
  const before = seen.text.length;
  seen.reporter.note("a");
  seen.reporter.note("b");
  await vi.waitUntil(() => /roster/.test(seen.text.slice(before)));
  expect(seen.screen.lines.slice(2)).toEqual(["a", "b", third, fourth]);

  orders.end("30,000 read, verified");
  roster.end("150 read, verified");
  seen.reporter.close();
  expect(seen.screen.cursorVisible).toBe(true);
  expect(seen.screen.lines.slice(1)).toEqual([
    "short",
    "a",
    "b",
    "orders: 30,000 read, verified",
    "roster: 150 read, verified",
    "",
  ]);
});

test("a run of several tasks has a line for all of it: which one, the requests, and the time left of all", async () => {
  const seen = reporterFor({}, terminal);
  seen.reporter.limited(60);
  seen.reporter.expect([
    { name: "roster", requests: 2 },
    { name: "content", requests: undefined },
    { name: "orders", requests: 100 },
  ]);
  const roster = seen.reporter.begin({ name: "roster", unit: "pages" });
  roster.update({ done: 1, total: 2, rows: 100 });
  for (const _ of "ab") {
    seen.pass(1_000);
    seen.reporter.answered();
  }
  // One of the roster's, and a hundred orders: of content nothing is known.
  await vi.waitUntil(() => seen.screen.lines[1] === "all, 1 of 3        2 requests  at least 2m left");
  expect(seen.screen.lines[0]).toMatch(/^roster .*50% {2}1\/2 pages/);
  roster.end("done");
  seen.reporter.begin({ name: "content", unit: "pages" }).end("done");
  const orders = seen.reporter.begin({ name: "orders", unit: "pages" });
  orders.update({ done: 50, total: 98, rows: 5_000 });
  await vi.waitUntil(() =>
    /^all, 3 of 3 {6}█+░+ {3}4% {2}2\/50 requests {2}48s left$/u.test(seen.screen.lines[3] ?? ""),
  );
  seen.reporter.close();
  expect(seen.screen.lines).toEqual(["roster: done", "content: done", ""]);
});

test("without a terminal, a long wait before the first task is a line for each reason, not for each try", () => {
  const seen = reporterFor();
  for (const ms of [500, 3_000, 8_000, 27_000]) seen.reporter.waiting(ms, "connection refused");
  seen.reporter.waiting(42_000, "rate limit");
  expect(seen.text).toBe("waiting 3s: connection refused\nwaiting 42s: rate limit\n");
});

test("what is waited for before the first task stands in a line of the terminal, and goes with the answer", async () => {
  const seen = reporterFor({}, terminal);
  seen.reporter.waiting(42_000, "rate limit");
  await vi.waitUntil(() => seen.screen.lines[0] === "waiting 42s: rate limit");
  seen.pass(40_000);
  await vi.waitUntil(() => seen.screen.lines[0] === "waiting 2s: rate limit");
  seen.reporter.answered();
  expect(seen.screen).toEqual({ lines: [""], cursorVisible: true });
  seen.reporter.close();
});

test("how far a run is, is told to who listens: at each task's beginning, every two seconds, and before a wait", () => {
  const told: WholeProgress[] = [];
  const seen = reporterFor({}, {}, { progressed: (progress) => told.push(progress) });
  seen.reporter.expect([{ name: "orders", requests: 9 }]);
  const orders = seen.reporter.begin({ name: "orders", unit: "pages" });
  for (let page = 1; page <= 5; page++) {
    seen.pass(700);
    seen.reporter.answered();
    orders.update({ done: page, total: 5 });
  }
  const common = { name: "orders", position: 1, of: 1 };
  expect(told).toEqual([
    { ...common, requests: 0, left: 0, isKnown: false },
    { ...common, requests: 3, left: 2, isKnown: true },
  ]);
  seen.reporter.waiting(500, "rate limit");
  seen.reporter.waiting(30_000, "rate limit");
  expect(told.slice(2)).toEqual([{ ...common, requests: 5, left: 0, isKnown: true }]);
});

test("a coloured bar is drawn whole, although its codes make it longer than the terminal is wide", async () => {
  const seen = reporterFor({}, { tty: true, columns: 60 });
  const task = seen.reporter.begin({ name: "orders", unit: "pages", total: 300 });
  task.update({ done: 10, rows: 1_000 });
  for (let answer = 0; answer < 10; answer++) {
    seen.pass(1_000);
    seen.reporter.answered();
  }
  const line = /^orders {11}[█░]{6,} {3}3% {2}10\/300 pages {2}5m left$/u;
  await vi.waitUntil(() => line.test(seen.screen.lines[0] ?? ""));
  // The terminal adds `^C` itself; at the edge it would begin a new line, and the bar would stay.
  expect(seen.screen.lines[0]).toHaveLength(57);
  seen.reporter.close();
});

test("a stop takes the bars away and gives the cursor back before anything else is said", async () => {
  const stop = new AbortController();
  const seen = reporterFor({}, { ...terminal, signal: stop.signal });
  const task = seen.reporter.begin({ name: "orders", unit: "pages", total: 3 });
  await vi.waitUntil(() => seen.text.includes("orders"));
  stop.abort(new Stopped("SIGINT"));
  expect(seen.screen).toEqual({ lines: [""], cursorVisible: true });
  task.end("stopped");
  seen.reporter.close();
  expect(seen.screen.lines).toEqual(["orders: stopped", ""]);
});

test.each<[string, ReporterOutput, ProgramOptions]>([
  ["--no-progress", { progress: false }, terminal],
  ["a dumb terminal", {}, { ...terminal, env: { TERM: "dumb" } }],
  ["JSON on the same terminal", { json: true }, terminal],
  ["stderr in a file", {}, { tty: { stdout: true } }],
])("%s means no bars", async (_, output, options) => {
  const seen = reporterFor(output, options);
  const task = seen.reporter.begin({ name: "orders", unit: "pages", total: 3 });
  await import("cli-progress");
  await new Promise((resolve) => setImmediate(resolve));
  task.update({ done: 1 });
  task.end("done");
  seen.reporter.close();
  expect(seen.text).not.toContain("\u001b[?25l");
  expect(seen.screen.lines).toEqual(["orders: done", ""]);
});
