type Order = Readonly<Record<string, unknown>>;

/**
 * The expected totals for a group of orders, computed independently of the views. Amounts are summed as integers, and
 * days are derived in JavaScript.
 */
export interface Figures {
  orders: number;
  cancelled_orders: number;
  orders_without_total: number;
  gross_amount: number;
  refunded_amount: number;
  net_amount: number;
  commission_amount: number;
}

export const amountOf = (value: unknown) =>
  typeof value === "string" && /^\d+\.\d\d$/.test(value)
    ? Number(value)
    : typeof value === "number"
      ? value
      : null;
const millionths = (value: unknown) => Math.round((amountOf(value) ?? 0) * 1e6);

/** Computes the expected totals for orders that have not been removed. */
export function sumFigures(orders: readonly Order[]): Figures {
  const counted = orders.filter((order) => order.is_cancelled !== true);
  const sum = (member: string) => counted.reduce((total, order) => total + millionths(order[member]), 0);
  const [gross, refunded] = [sum("total_amount"), sum("refund_amount")];
  return {
    orders: counted.length,
    cancelled_orders: orders.length - counted.length,
    orders_without_total: counted.filter((order) => amountOf(order.total_amount) === null).length,
    gross_amount: gross / 1e6,
    refunded_amount: refunded / 1e6,
    net_amount: (gross - refunded) / 1e6,
    commission_amount: sum("commission_amount") / 1e6,
  };
}

export function groupFigures<Group extends object>(
  orders: readonly Order[],
  groupOf: (order: Order) => Group,
): (Group & Figures)[] {
  const groups = new Map<string, Order[]>();
  for (const order of orders) {
    const group = JSON.stringify(groupOf(order));
    groups.set(group, [...(groups.get(group) ?? []), order]);
  }
  return [...groups].map(([group, some]) => ({ ...(JSON.parse(group) as Group), ...sumFigures(some) }));
}

export const dayOf = (order: Order) => new Date(String(order.order_date)).toISOString().slice(0, 10);
export const monthOf = (order: Order) => dayOf(order).slice(0, 7);
export const currencyOf = (order: Order) => (order.currency ?? null) as string | null;
export const hostOf = (order: Order) =>
  ((order.host as { id?: unknown } | null | undefined)?.id ?? null) as string | null;

export function sorted<Row extends object>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
