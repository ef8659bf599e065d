import { UsageError } from "../errors.js";
import { dayMs, formatInstant } from "../lib/times.js";
import { type Brand, happeningsOf, type Order } from "../sandbox/index.js";

/**
 * Changes a record in each of seven ways, of which the API says nothing. The seed chooses it.
 * @returns the record's id, the date of its order, and the check of `verify --evidence` that may show the change
 */
export function changeInSilence(brand: Brand, seed: number, now: number) {
  const happen = happeningsOf(brand, () => now);
  // The change, the age of its order in days, the check that may show it, and how; some return another record's id.
  const kinds: readonly [string, number, string, (order: Order) => unknown][] = [
    ["host left", 20, "one by one", () => happen.leave(brand.roster[0]?.host.id ?? "")],
    ["refunded", 15, "refunded", ({ id }) => happen.refund(id)],
    ["refunded in part", 275, "a day", ({ id, total_amount }) => happen.refund(id, Number(total_amount) / 3)],
    ["attributed late", 60, "a day", ({ order_date }) => happen.attributeLate(Date.parse(order_date))],
    ["withdrawn", 150, "a day", ({ id }) => void happen.withdraw(id)],
    ["cancelled", 360, "cancelled", ({ id }) => happen.cancel(id)],
    ["commission raised", 550, "a day", (one) => happen.changeRate(one.id, one.commission_rate + 5)],
  ];
  return kinds.map(([what, days, check, change]) => {
    const isOfAge = (one: Order) => Math.abs((now - Date.parse(one.order_date)) / dayMs / days - 1) < 1 / 6;
    const isPlain = (one: Order) => !one.is_cancelled && !one.refund_amount && one.total_amount;
    const fit = brand.orders.filter((one) => isOfAge(one) && isPlain(one));
    const order = fit[(seed * 7_919) % fit.length];
    if (!order) throw new UsageError(`No order is ${days} days old.`, { hint: "take more with `--orders`" });
    const id = String(change(order) ?? order.id);
    return { name: `${what}, ${id}`, id, dated: formatInstant(Date.parse(order.order_date)), check };
  });
}
