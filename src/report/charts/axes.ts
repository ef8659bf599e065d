import type { Numbers } from "../numbers.js";
import { shortMonth } from "../period.js";

/** Colours are the page's own, so that a chart is dark where the page is. */
export const [accent, tint, before, line, soft] = ["accent", "tint", "before", "line", "soft"].map(
  (name) => `var(--${name})`,
);
const letters = { color: soft, fontSize: 13 };

/** Pixels beside a drawing, for what stands at its axes. */
export const room = { left: 52, right: 12 };

export function category(data: readonly string[], width: number, isShown = true) {
  const most = Math.max(2, Math.floor(width / 62));
  return {
    type: "category",
    data,
    axisTick: { show: false },
    axisLine: { lineStyle: { color: line } },
    axisLabel: { ...letters, show: isShown, interval: Math.max(0, Math.ceil(data.length / most) - 1) },
  };
}

export function amounts(numbers: Numbers, splits: number) {
  return {
    type: "value",
    splitNumber: splits,
    splitLine: { lineStyle: { color: line } },
    axisLabel: { ...letters, formatter: (value: number) => numbers.short(value) },
  };
}

/** `Oct ’26`, to fit under a bar. */
export function monthLabel(month: string): string {
  return shortMonth(month).replace(" 20", " ’");
}
