import { escapeText } from "../../ui/text.js";
import { shorten } from "../../ui/width.js";
import { of, type Report } from "../figures.js";
import type { Numbers } from "../numbers.js";
import {
  comparison,
  currencyName,
  noOrder,
  provenLine,
  readLines,
  summaryLine,
  timeOf,
  unknowable,
} from "../words.js";
import { type TextLook, table, wrap } from "./layout.js";
import { outlookLines, restatedLines } from "./refunds.js";
import { dayLines, monthLines, salesTable } from "./sales.js";

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

function hostLines(report: Report, numbers: Numbers, { style, width }: TextLook): string[] {
  const { hosts, currencies } = report;
  const rows = currencies.flatMap((currency) =>
    of(hosts.made, currency)
      .slice(0, 3)
      .map((row) => [
        row.name ?? (row.id === null ? "no host" : "no name"),
        currencyName(currency),
        numbers.count(row.orders),
        numbers.amount(row.net_amount, currency),
        report.period.before.is_read ? numbers.signed(row.difference, currency) : "not read",
      ]),
  );
  return rows.length === 0
    ? [noOrder(report)]
    : [table(["host", "currency", "orders", "net", "moved"], rows, { style, width })];
}
