import { counted } from "../../lib/counted.js";
import { dayOf, dayRange } from "../../lib/ranges.js";
import { dayMs } from "../../lib/times.js";
import { displayWidth, pad } from "../../ui/width.js";
import { currenciesNow, of, type Report, type Sales } from "../figures.js";
import type { Numbers } from "../numbers.js";
import { dayName, shortMonth } from "../period.js";
import { currencyName, noDays } from "../words.js";
import { sparkline, textBar } from "./bars.js";
import { type TextLook, table } from "./layout.js";

/** For `status --sales`: at most three lines. */
export function salesLines(report: Sales, numbers: Numbers): string[] {
  const lines = currenciesNow(report).map((currency) => {
    const [now] = of(report.sales.now, currency);
    const [before] = of(report.sales.before, currency);
    const net = numbers.amount(now?.net_amount ?? 0, currency);
    const change = numbers.change(now?.net_amount ?? 0, before?.net_amount ?? null);
    const beside = change === "" ? "" : `, ${change} on ${report.period.before.name}`;
    return `${report.period.name}: ${net} ${currencyName(currency)} net of ${counted(now?.orders ?? 0, "order", numbers.count)}${beside}`;
  });
  if (lines.length <= 3) return lines;
  const more = lines.length - 2 + report.currencies_untold;
  return [...lines.slice(0, 2), `and ${more} currencies more: see \`brandapi report --text\``];
}

export function salesTable(report: Report, numbers: Numbers, { style, width }: TextLook): string {
  const { sales } = report;
  const rows = currenciesNow(report).map((currency) => {
    const [now] = of(sales.now, currency);
    const [before] = of(sales.before, currency);
    const amount = (value: number | undefined) => numbers.amount(value ?? 0, currency);
    return [
      currencyName(currency),
      numbers.count(now?.orders ?? 0),
      amount(now?.gross_amount),
      amount(now?.refunded_amount),
      amount(now?.net_amount),
      report.period.before.is_read ? amount(before?.net_amount) : "not read",
      numbers.change(now?.net_amount ?? 0, before?.net_amount ?? null),
    ];
  });
  const titles = ["currency", "orders", "gross", "refunds", "net", "net before", "change"];
  const untold = report.currencies_untold;
  return [
    table(titles, rows, { style, width, spare: ["net before"] }),
    ...(untold > 0 ? [`and ${counted(untold, "currency")} more, in \`sales_by_month\``] : []),
  ].join("\n");
}

export function dayLines(report: Report, numbers: Numbers, look: TextLook): string[] {
  const room = Math.max(4, ...report.currencies.map((currency) => displayWidth(currencyName(currency))));
  const lines = report.currencies.flatMap((currency) => dayLine(report, currency, numbers, look, room));
  return lines.length > 0 ? lines : [noDays(report)];
}

function dayLine(
  report: Report,
  currency: string | null,
  numbers: Numbers,
  look: TextLook,
  room: number,
): string[] {
  const rows = of(report.days.now, currency);
  if (rows.length === 0) return [];
  const byDay = new Map(rows.map((row) => [row.day, row.net_amount]));
  const days = daysOf(report.period.since, report.period.through);
  const most = rows.reduce((one, other) => (other.net_amount > one.net_amount ? other : one));
  const spark = sparkline(
    days.map((day) => byDay.get(day) ?? 0),
    40,
    look.unicode,
  );
  const best = `most ${numbers.amount(most.net_amount, currency)} on ${dayName(most.day)}`;
  return [`${pad(currencyName(currency), room)} ${look.style.cyan(spark)}  ${best}`];
}

function daysOf(since: string, until: string): string[] {
  const [{ from }, { from: last }] = [dayRange(since), dayRange(until)];
  return Array.from({ length: (last - from) / dayMs + 1 }, (_, nth) => dayOf(from + nth * dayMs));
}

export function monthLines(
  report: Report,
  currency: string | null,
  numbers: Numbers,
  look: TextLook,
): string[] {
  const rows = of(report.months, currency);
  const most = Math.max(...rows.map(({ net_amount }) => net_amount), 0);
  const amounts = rows.map(({ net_amount }) => numbers.amount(net_amount, currency));
  const room = Math.max(...amounts.map(({ length }) => length), 0);
  const lines = rows.map(({ month, net_amount, net_before, is_partial, is_read }, index) => {
    const bar = textBar(net_amount / most, 28, look.unicode);
    const change = numbers.change(net_amount, net_before).padStart(9);
    const note = is_read ? (is_partial ? "  so far" : "") : "  read in part";
    return `  ${shortMonth(month)}  ${look.style.cyan(bar)}  ${(amounts[index] ?? "").padStart(room)}  ${change}${note}`.trimEnd();
  });
  return lines.length === 0 ? [] : [currencyName(currency), ...lines];
}
