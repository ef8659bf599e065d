import { UsageError } from "../errors.js";
import { dayMs, formatInstant } from "../lib/times.js";
import { type Brand, type Happenings, happeningsOf, type Order } from "../sandbox/index.js";

/** Something that happened to a record, of which the API says nothing. */
export interface SilentChange {
  what: string;
  id: string;
  /** When the order was placed, ISO 8601; null: it is an entry of the roster. */
  dated: string | null;
}

/** What happens to an order that is about so many days old. A change that makes an order beside it returns its id. */
const kinds: readonly [string, number, (happen: Happenings, order: Order) => unknown][] = [
  ["refunded", 15, (happen, { id }) => happen.refund(id)],
  ["refunded in part", 275, (happen, { id, total_amount }) => happen.refund(id, Number(total_amount) / 3)],
  ["attributed late", 60, (happen, { order_date }) => happen.attributeLate(Date.parse(order_date))],
  ["withdrawn", 150, (happen, { id }) => happen.withdraw(id)],
  ["cancelled", 360, (happen, { id }) => happen.cancel(id)],
  ["commission raised", 550, (happen, one) => happen.changeRate(one.id, one.commission_rate + 5)],
];

/** Changes seven records of a brand. The seed chooses them. */
export function changeInSilence(brand: Brand, seed: number, now: number): SilentChange[] {
  const happen = happeningsOf(brand, () => now);
  const isPlain = (one: Order) =>
    !one.is_cancelled && !one.refund_amount && Number(one.total_amount) > 5 && one.commission_amount;
  const orders = kinds.map(([what, days, change]) => {
    const isOfAge = (one: Order) =>
      Math.abs(now - Date.parse(one.order_date) - days * dayMs) < (days * dayMs) / 6;
    const fit = brand.orders.filter((one) => isOfAge(one) && isPlain(one));
    const order = fit[(seed * 7_919) % fit.length];
    if (!order) throw new UsageError(`No order is ${days} days old.`, { hint: "take more with `--orders`" });
    const made = change(happen, order);
    const id = typeof made === "string" ? made : order.id;
    return { what, id, dated: formatInstant(Date.parse(order.order_date)) };
  });
  const left = brand.roster[seed % brand.roster.length];
  happen.leave(left?.host.id ?? "");
  return [{ what: "host left", id: left?.relationship_id ?? "", dated: null }, ...orders];
}
