import { type Figures, type MonthFigures, readMonths } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { monthsBefore, shortMonth } from "../dates.js";
import { type Block, Cell, type Section, sentence, tableOf } from "../document.js";
import { amount, change, count, currencyName } from "../numbers.js";
import { noOrders } from "./sales.js";

const monthsShown = 13;

/** The last thirteen months, each beside the month before and the same month a year ago. */
export function monthsSection(context: Context): Section {
  const { mirror, period, currencies } = context;
  const shown = Array.from({ length: monthsShown }, (_, nth) =>
    monthsBefore(`${period.until.slice(0, 7)}-01`, nth).slice(0, 7),
  );
  const [until = "", since = until] = [shown[0], shown.at(-1)];
  const rows = readMonths(mirror, { since, until });
  const months = shown.filter((month) => month >= (rows.at(-1)?.month ?? month));
  const blocks = currencies.flatMap((currency) => monthBlocks(months, of(rows, currency), currency));
  return {
    id: "months",
    title: "By month",
    lead: rows.some(({ is_partial }) => is_partial)
      ? "A month that is not over is compared through its last whole day."
      : "",
    blocks: blocks.length === 0 ? [sentence(noOrders)] : blocks,
  };
}

function monthBlocks(
  months: readonly string[],
  rows: readonly MonthFigures[],
  currency: string | null,
): Block[] {
  if (rows.length === 0) return [];
  const code = currencyName(currency);
  const oldestFirst = months.toReversed();
  const values = (value: (figures: Figures) => number) =>
    oldestFirst.map((month) => rows.filter((row) => row.month === month).map(value)[0] ?? null);
  return [
    {
      kind: "chart",
      title: `Net and refunds by month, ${code}`,
      labels: oldestFirst.map((month) => shortMonth(month).replace(" 20", " ’")),
      series: [
        { title: "net", values: values(({ net_amount }) => net_amount) },
        { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
      ],
    },
    tableOf(`Month by month, ${code}`, "sales_by_month", rows, [
      ["month", "Month", "name", (row) => new Cell(row.month, monthText(row))],
      ["orders", "Orders", "number", (row) => count(row.orders), "spare"],
      ["gross_amount", `Gross, ${code}`, "number", (row) => amount(row.gross_amount, currency), "spare"],
      ["refunded_amount", "Refunds", "number", (row) => amount(row.refunded_amount, currency), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => amount(row.net_amount, currency)],
      ["change", "vs month before", "number", (row) => change(row.net_through, row.net_before)],
      ["change_in_year", "vs year ago", "number", (row) => change(row.net_amount, row.net_year_ago), "spare"],
    ]),
  ];
}

function monthText({ month, is_partial }: MonthFigures): string {
  return `${shortMonth(month)}${is_partial ? ", in part" : ""}`;
}
