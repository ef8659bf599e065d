import { dayRange } from "../../lib/ranges.js";
import { type Clicks, type Days, readClickCoverage, readClicks } from "../../query/index.js";
import type { Context } from "../context.js";
import { type Figure, type Section, sentence } from "../document.js";
import { isRead } from "../period.js";
import { compare } from "./sales.js";

/** From clicks to orders, by the API's own counts. */
export function clicksSection({ mirror, days, period, numbers }: Context): Section {
  const covered = readClickCoverage(mirror);
  // Clicks are read before the orders, so their last day need not be read to its end.
  const areRead = (other: Days) => isRead(covered, other, dayRange(other.until).from);
  const now = readClicks(mirror, days);
  const befores = [period.before, period.year_ago].map((other) => ({
    days: other,
    clicks: other && areRead(days) && areRead(other) ? readClicks(mirror, other) : null,
  }));
  const figure = (title: string, read: (clicks: Clicks) => number): Figure => {
    const value = now ? read(now) : 0;
    const others = befores.map((one) => ({ days: one.days, value: one.clicks && read(one.clicks) }));
    return {
      title,
      value: numbers.count(value),
      comparisons: compare(value, others, numbers, numbers.count),
    };
  };
  const figures = [
    figure("Clicks", ({ total_clicks }) => total_clicks),
    figure("Clicks to the store", ({ buy_now_clicks }) => buy_now_clicks),
    figure("Orders, as the API counts", ({ orders }) => orders),
  ];
  const rest = now === null || areRead(days) ? "" : " Some of these days were not read: there may be more.";
  return {
    id: "clicks",
    title: "Clicks to sales",
    lead: `As the API counts, in all currencies; its orders can differ from those above.${rest}`,
    blocks: [
      now ? { kind: "figures", title: "", figures } : sentence("The mirror holds no clicks of these days."),
    ],
  };
}
