import { type HostRecord, hostRecord } from "./hosts.js";
import { type OrderFacts, type OrderItem, orderId, stateBits } from "./order-facts.js";
import { chance, type Draws, draws, hash, hex, pick, topics } from "./random.js";
import { isoText } from "./timeline.js";
import type { World } from "./world.js";

/** An order as `/orders` serves it: API document, "Order". */
export interface OrderRecord {
  id: string;
  external_order_id: string | null;
  order_number: string | null;
  order_date: string;
  currency: string | null;
  total_amount: number | null;
  subtotal_amount: number | null;
  refund_amount: number | null;
  financial_status: string | null;
  fulfillment_status: string | null;
  is_cancelled: boolean;
  is_refunded: boolean;
  commission_rate: number;
  commission_amount: number | null;
  attribution: string;
  host: HostRecord | null;
  product: { id: string; title: string; cover_photo: string | null } | null;
  gear_list: { id: string; title: string } | null;
  line_items: LineItemRecord[];
}

export interface LineItemRecord {
  title: string | null;
  variant_title: string | null;
  sku: string | null;
  quantity: number | null;
  price: number | null;
}

/** How each of the eight connected stores and networks numbers its orders. */
interface StoreStyle {
  currency: string | null;
  external(number: number, noise: number): string | null;
  number(number: number): string | null;
  paid: string | null;
  /** Networks report no refund of zero: null until there is one. */
  zeroRefund: number | null;
}

const stores: readonly StoreStyle[] = [
  {
    currency: "USD",
    external: (n) => String(5_480_000_000_000 + n * 32_768),
    number: (n) => `#${1000 + n}`,
    paid: "paid",
    zeroRefund: 0,
  },
  {
    currency: "USD",
    external: (n) => `wc-${10_000 + n}`,
    number: (n) => String(10_000 + n),
    paid: "completed",
    zeroRefund: 0,
  },
  {
    currency: "USD",
    external: (n) => String(100_000_000 + n).slice(1),
    number: (n) => String(100_000_000 + n).slice(1),
    paid: "processing",
    zeroRefund: 0,
  },
  {
    currency: "USD",
    external: (n, noise) => `${hex(noise, 8)}-${hex(n, 4)}`,
    number: () => null,
    paid: "PAID",
    zeroRefund: 0,
  },
  {
    currency: "EUR",
    external: (n, noise) => `gid://store/Order/${noise}${n}`,
    number: (n) => `EU-${n}`,
    paid: "paid",
    zeroRefund: 0,
  },
  {
    currency: "GBP",
    external: (n, noise) => `4417.${noise % 9000}.${n}`,
    number: () => null,
    paid: "approved",
    zeroRefund: null,
  },
  {
    currency: "EUR",
    external: (n, noise) => `TX_${hex(noise, 6).toUpperCase()}${n}`,
    number: (n) => `R${n}`,
    paid: null,
    zeroRefund: null,
  },
  {
    currency: "GBP",
    external: (n, noise) => (noise % 40 === 0 ? null : String(n * 7 + 13)),
    number: (n) => `No. ${n}`,
    paid: "paid",
    zeroRefund: 0,
  },
];

const fulfilments = ["fulfilled", "fulfilled", "fulfilled", "partial", "unfulfilled", null] as const;

export function orderRecord(world: World, facts: OrderFacts): OrderRecord {
  const { index, bits } = facts;
  const store = stores[facts.store] as StoreStyle;
  const noise = hash(world.seed, topics.orderId, -index - 2);
  const d = draws(world.seed, topics.order, -index - 2);
  const host = world.hosts[facts.host];
  const rate = facts.rate ?? world.defaultRate;
  const refunded = (bits & stateBits.refunded) !== 0;
  return {
    id: orderId(world, index),
    external_order_id: store.external(index, noise),
    order_number: store.number(index),
    order_date: dateText(facts),
    currency: chance(d, 0.003) ? null : store.currency,
    total_amount: amount(facts.total),
    subtotal_amount: amount(facts.subtotal),
    refund_amount: facts.refund > 0 ? facts.refund / 100 : store.zeroRefund,
    financial_status: financialStatus(store, bits),
    fulfillment_status: bits & stateBits.cancelled ? "cancelled" : pick(d, fulfilments),
    is_cancelled: (bits & stateBits.cancelled) !== 0,
    is_refunded: refunded,
    commission_rate: rate,
    commission_amount: commission(facts, rate),
    attribution: facts.manual ? "manual" : "tracked",
    host: host ? hostRecord(host) : null,
    product: drawProduct(world, d, facts),
    gear_list: drawGearList(world, d, facts),
    line_items: facts.items.map((item) => lineItem(world, d, item)),
  };
}

/** The team's manual matches carry no milliseconds, trackers do: ISO 8601 allows both. */
function dateText(facts: OrderFacts): string {
  const text = isoText(facts.date);
  return facts.manual && facts.date % 1000 === 0 ? `${text.slice(0, 19)}Z` : text;
}

function amount(cents: number | null): number | null {
  return cents === null ? null : cents / 100;
}

function financialStatus(store: StoreStyle, bits: number): string | null {
  if (bits & stateBits.refunded) return "refunded";
  if (bits & stateBits.cancelled) return "voided";
  return bits & stateBits.partial ? "partially_refunded" : store.paid;
}

/** Commission on what the customer kept: a refund takes its share back, a cancellation all of it. */
function commission(facts: OrderFacts, rate: number): number | null {
  if (facts.subtotal === null || facts.total === null) return null;
  if (facts.bits & stateBits.cancelled) return 0;
  const kept = facts.total === 0 ? 0 : Math.max(0, 1 - facts.refund / facts.total);
  return Math.round((facts.subtotal * kept * rate) / 100) / 100;
}

function drawProduct(world: World, d: Draws, facts: OrderFacts): OrderRecord["product"] {
  const known = chance(d, 0.75);
  const product = world.catalog.products[facts.items[0]?.product ?? 0];
  if (!known || facts.manual || !product) return null;
  return { id: product.id, title: product.title, cover_photo: product.coverPhoto };
}

function drawGearList(world: World, d: Draws, facts: OrderFacts): OrderRecord["gear_list"] {
  const known = chance(d, 0.6);
  const list = pick(d, world.catalog.gearLists);
  return known && !facts.manual ? { id: list.id, title: list.title } : null;
}

function lineItem(world: World, d: Draws, item: OrderItem): LineItemRecord {
  const product = world.catalog.products[item.product];
  const gap = pick(d, gaps);
  return {
    title: gap === "title" ? null : (product?.title ?? null),
    variant_title: product?.variants[item.variant % product.variants.length] ?? null,
    sku: gap === "sku" ? null : `${product?.sku ?? "FF"}-${item.variant}`,
    quantity: item.quantity,
    price: amount(item.cents),
  };
}

/** What the store did not know about a line: seldom the title, now and then the SKU. */
const gaps = ["title", "sku", "sku", "sku", ...Array.from({ length: 60 }, () => null)] as const;
