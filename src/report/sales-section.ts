import { type KeyFigure, type KeyFigures, paragraph, type Section } from "./document.js";
import {
  formatAmount,
  formatChange,
  formatCount,
  formatCurrency,
  formatCurrencyTitle,
  formatDay,
  formatPercent,
} from "./formatting.js";
import type { Comparison } from "./period.js";
import { inCurrency, type ReportData } from "./report-data.js";
import type { SalesFigures } from "./report-figures.js";

/** Creates the section that shows each currency's key figures and how these figures have changed. */
export function salesSection(data: ReportData): Section {
  const blocks = [
    ...data.currencies.map((currency) => keyFigures(data, currency)),
    ...data.minorCurrencies.map((currency) => ({ ...keyFigures(data, currency), is_minor: true })),
  ];
  return {
    id: "sales",
    title: "Sales",
    lead: describeComparison(data),
    blocks: blocks.length === 0 ? [paragraph("The mirror has no orders for these days.")] : blocks,
  };
}

/**
 * Returns a sentence such as `Net is down 19.3% in USD and up 0.5% in EUR vs 1–23 Oct 2026.`, or an empty string if
 * nothing can be compared.
 */
export function summarize({ currencies, sums, period }: ReportData): string {
  const changes = currencies.flatMap((currency) => {
    const now = inCurrency(sums.now, currency)[0]?.net_amount ?? 0;
    const before = inCurrency(sums.before, currency)[0]?.net_amount ?? 0;
    if (before <= 0) return [];
    const share = formatPercent(Math.abs(now - before) / before);
    const change = share === formatPercent(0) ? "the same" : `${now > before ? "up" : "down"} ${share}`;
    return [`${change} in ${formatCurrency(currency)}`];
  });
  const list = new Intl.ListFormat("en-GB").format(changes);
  return changes.length === 0 ? "" : `Net is ${list} vs ${period.before?.name}.`;
}

function describeComparison({ period, days }: ReportData): string {
  const isCut = period.is_partial && days.until !== period.until;
  const through = isCut ? `Complete days only, through ${formatDay(days.until)}. ` : "";
  if (period.before === null)
    return `${through}There is no comparison, because these days or the preceding ones may be incomplete.`;
  return `${through}Compared with ${period.before.name}, which had more time for refunds.`;
}

function keyFigures({ sums, period }: ReportData, currency: string | null): KeyFigures {
  const figure = (
    title: string,
    key: keyof SalesFigures,
    format: typeof formatAmount,
    { isLate = false } = {},
  ): KeyFigure => {
    const sum = (rows: SalesFigures[]) => Number(inCurrency(rows, currency)[0]?.[key] ?? 0);
    const now = sum(sums.now);
    // Refunds and cancellations arrive late, so a period that has none yet is not shown as a decrease of 100%.
    const isComparable = !isLate || now !== 0;
    const compare = (days: Comparison | null, before: number) =>
      days
        ? [
            {
              name: days.name,
              change: formatChange(isComparable ? now : null, before),
              before: format(before, currency),
            },
          ]
        : [];
    const comparisons = [
      ...compare(period.before, sum(sums.before)),
      ...compare(period.year_ago, sum(sums.year_ago)),
    ];
    return { title, value: format(now, currency), comparisons };
  };
  return {
    kind: "figures",
    title: formatCurrencyTitle(currency),
    is_minor: false,
    figures: [
      figure("Net", "net_amount", formatAmount),
      figure("Gross", "gross_amount", formatAmount),
      figure("Refunds", "refunded_amount", formatAmount, { isLate: true }),
      figure("Orders", "orders", formatCount),
      figure("Cancelled", "cancelled_orders", formatCount, { isLate: true }),
    ],
  };
}
