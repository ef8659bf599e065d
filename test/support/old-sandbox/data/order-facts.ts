import { below, type Draws, draws, gather, hash, hex, next, scatter, topics, unit } from "./random.js";
import { day } from "./timeline.js";
import type { World } from "./world.js";

/** An order's state, as bits: cancelled and refunded can both hold, and a partial refund is neither. */
export const stateBits = { cancelled: 1, refunded: 2, partial: 4 } as const;

/** The order filter's values: API document, "Order filter `status`". */
export const orderStatuses = ["all", "active", "cancelled", "refunded"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** Which orders a filter holds: `active` is neither cancelled nor fully refunded, the other two may overlap. */
export function hasStatus(bits: number, status: OrderStatus): boolean {
  if (status === "all") return true;
  if (status === "active") return (bits & (stateBits.cancelled | stateBits.refunded)) === 0;
  return (bits & stateBits[status]) !== 0;
}

/** Places that stand for "no host": sales of two usernames that no longer exist. */
export const vanishedHosts = [-1, -2] as const;

export interface OrderItem {
  product: number;
  variant: number;
  quantity: number | null;
  cents: number | null;
}

/** What later events changed about an order. */
export interface OrderChange {
  bits?: number;
  refundCents?: number;
  host?: number;
  rate?: number;
  manual?: boolean;
}

/** What money, analytics and the rendered record of an order have in common. Amounts in hundredths. */
export interface OrderFacts {
  index: number;
  date: number;
  store: number;
  /** Place in the world's hosts, or negative for none. */
  host: number;
  manual: boolean;
  bits: number;
  items: OrderItem[];
  subtotal: number | null;
  total: number | null;
  refund: number;
  /** The host's rate on this order where it is not the brand's default. */
  rate: number | undefined;
}

/** The state in which the history leaves order `index` at the anchor: a refund due later has not happened yet. */
export function fateOf(world: World, index: number): number {
  const u = unit(world.seed, topics.fate, index);
  if (u >= 0.087 || index >= world.timeline.length) return 0;
  const delay = (0.2 - Math.log(1 - unit(world.seed, topics.fate, -index - 7)) * 18) * day;
  if (world.timeline.dateOf(index) + Math.min(delay, 150 * day) > world.anchor) return 0;
  if (u < 0.02) return stateBits.cancelled;
  if (u < 0.027) return stateBits.cancelled | stateBits.refunded;
  return u < 0.057 ? stateBits.refunded : stateBits.partial;
}

export function orderFacts(
  world: World,
  index: number,
  date: number,
  change: OrderChange | undefined,
): OrderFacts {
  const d = draws(world.seed, topics.order, index);
  const store = below(d, 8);
  const hostDraw = next(d);
  const spun = world.hostWheel[below(d, world.hostWheel.length)] ?? 0;
  const host = hostDraw < 0.014 ? -1 : hostDraw < 0.02 ? -2 : spun;
  const manual = next(d) < 0.04;
  const unpriced = next(d) < 0.006;
  const items = drawItems(world, d);
  let subtotal = 0;
  for (const item of items) {
    const listed = world.catalog.products[item.product]?.cents ?? 0;
    subtotal += (item.cents ?? listed) * (item.quantity ?? 1);
  }
  const discount = next(d);
  if (discount < 0.2) subtotal = Math.round(subtotal * (discount < 0.1 ? 0.9 : 0.85));
  const shipping = next(d) < 0.5 ? 0 : 490;
  const total = subtotal + Math.round(subtotal * (store < 4 ? 0.08 : 0)) + shipping;
  const bits = change?.bits ?? fateOf(world, index);
  return {
    index,
    date,
    store,
    host: change?.host ?? host,
    manual: change?.manual ?? manual,
    bits,
    items,
    subtotal: unpriced ? null : subtotal,
    total: unpriced ? null : total,
    refund: change?.refundCents ?? fatedRefund(world, index, bits, total, unpriced),
    rate: change?.rate ?? world.hosts[change?.host ?? host]?.customRate ?? undefined,
  };
}

function fatedRefund(world: World, index: number, bits: number, total: number, unpriced: boolean): number {
  if (unpriced) return 0;
  if (bits & stateBits.refunded) return total;
  if (bits & stateBits.partial)
    return Math.max(1, Math.round(total * (0.1 + 0.7 * unit(world.seed, topics.fate, -index - 8))));
  return 0;
}

function drawItems(world: World, d: Draws): OrderItem[] {
  const spread = next(d);
  const count = spread < 0.55 ? 1 : spread < 0.85 ? 2 : 3;
  const items: OrderItem[] = [];
  for (let n = 0; n < count; n++) {
    const product = world.productWheel[below(d, world.productWheel.length)] ?? 0;
    const odd = next(d);
    items.push({
      product,
      variant: below(d, 5),
      quantity: odd < 0.01 ? null : odd < 0.85 ? 1 : 2 + below(d, 3),
      cents: next(d) < 0.01 ? null : (world.catalog.products[product]?.cents ?? 0),
    });
  }
  return items;
}

/** The platform's order id: an index can be found again in it. */
export function orderId(world: World, index: number): string {
  const front = hash(world.seed, topics.orderId, index);
  return `ord_${hex(front, 8)}${hex(scatter(index ^ world.seed), 8)}`;
}

/** The index inside an id, or undefined where this world never issued the id. */
export function orderIndex(world: World, id: string): number | undefined {
  if (!/^ord_[0-9a-f]{16}$/.test(id)) return undefined;
  const index = (gather(Number.parseInt(id.slice(12), 16)) ^ world.seed) >>> 0;
  return orderId(world, index) === id ? index : undefined;
}
