import {
  type RefundLoss,
  type RestatedOrder,
  type Restatement,
  readRefundLosses,
  readRestatedOrders,
  readRestatements,
} from "../../query/index.js";
import type { Context } from "../context.js";
import { dayName, monthsBefore, shortMonth } from "../dates.js";
import { type Block, type Cell, type Column, type Section, words } from "../document.js";
import { currencyName } from "../numbers.js";

const monthsBack = 12;
const mostOrders = 12;

/** Months that are not any more what they were when they were reported, and the orders that changed them. */
export function restatedSection(context: Context): Section {
  const { mirror, period, currencies } = context;
  const since = monthsBefore(period.until, monthsBack).slice(0, 7);
  const months = readRestatements(mirror, since);
  const most = Math.max(3, Math.floor(mostOrders / Math.max(1, currencies.length)));
  const orders = readRestatedOrders(mirror, since, most);
  const blocks: Block[] = [monthTable(context, months), orderTable(context, orders, months)];
  const none: Block = { kind: "text", text: "No reported month has changed." };
  return {
    id: "restated",
    title: "Months that changed since you reported them",
    lead: months.length === 0 ? "" : "Orders came late, were refunded or were cancelled since.",
    blocks: [...(months.length === 0 ? [none] : blocks), ...lossLines(context)],
  };
}

/** What reported months usually lose afterwards, a line per currency. */
function lossLines({ mirror, currencies, numbers }: Context): Block[] {
  const losses = readRefundLosses(mirror).filter(({ currency }) => currencies.includes(currency));
  return losses.map((loss) => {
    const whose = losses.length > 1 ? `${currencyName(loss.currency)}: ` : "";
    return { kind: "text", text: `${whose}${lossLine(loss, numbers)}` };
  });
}

function lossLine(
  { share, months, least, most }: RefundLoss,
  { percent, count }: Context["numbers"],
): string {
  const range =
    months === 1 ? "1 month" : `${count(months).text} months, ${percent(least)} to ${percent(most)}`;
  return `Reported months have so far lost ${percent(share)} to later refunds (${range}).`;
}

function monthTable({ numbers }: Context, months: readonly Restatement[]): Block {
  return {
    kind: "table",
    title: "Months",
    columns: [
      { key: "month", title: "Month", kind: "short" },
      currencyColumn,
      { key: "reported_at", title: "Reported", kind: "short", is_spare: true },
      { key: "net_reported", title: "Net then", kind: "number", is_spare: true },
      { key: "net_now", title: "Net now", kind: "number" },
      { key: "difference", title: "Difference", kind: "number" },
      { key: "orders", title: "Orders", kind: "number", is_spare: true },
    ],
    rows: months.map((row) => [
      monthCell(row.month),
      currencyCell(row),
      { value: row.reported_at, text: dayName(row.reported_at) },
      numbers.amount(row.net_reported, row.currency),
      numbers.amount(row.net_now, row.currency),
      numbers.signed(row.difference, row.currency),
      numbers.count(row.orders),
    ]),
    source: "restatements",
  };
}

function orderTable(
  { numbers }: Context,
  orders: readonly RestatedOrder[],
  months: readonly Restatement[],
): Block {
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const title =
    orders.length < all
      ? `The ${orders.length} largest of ${numbers.count(all).text} changed orders`
      : "Changed orders";
  return {
    kind: "table",
    title,
    columns: [
      { key: "order", title: "Order", kind: "name" },
      { key: "month", title: "Month", kind: "short", is_spare: true },
      { key: "what", title: "Change", kind: "short" },
      { key: "seen_at", title: "Seen", kind: "short", is_spare: true },
      { key: "host", title: "Host", kind: "name", is_spare: true },
      currencyColumn,
      { key: "difference", title: "Difference", kind: "number" },
    ],
    rows: orders.map((row) => [
      words(row.order_number ?? row.order_id),
      monthCell(row.month),
      words(row.what, ""),
      { value: row.seen_at, text: dayName(row.seen_at) },
      words(row.host_name, "no host"),
      currencyCell(row),
      numbers.signed(row.difference, row.currency),
    ]),
    source: "restated_orders",
  };
}

const currencyColumn: Column = { key: "currency", title: "Currency", kind: "short" };

function currencyCell({ currency }: { currency: string | null }): Cell {
  return { value: currency, text: currencyName(currency) };
}

function monthCell(month: string): Cell {
  return { value: month, text: shortMonth(month) };
}
