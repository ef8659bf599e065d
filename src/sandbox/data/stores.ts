import { type Draws, hex } from "./random.js";

/** How one of the eight connected stores and networks numbers its orders and calls their states. */
interface Store {
  currency: string;
  paid: string | null;
  /** Networks report no refund of zero: null until there is one. */
  noRefund: number | null;
  external(n: number, d: Draws): string | null;
  number(n: number): string | null;
}

const usd = { currency: "USD", paid: "paid", noRefund: 0 };
const eur = { ...usd, currency: "EUR" };
const gbp = { ...usd, currency: "GBP" };
const network = { paid: null, noRefund: null };
const padded = (n: number) => String(100_000_000 + n).slice(1);

export const stores: readonly Store[] = [
  { ...usd, external: (n) => String(5_480_000_000_000 + n * 32_768), number: (n) => `#${1_000 + n}` },
  { ...usd, external: (n) => `wc-${10_000 + n}`, number: (n) => `${10_000 + n}`, paid: "completed" },
  { ...usd, external: padded, number: padded, paid: "processing" },
  { ...usd, external: (_, d) => `${hex(d, 8)}-${hex(d, 4)}`, number: () => null, paid: "PAID" },
  { ...eur, external: (n) => `gid://store/Order/${n}`, number: (n) => `EU-${n}` },
  { ...gbp, external: (n) => `4417.${n}`, number: () => null, noRefund: null },
  { ...eur, ...network, external: (n) => `TX_${n}`, number: (n) => `R${n}` },
  { ...gbp, external: (n) => (n % 40 ? `${n * 7 + 13}` : null), number: (n) => `No. ${n}` },
];
