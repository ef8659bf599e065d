import { counted } from "../counted.js";
import type { Style } from "../ui/style.js";
import { type Cell, renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { shorten } from "../ui/width.js";
import { currenciesNow, of, type Report, type Sales } from "./figures.js";
import type { Numbers } from "./numbers.js";
import { dayName, shortMonth } from "./period.js";
import { sparkline, textBar } from "./text-charts.js";
import {
  comparison,
  currencyName,
  noDays,
  provenLine,
  readLines,
  summaryLine,
  timeOf,
  unknowable,
  whatHappened,
} from "./words.js";

/** How the terminal shows it. */
export interface TextLook {
  style: Style;
  /** Whether the terminal draws block characters. */
  unicode: boolean;
  width: number;
}

/** The report for a terminal: the same figures, and a line of them a chart. */
export function writeText(report: Report, numbers: Numbers, look: TextLook): string {
  const { style } = look;
  const { period } = report;
  const parts: [title: string, lines: readonly string[]][] = [
    ["Sales", [salesTable(report, numbers, look)]],
    ["Net by day", dayLines(report, numbers, look)],
    ["Net by month", report.currencies.flatMap((currency) => monthLines(report, currency, numbers, look))],
    ["Restated", restatedLines(report, numbers, look)],
    ["Refunds still to come", outlookLines(report, numbers, look)],
    ["Hosts who made the most", hostLines(report, numbers, look)],
    [
      "What is proven",
      [provenLine(report), ...readLines(report)].flatMap((line) => wrap(escapeText(line), look.width)),
    ],
    ["What cannot be known", unknowable.flatMap((line) => wrap(`- ${line}`, look.width))],
  ];
  const title = style.bold(`${escapeText(shorten(report.brand ?? "Brand"))}, ${period.name}`);
  const head = [title, ...wrap(`${comparison(report)} ${summaryLine(report, numbers)}`.trim(), look.width)];
  const body = parts.map(([name, lines]) => ["", style.bold(name), ...lines].join("\n"));
  return `${[head.join("\n"), ...body, "", `Made ${timeOf(report.made_at)}`].join("\n")}\n`;
}

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

function salesTable(report: Report, numbers: Numbers, { style, width }: TextLook): string {
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
      amount(before?.net_amount),
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

function dayLines(report: Report, numbers: Numbers, look: TextLook): string[] {
  const lines = report.currencies.flatMap((currency) => dayLine(report, currency, numbers, look));
  return lines.length > 0 ? lines : [noDays(report)];
}

function dayLine(report: Report, currency: string | null, numbers: Numbers, look: TextLook): string[] {
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
  return [`${currencyName(currency).padEnd(4)} ${look.style.cyan(spark)}  ${best}`];
}

function daysOf(since: string, until: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(since); at <= Date.parse(until); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

function monthLines(report: Report, currency: string | null, numbers: Numbers, look: TextLook): string[] {
  const rows = of(report.months, currency);
  const most = Math.max(...rows.map(({ net_amount }) => net_amount), 0);
  const amounts = rows.map(({ net_amount }) => numbers.amount(net_amount, currency));
  const room = Math.max(...amounts.map(({ length }) => length), 0);
  const lines = rows.map(({ month, net_amount, net_before, is_partial }, index) => {
    const bar = textBar(net_amount / most, 28, look.unicode);
    const change = numbers.change(net_amount, net_before).padStart(9);
    const note = is_partial ? "  so far" : "";
    return `  ${shortMonth(month)}  ${look.style.cyan(bar)}  ${(amounts[index] ?? "").padStart(room)}  ${change}${note}`.trimEnd();
  });
  return lines.length === 0 ? [] : [currencyName(currency), ...lines];
}

function restatedLines({ restated }: Report, numbers: Numbers, { style, width }: TextLook): string[] {
  const { months, orders } = restated;
  if (months.length === 0) return ["No month that was reported is another now."];
  const rows = months.map((row) => [
    shortMonth(row.month),
    currencyName(row.currency),
    numbers.amount(row.net_reported, row.currency),
    numbers.amount(row.net_now, row.currency),
    numbers.signed(row.difference, row.currency),
    numbers.count(row.orders),
  ]);
  const named = orders.map((row) => [
    row.order_number ?? row.order_id,
    shortMonth(row.month),
    currencyName(row.currency),
    whatHappened[row.what] ?? row.what,
    numbers.signed(row.difference, row.currency),
  ]);
  return [
    table(["month", "currency", "net reported", "net now", "difference", "orders"], rows, { style, width }),
    "",
    table(["order", "month", "currency", "what", "difference"], named, { style, width }),
  ];
}

function outlookLines({ outlook }: Report, numbers: Numbers, { width }: TextLook): string[] {
  const [first] = outlook;
  if (first && outlook.every(({ why_none: why }) => why !== null))
    return wrap(`Nothing is predicted: ${first.why_none}.`, width);
  return outlook.flatMap(({ currency, why_none: why, through, to_come, standard_error, horizon }) => {
    const name = currencyName(currency);
    if (why !== null) return wrap(`${name}: nothing is predicted: ${why}.`, width);
    const sum = `${numbers.amount(to_come, currency)}, give or take ${numbers.amount(standard_error, currency)}`;
    return wrap(
      `${name}: ${sum}, of orders through ${shortMonth(through ?? "")} within ${horizon} months of the order.`,
      width,
    );
  });
}

function hostLines({ hosts, currencies }: Report, numbers: Numbers, { style, width }: TextLook): string[] {
  const rows = currencies.flatMap((currency) =>
    of(hosts.made, currency)
      .slice(0, 3)
      .map((row) => [
        row.name ?? (row.id === null ? "no host" : "no name"),
        currencyName(currency),
        numbers.count(row.orders),
        numbers.amount(row.net_amount, currency),
        numbers.signed(row.difference, currency),
      ]),
  );
  return rows.length === 0
    ? ["No order in this time."]
    : [table(["host", "currency", "orders", "net", "moved"], rows, { style, width })];
}

function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  options: { style: Style; width: number; spare?: readonly string[] },
): string {
  const words = ["currency", "month", "order", "host", "what"];
  return renderTable(titles, rows, {
    ...options,
    alignRight: titles.filter((title) => !words.includes(title)),
  });
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
