import { readRefundLosses, readRestatedOrders, readRestatements } from "../../query/index.js";
import type { Context } from "../context.js";
import { dayName, monthsBefore, shortMonth } from "../dates.js";
import { type Block, Cell, type ColumnOf, type Section, sentence, tableOf } from "../document.js";
import { amount, count, currencyName, difference, percent } from "../numbers.js";

const monthsBack = 12;
const mostOrders = 8;

/** Months that changed since they were reported, and the orders that changed them. */
export function restatedSection(context: Context): Section {
  const since = monthsBefore(context.period.until, monthsBack).slice(0, 7);
  const tables = restatedTables(context, since);
  const none = sentence("No reported month has changed.");
  return {
    id: "restated",
    title: "Months that changed since you reported them",
    lead: tables.length === 0 ? "" : "Orders came late, were refunded or were cancelled since.",
    blocks: [...(tables.length === 0 ? [none] : tables), ...lossLines(context)],
  };
}

function restatedTables({ mirror }: Context, since: string): Block[] {
  const months = readRestatements(mirror, since);
  if (months.length === 0) return [];
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const orders = readRestatedOrders(mirror, since, mostOrders);
  const title =
    orders.length < all ? `The ${orders.length} largest of ${all} changed orders` : "Changed orders";
  const dayCell = (at: string) => new Cell(at, dayName(at));
  return [
    tableOf("Months", "restatements", months, [
      month,
      currency,
      ["reported_at", "Reported", "short", (row) => dayCell(row.reported_at), "spare"],
      ["net_reported", "Net then", "number", (row) => amount(row.net_reported, row.currency), "spare"],
      ["net_now", "Net now", "number", (row) => amount(row.net_now, row.currency)],
      ["difference", "Difference", "number", (row) => difference(row.difference, row.currency)],
      ["orders", "Orders", "number", (row) => count(row.orders), "spare"],
    ]),
    tableOf(title, "restated_orders", orders, [
      ["order", "Order", "name", (row) => new Cell(row.order_number ?? row.order_id)],
      [...month, "spare"],
      ["change", "Change", "short", ({ what }) => new Cell(what)],
      ["seen_at", "Seen", "short", (row) => dayCell(row.seen_at), "spare"],
      ["host", "Host", "name", (row) => new Cell(row.host_label, row.host_label ?? "no host"), "spare"],
      currency,
      ["difference", "Difference", "number", (row) => difference(row.difference, row.currency)],
    ]),
  ];
}

const month = [
  "month",
  "Month",
  "short",
  (row: { month: string }) => new Cell(row.month, shortMonth(row.month)),
] satisfies ColumnOf<never>;
const currency = [
  "currency",
  "Currency",
  "short",
  (row: { currency: string | null }) => new Cell(row.currency, currencyName(row.currency)),
] satisfies ColumnOf<never>;

/** Returns what reported months usually lose afterwards, a sentence per currency. */
function lossLines({ mirror, currencies }: Context): Block[] {
  const losses = readRefundLosses(mirror).filter(({ currency }) => currencies.includes(currency));
  return losses.map(({ currency, months, share, least, most }) => {
    const whose = losses.length > 1 ? `${currencyName(currency)}: ` : "";
    const range = months === 1 ? "1 month" : `${months} months, ${percent(least)} to ${percent(most)}`;
    return sentence(
      `${whose}Reported months have so far lost ${percent(share)} to later refunds (${range}).`,
    );
  });
}
