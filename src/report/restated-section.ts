import {
  type Proof,
  readRefundLosses,
  readRestatedOrders,
  readRestatements,
} from "../query/report-figures.js";
import { pluralize } from "../util/text.js";
import { dayMs, formatInstant } from "../util/times.js";
import {
  type Block,
  type ColumnSpec,
  createTable,
  FormattedValue,
  paragraph,
  type Section,
} from "./document.js";
import type { ReportData } from "./report-data.js";
import {
  formatAmount,
  formatCount,
  formatCurrency,
  formatDay,
  formatDifference,
  formatPercent,
  formatShortMonth,
  formatTime,
  monthsBefore,
} from "./text-format.js";

const monthsBack = 12;
const mostOrders = 8;

/** Months that changed since they were reported, and the orders that changed them. */
export function restatedSection(context: ReportData): Section {
  const since = monthsBefore(context.period.until, monthsBack).slice(0, 7);
  const tables = restatedTables(context, since);
  const none = paragraph("No reported month has changed.");
  return {
    id: "restated",
    title: "Months that changed since you reported them",
    lead: tables.length === 0 ? "" : "Orders came late, were refunded or were cancelled since.",
    blocks: [...(tables.length === 0 ? [none] : tables), ...lossLines(context)],
  };
}

function restatedTables({ mirror }: ReportData, since: string): Block[] {
  const months = readRestatements(mirror, since);
  if (months.length === 0) return [];
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const orders = readRestatedOrders(mirror, since, mostOrders);
  const title =
    orders.length < all ? `The ${orders.length} largest of ${all} changed orders` : "Changed orders";
  const dayCell = (at: string) => new FormattedValue(at, formatDay(at));
  return [
    createTable("Months", "restatements", months, [
      month,
      currency,
      ["reported_at", "Reported", "short", (row) => dayCell(row.reported_at), "spare"],
      ["net_reported", "Net then", "number", (row) => formatAmount(row.net_reported, row.currency), "spare"],
      ["net_now", "Net now", "number", (row) => formatAmount(row.net_now, row.currency)],
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
      ["orders", "Orders", "number", (row) => formatCount(row.orders), "spare"],
    ]),
    createTable(title, "restated_orders", orders, [
      ["order", "Order", "name", (row) => new FormattedValue(row.order_number ?? row.order_id)],
      [...month, "spare"],
      ["change", "Change", "short", ({ what }) => new FormattedValue(what)],
      ["seen_at", "Seen", "short", (row) => dayCell(row.seen_at), "spare"],
      [
        "host",
        "Host",
        "name",
        (row) => new FormattedValue(row.host_label, row.host_label ?? "no host"),
        "spare",
      ],
      currency,
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
    ]),
  ];
}

const month = [
  "month",
  "Month",
  "short",
  (row: { month: string }) => new FormattedValue(row.month, formatShortMonth(row.month)),
] satisfies ColumnSpec<never>;
const currency = [
  "currency",
  "Currency",
  "short",
  (row: { currency: string | null }) => new FormattedValue(row.currency, formatCurrency(row.currency)),
] satisfies ColumnSpec<never>;

/** Returns what reported months usually lose afterwards, a sentence per currency. */
function lossLines({ mirror, currencies }: ReportData): Block[] {
  const losses = readRefundLosses(mirror).filter(({ currency }) => currencies.includes(currency));
  return losses.map(({ currency, months, share, least, most }) => {
    const whose = losses.length > 1 ? `${formatCurrency(currency)}: ` : "";
    const range =
      months === 1 ? "1 month" : `${months} months, ${formatPercent(least)} to ${formatPercent(most)}`;
    return paragraph(
      `${whose}Reported months have so far lost ${formatPercent(share)} to later refunds (${range}).`,
    );
  });
}

/** The proof of the figures, the age of the data, and the limits of the API. */
export function proofSection({ proof, reached }: ReportData): Section {
  const blocks = [ageLine(proof, reached), ...unknowable].map(paragraph);
  return { id: "proof", title: "What is proven", lead: proofLine(proof), blocks };
}

/** Returns in one sentence what is proven of the orders. */
export function proofLine({ against, proven }: Proof): string {
  if (against !== null) return `Not proven: ${against}`;
  if (proven === null) return "Not proven: the orders were never compared with the API's counts.";
  const { at, by, through, from } = proven;
  const since = from === null ? "" : ` from ${formatDay(from)}`;
  const how = by === "verify" ? "`verify`" : "the sync";
  return `Orders are proven${since} through ${formatDay(through)}: the API's counts agreed in ${how} of ${formatTime(at)}.`;
}

function ageLine({ oldest_read_at: oldest, gaps }: Proof, reached: number): string {
  const days = oldest === null ? 0 : Math.floor(Math.max(0, reached - Date.parse(oldest)) / dayMs);
  const age = days === 0 ? "" : ` The oldest check was ${pluralize(days, "day")} before that.`;
  const never = gaps.length === 0 ? "" : " Some days between were never read: see `brandapi status`.";
  return `Orders were read up to ${formatTime(formatInstant(reached))}.${age}${never}`;
}

const unknowable: readonly string[] = [
  "An order counts unless it is removed or cancelled. Net is gross less refunds. Days and months are UTC. Currencies are never added.",
  "The API does not say when a refund was made: it counts from when this mirror first saw it. It does not say what was paid: commissions are what was earned.",
  "A change to an old order that leaves the day's counts and totals as they were, such as a commission rate, is seen when the order is read again.",
];
