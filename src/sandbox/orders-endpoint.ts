import { dayMs, formatInstant, secondMs } from "../util/timestamps.js";
import type { Brand } from "./brand.js";
import {
  type Endpoint,
  type EndpointContext,
  instant,
  oneOf,
  paging,
  parseQuery,
  respondWithPage,
  selectRange,
  toRange,
} from "./endpoint.js";
import { defaultRate, type Host, repeatByWeight, toHost } from "./people.js";
import {
  chance,
  createRandom,
  hash,
  orNull,
  pick,
  type RandomStream,
  randomFloat,
  randomHex,
  randomInteger,
} from "./random.js";

export interface Order {
  [field: string]: unknown;
  id: string;
  order_number: string | null;
  order_date: string;
  currency: string | null;
  total_amount: number | null;
  subtotal_amount: number | null;
  refund_amount: number | null;
  financial_status: string | null;
  is_cancelled: boolean;
  is_refunded: boolean;
  commission_rate: number;
  commission_amount: number | null;
  attribution: string;
  host: Host | null;
}

export interface Product {
  id: string;
  title: string;
  coverPhoto: string | null;
  sku: string;
  /** The unit price in hundredths of the order's currency. */
  cents: number;
  variants: readonly (string | null)[];
  weight: number;
}

export const ordersEndpoint: Endpoint = {
  path: "/orders",
  scope: "analytics:read",
  needsAnalyticsPlan: true,
  handle: listOrders,
};

function listOrders({ brand, query }: EndpointContext) {
  const { start_date, end_date, status, ...page } = parseQuery(
    {
      ...paging,
      start_date: instant,
      end_date: instant,
      status: oneOf(["all", "active", "cancelled", "refunded"], "all"),
    },
    query,
  );
  const orders = selectRange(brand.orders, "order_date", toRange(start_date, end_date));
  const matching = status === "all" ? orders : orders.filter((order) => hasStatus(order, status));
  return respondWithPage(matching, page);
}

function hasStatus(order: Order, status: "active" | "cancelled" | "refunded"): boolean {
  if (status === "cancelled") return order.is_cancelled === true;
  if (status === "refunded") return order.is_refunded === true;
  return order.is_cancelled !== true && order.is_refunded !== true;
}

interface Store {
  currency: string;
  paid: string | null;
  /** The `refund_amount` of an order without refunds: 0, or null for affiliate networks. */
  noRefund: number | null;
  external(n: number, random: RandomStream): string | null;
  number(n: number): string | null;
}

const usd = { currency: "USD", paid: "paid", noRefund: 0 };
const eur = { ...usd, currency: "EUR" };
const gbp = { ...usd, currency: "GBP" };
const network = { paid: null, noRefund: null };
const padded = (n: number) => String(100_000_000 + n).slice(1);

const stores: readonly Store[] = [
  { ...usd, external: (n) => String(5_480_000_000_000 + n * 32_768), number: (n) => `#${1_000 + n}` },
  { ...usd, external: (n) => `wc-${10_000 + n}`, number: (n) => `${10_000 + n}`, paid: "completed" },
  { ...usd, external: padded, number: padded, paid: "processing" },
  {
    ...usd,
    external: (_, random) => `${randomHex(random, 8)}-${randomHex(random, 4)}`,
    number: () => null,
    paid: "PAID",
  },
  { ...eur, external: (n) => `gid://store/Order/${n}`, number: (n) => `EU-${n}` },
  { ...gbp, external: (n) => `4417.${n}`, number: () => null, noRefund: null },
  { ...eur, ...network, external: (n) => `TX_${n}`, number: (n) => `R${n}` },
  { ...gbp, external: (n) => (n % 40 ? `${n * 7 + 13}` : null), number: (n) => `No. ${n}` },
];

const titles =
  `Ridgeline Shell Jacket|Fern 28 Daypack|Trail Gaiters 6"|Hut Slippers, Wool|Nordlys Headlamp 400|Mütze Gipfelglück|` +
  `Alpine Start Bib|O'Malley Merino Tee|Dry Sack 13 L|Compass Running Vest|The "Everyday" Cap|Long Haul Duffel, 60 L|` +
  `Crème Solaire SPF 50|Kaffeekanne 0,75 l|Granite Climbing Chalk|Packable Down Quilt|River Sandals|` +
  `Summit Socks 3-Pack 🧦|Glacier Sunglasses|Half-Dome Tent 2P|Bikepacking Bar Bag|Trail Runner GTX|Rope Bag & Tarp`;
const lists = `My Everyday Carry|Race Day|Winter Essentials ❄️|What's in my pack?|Huttentour, 5 Tage|"Must haves"|Yoga & Recovery`;

const gearLists = lists.split("|").map((title, index) => ({
  id: `list_${randomHex(createRandom(7, "gear list", index), 8)}`,
  title,
}));

export function createProducts(seed: number): Product[] {
  return titles.split("|").map((title, index) => {
    const random = createRandom(seed, "product", index);
    const id = `prod_${randomHex(random, 8)}`;
    const colors = ["Moss / S", "Slate / M", "Night Blue / L", "Crème / XL"];
    return {
      id,
      title,
      coverPhoto: orNull(random, 0.1, `https://images.example.com/products/${id}.jpg`),
      sku: `FF-${100 + index}`,
      cents: randomInteger(random, 9, 260) * 100 + pick(random, [0, 0, 50, 90, 95, 99]),
      variants: randomInteger(random, 0, 2) === 0 ? [null, "Default Title"] : colors,
      weight: randomInteger(random, 1, 12),
    };
  });
}

export const historyDays = 730;

export function createOrderFactory({ seed, people, products }: Brand) {
  const hosts = repeatByWeight(people).map((person) => ({ host: toHost(person), rate: person.rate }));
  const weightedProducts = repeatByWeight(products);

  return (n: number, date: number, isManual?: boolean): Order => {
    const random = createRandom(seed, "order", n);
    const id = `ord_${randomHex(random, 8)}${randomHex(random, 8)}`;
    const store = pick(random, stores);
    const isManualOrder = isManual ?? chance(random, 0.04);
    const from = hosts.length === 0 || chance(random, 0.02) ? null : pick(random, hosts);
    const lines = Array.from({ length: weightedProducts.length && pick(random, [1, 1, 1, 2, 2, 3]) }, () =>
      createLine(random, weightedProducts),
    );
    const discount = pick(random, [1, 1, 1, 1, 1, 1, 1, 1, 0.9, 0.85]);
    const subtotal = Math.round(lines.reduce((sum, { cents }) => sum + cents, 0) * discount);
    const tax = Math.round(subtotal * (store.currency === "USD" ? 0.08 : 0));
    const total = subtotal + tax + (chance(random, 0.5) ? 0 : 490);
    const unpriced = chance(random, 0.006);
    const product = lines[0]?.product;
    return withCommission({
      id,
      external_order_id: store.external(n, random),
      order_number: store.number(n),
      // Omit the milliseconds from some dates, because the API may send dates with or without them.
      order_date: isManualOrder ? `${formatInstant(date).slice(0, 19)}Z` : formatInstant(date),
      currency: orNull(random, 0.003, store.currency),
      total_amount: unpriced ? null : total / 100,
      subtotal_amount: unpriced ? null : subtotal / 100,
      refund_amount: store.noRefund,
      financial_status: store.paid,
      fulfillment_status: pick(random, [
        "fulfilled",
        "fulfilled",
        "fulfilled",
        "partial",
        "unfulfilled",
        null,
      ]),
      is_cancelled: false,
      is_refunded: false,
      commission_rate: from?.rate ?? defaultRate,
      commission_amount: null,
      attribution: isManualOrder ? "manual" : "tracked",
      host: from?.host ?? null,
      product:
        !product || isManualOrder || chance(random, 0.25)
          ? null
          : { id: product.id, title: product.title, cover_photo: product.coverPhoto },
      gear_list: isManualOrder || chance(random, 0.4) ? null : pick(random, gearLists),
      line_items: lines.map(({ item }) => item),
    });
  };
}

/** Refunds or cancels about one in eleven orders within 150 days. */
function refundOrCancelSome(order: Order, seed: number, n: number, now: number): Order {
  const random = createRandom(seed, "fate", n);
  const outcome = randomFloat(random);
  const delay = Math.min(150, 0.2 - Math.log(1 - randomFloat(random)) * 18) * dayMs;
  if (outcome >= 0.087 || Date.parse(order.order_date) + delay > now) return order;
  if (outcome < 0.02) return cancelOrder(order);
  if (outcome < 0.027) return cancelOrder(refundOrder(order));
  return refundOrder(
    order,
    outcome < 0.057 ? undefined : Number(order.total_amount) * (0.1 + 0.7 * randomFloat(random)),
  );
}

function createLine(random: RandomStream, weightedProducts: readonly Product[]) {
  const product = pick(random, weightedProducts);
  const quantity = orNull(random, 0.01, chance(random, 0.85) ? 1 : randomInteger(random, 2, 4));
  const item = {
    title: orNull(random, 0.015, product.title),
    variant_title: product.variants[randomInteger(random, 0, product.variants.length - 1)] ?? null,
    sku: orNull(random, 0.05, `${product.sku}-${randomInteger(random, 0, 4)}`),
    quantity,
    price: orNull(random, 0.01, product.cents / 100),
  };
  return { item, product, cents: product.cents * (quantity ?? 1) };
}

export function refundOrder(order: Order, amount = Number.POSITIVE_INFINITY): Order {
  const total = order.total_amount ?? 0;
  const refund = Math.min(total, Math.round(((order.refund_amount ?? 0) + amount) * 100) / 100);
  const isRefunded = refund >= total;
  const financial_status = isRefunded ? "refunded" : "partially_refunded";
  return withCommission({ ...order, refund_amount: refund, is_refunded: isRefunded, financial_status });
}

export function cancelOrder(order: Order): Order {
  const financial_status = order.is_refunded ? "refunded" : "voided";
  return withCommission({ ...order, is_cancelled: true, fulfillment_status: "cancelled", financial_status });
}

/** Recomputes the commission. A refund reduces it proportionally, and a cancellation reduces it to zero. */
export function withCommission(order: Order): Order {
  const { total_amount: total, subtotal_amount: subtotal, refund_amount: refund, is_cancelled } = order;
  if (total === null || subtotal === null) return { ...order, commission_amount: null };
  const share = is_cancelled || total === 0 ? 0 : 1 - (refund ?? 0) / total;
  return { ...order, commission_amount: Math.round(subtotal * share * order.commission_rate) / 100 };
}

export function createOrders(brand: Brand, count: number, now: number): Order[] {
  const { seed } = brand;
  const createOrder = createOrderFactory(brand);
  const history = Array.from({ length: count }, (_, n) => {
    const datedAs = n > 0 && hash(seed, "tie", n) % 64 === 0 ? n - 1 : n;
    return refundOrCancelSome(createOrder(n, dateOf(datedAs, count, seed, now)), seed, n, now);
  });
  return history.reverse();
}

/**
 * Returns a random date for an order. The number of orders per day doubles over the history, and few orders are placed
 * at night.
 */
function dateOf(n: number, count: number, seed: number, now: number): number {
  const start = now - historyDays * dayMs;
  const share = (n + 0.9 * randomFloat(createRandom(seed, "date", n))) / count;
  const date = start + (Math.sqrt(1 + 3 * share) - 1) * (now - start);
  const midnight = Math.floor(date / dayMs) * dayMs;
  const time = (date - midnight) / dayMs;
  const shifted = midnight + dayMs > now ? time : time < 0.1 ? time * 3 : 0.3 + (time - 0.1) * (7 / 9);
  return Math.floor((midnight + shifted * dayMs) / secondMs) * secondMs;
}
