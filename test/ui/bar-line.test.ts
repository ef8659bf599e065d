import { expect, test } from "vitest";
import { type BarState, renderBar } from "../../src/ui/bar-line.js";
import { formatBytes, formatCount } from "../../src/ui/numbers.js";
import { styleFor } from "../../src/ui/style.js";
import { displayWidth } from "../../src/ui/width.js";
import { capture } from "../support/streams.js";

const style = styleFor(capture({ isTTY: false, columns: 80 }), { color: true });
const look = { style, unicode: true };
const state: BarState = {
  name: "orders",
  unit: "pages",
  done: 126,
  total: 300,
  rows: 12_600,
  perSecond: 412.4,
  leftMs: 174_000,
  waiting: undefined,
};

test("a wide terminal shows bar, share, pages, rows, speed and time left", () => {
  expect(renderBar(state, 110, look)).toBe(
    "orders           ████████████████░░░░░░░░░░░░░░░░░░░░░░░  42%  126/300 pages  12,600 rows  412 rows/s  3m left",
  );
});

test("the bar takes the width that the rest leaves, whatever the terminal has", () => {
  for (const width of [60, 80, 140, 300]) expect(displayWidth(renderBar(state, width, look))).toBe(width);
});

test("a wait takes the place of the speed", () => {
  const waiting = { leftMs: 33_600, reason: "rate limit" };
  expect(renderBar({ ...state, waiting }, 110, look)).toContain(
    "12,600 rows  waiting 34s: rate limit  3m left",
  );
});

test("what is known to take no time is not said of what takes longer than that", () => {
  const shown = (leftMs: number) => renderBar({ ...state, leftMs, isLeast: true }, 110, look);
  expect(shown(0)).not.toContain("left");
  expect(shown(2_000)).toContain("at least 2s left");
});

test("a line is never wider than the terminal, however narrow, and keeps the time left longest", () => {
  for (let width = 30; width <= 200; width++) {
    const line = renderBar({ ...state, name: "北京".repeat(10) }, width, look);
    expect(displayWidth(line)).toBeLessThanOrEqual(width);
  }
  expect(renderBar(state, 40, look)).toContain("3m left");
});

test("without a total there is no bar and no share; bytes are said as bytes; letters where there are no blocks", () => {
  expect(renderBar({ ...state, total: undefined, leftMs: undefined }, 80, look)).toBe(
    "orders             126 pages  12,600 rows  412 rows/s",
  );
  const bytes: BarState = {
    ...state,
    unit: "bytes",
    done: 1_500_000,
    total: 3_000_000,
    rows: undefined,
    perSecond: 2e6,
  };
  expect(renderBar(bytes, 80, { style, unicode: false })).toMatch(
    /^orders +#+-+ {2}50% {2}1\.5 MB\/3\.0 MB {2}2\.0 MB\/s/,
  );
});

test("numbers are grouped, bytes are rounded to what a person needs", () => {
  expect([0, 999, 1_000, 1_234_567].map(formatCount)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect([0, 999, 1_000, 99_949, 99_950, 999_499, 999_500, 5.5e9].map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "99.9 kB",
    "100 kB",
    "999 kB",
    "1.0 MB",
    "5.5 GB",
  ]);
});
