import { expect, test } from "vitest";
import { createPace } from "../../src/ui/pace.js";

/**
 * Reads `pages` pages under a sliding window of `limit` in 60 seconds, `latencyMs` each, one after another.
 * @returns for each share of the way, the time left that was shown and the time that was then left
 */
function simulate({
  pages,
  limit,
  latencyMs,
  usedBefore = 0,
}: Record<string, number> & { pages: number; limit: number; latencyMs: number }) {
  const pace = createPace(limit);
  const starts = Array.from({ length: usedBefore }, () => 0);
  const answers: number[] = [];
  let now = 0;
  const shown = new Map<number, number | undefined>();
  for (let page = 1; page <= pages; page++) {
    const free = starts.length < limit ? now : Math.max(now, (starts.at(-limit) ?? 0) + 60_000);
    if (free > now) pace.heldUntil(free);
    starts.push(free);
    now = free + latencyMs;
    pace.answered(now);
    answers.push(now);
    shown.set(page, pace.timeFor(pages - page, now));
  }
  return [0.1, 0.5, 0.9].map((share) => {
    const page = Math.ceil(pages * share);
    return { shown: shown.get(page) ?? 0, left: now - (answers[page - 1] ?? 0) };
  });
}

test.each([
  { pages: 130, limit: 60, latencyMs: 30 },
  { pages: 300, limit: 60, latencyMs: 30 },
  { pages: 1_000, limit: 60, latencyMs: 50 },
  { pages: 600, limit: 60, latencyMs: 900 },
  { pages: 300, limit: 60, latencyMs: 3_000 },
  { pages: 900, limit: 120, latencyMs: 30 },
  { pages: 600, limit: 60, latencyMs: 30, usedBefore: 3 },
])("the time left at 10, 50 and 90 %% of a limited read is within 10 %% of what then happens: %o", (read) => {
  for (const { shown, left } of simulate(read))
    expect(Math.abs(shown - left)).toBeLessThanOrEqual(Math.max(1_000, left * 0.1));
});

test("without a limit the time left follows the answers", () => {
  const pace = createPace(null);
  expect(pace.timeFor(10, 0)).toBeUndefined();
  for (let at = 0; at <= 1_000; at += 100) pace.answered(at);
  expect(pace.timeFor(50, 1_000)).toBe(5_000);
  expect(pace.timeFor(0, 1_000)).toBe(0);
});

/** As `simulate`, with another process that takes every second place from `joins` on, or has spent some before. */
function simulateShared({
  pages,
  joins,
  spentBefore = 0,
}: Record<string, number> & { pages: number; joins: number }) {
  const limit = 60;
  const pace = createPace(limit);
  const taken = Array.from({ length: spentBefore }, () => -2_000);
  const answers: number[] = [];
  const shown: (number | undefined)[] = [];
  let now = 0;
  let turn = 0;
  while (answers.length < pages) {
    const free = taken.length < limit ? now : Math.max(now, (taken.at(-limit) ?? 0) + 60_000);
    if (free > now) pace.heldUntil(free, true);
    now = free + 10;
    taken.push(now);
    turn += 1;
    if (now >= joins && turn % 2 === 0) continue;
    pace.answered(now);
    answers.push(now);
    shown.push(pace.timeFor(pages - answers.length, now));
  }
  return (share: number) => {
    const page = Math.ceil(pages * share) - 1;
    return { shown: shown[page] ?? 0, left: now - (answers[page] ?? 0) };
  };
}

test.each([
  ["another process takes half from the start", { pages: 300, joins: 0 }, [0.2, 0.5, 0.9]],
  ["another process joins later", { pages: 600, joins: 100_000 }, [0.5, 0.9]],
  [
    "an earlier run has spent half of the first window",
    { pages: 300, joins: 1e9, spentBefore: 30 },
    [0.15, 0.5, 0.9],
  ],
])("the time left is within 10 %% where %s", (_, read, shares) => {
  const at = simulateShared(read);
  for (const share of shares) {
    const { shown, left } = at(share);
    expect(Math.abs(shown - left), `at ${share}: ${shown}, then ${left}`).toBeLessThanOrEqual(
      Math.max(1_000, left * 0.1),
    );
  }
});
