import type { OrderBook, Range } from "./order-book.js";
import { stateBits } from "./order-facts.js";
import { day } from "./timeline.js";

/** What one host sold: amounts in hundredths, currencies as they come. */
export interface Sales {
  orders: number;
  tracked: number;
  manual: number;
  revenue: number;
  subtotal: number;
}

/** Sales by place in the world's hosts; negative: hosts that no longer exist. */
export type HostSales = ReadonlyMap<number, Sales>;

/** Whether refunds are taken off the revenue: the document does not say. */
export type Revenue = "net" | "gross";

/**
 * Sales per day and host, from walking each day's orders once. Cancelled orders count nowhere; days that an event
 * touched are walked again.
 */
export interface SalesBook {
  /** Sales of the orders placed within the range; it must not cross midnight UTC. */
  ofDay(range: Range): HostSales;
  /** Rises whenever an answer may have changed. */
  version(): number;
}

export function createSalesBook(book: OrderBook, revenue: Revenue): SalesBook {
  const days = new Map<number, HostSales>();
  let changes = 0;

  function version(): number {
    const touched = book.takeTouchedDays();
    if (touched.size > 0) changes++;
    for (const number of touched) days.delete(number);
    return changes;
  }

  function ofDay(range: Range): HostSales {
    version();
    if (range.to - range.from < day - 1) return walk(range);
    const number = Math.floor(range.from / day);
    const known = days.get(number) ?? walk(range);
    days.set(number, known);
    return known;
  }

  function walk(range: Range): HostSales {
    const sales = new Map<number, Sales>();
    for (const place of book.page(range, "all", 0, Number.POSITIVE_INFINITY)) {
      const facts = book.facts(place);
      if (facts.bits & stateBits.cancelled) continue;
      let row = sales.get(facts.host);
      if (!row) {
        row = { orders: 0, tracked: 0, manual: 0, revenue: 0, subtotal: 0 };
        sales.set(facts.host, row);
      }
      row.orders++;
      if (facts.manual) row.manual++;
      else row.tracked++;
      row.revenue += (facts.total ?? 0) - (revenue === "net" ? facts.refund : 0);
      row.subtotal += facts.subtotal ?? 0;
    }
    return sales;
  }

  return { ofDay, version };
}
