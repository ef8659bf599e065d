import { dayMs } from "../lib/times.js";
import { type Brand, type Happenings, happeningsOf, type Order } from "../sandbox/index.js";

/** Something that happened to a record, of which the API says nothing. */
export interface SilentChange {
  resource: "orders" | "roster";
  id: string;
  /** When the order was placed, milliseconds since 1970; null: no order. */
  dated: number | null;
  what: string;
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
  const orders = kinds.map(([what, days, change]): SilentChange => {
    const age = ({ order_date }: Order) => (now - Date.parse(order_date)) / dayMs;
    const fit = brand.orders.filter((one) => Math.abs(age(one) - days) < days / 6 && isPlain(one));
    const order = fit[(seed * 7_919) % Math.max(1, fit.length)];
    if (!order) throw new RangeError(`No order is ${days} days old: take more with \`--orders\`.`);
    const made = change(happen, order);
    const id = typeof made === "string" ? made : order.id;
    return { resource: "orders", id, dated: Date.parse(order.order_date), what };
  });
  const { host, relationship_id = "" } = brand.roster[seed % brand.roster.length] ?? {};
  happen.leave(host?.id ?? "");
  return [{ resource: "roster", id: relationship_id, dated: null, what: "host left" }, ...orders];
}
