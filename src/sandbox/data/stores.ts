import { type Draws, hex } from "./random.js";

/** How one of the eight connected stores and networks numbers its orders and calls their states. */
export interface Store {
  currency: string;
  external(n: number, d: Draws): string | null;
  number(n: number): string | null;
  paid: string | null;
  /** Networks report no refund of zero: null until there is one. */
  noRefund: number | null;
}

const shop = { currency: "USD", paid: "paid", noRefund: 0 };

export const stores: readonly Store[] = [
  { ...shop, external: (n) => String(5_480_000_000_000 + n * 32_768), number: (n) => `#${1_000 + n}` },
  { ...shop, external: (n) => `wc-${10_000 + n}`, number: (n) => `${10_000 + n}`, paid: "completed" },
  { ...shop, external: leadingZeros, number: leadingZeros, paid: "processing" },
  { ...shop, external: (_, d) => `${hex(d, 8)}-${hex(d, 4)}`, number: () => null, paid: "PAID" },
  { ...shop, currency: "EUR", external: (n) => `gid://store/Order/${n}`, number: (n) => `EU-${n}` },
  { ...shop, currency: "GBP", external: (n) => `4417.${n}`, number: () => null, noRefund: null },
  {
    ...shop,
    currency: "EUR",
    external: (n) => `TX_${n}`,
    number: (n) => `R${n}`,
    paid: null,
    noRefund: null,
  },
  { ...shop, currency: "GBP", external: (n) => (n % 40 ? `${n * 7 + 13}` : null), number: (n) => `No. ${n}` },
];

function leadingZeros(n: number): string {
  return String(100_000_000 + n).slice(1);
}
