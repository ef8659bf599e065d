import { counted } from "../counted.js";
import { minuteOf } from "../times.js";
import type { Report } from "./figures.js";
import { dayName } from "./period.js";

/** What page and text say alike. */

/** A currency's name; `no currency` where the API names none. */
export function currencyName(currency: string | null): string {
  return currency ?? "no currency";
}

/** `2 Nov 2026, 04:57 UTC`. */
export function timeOf(at: string): string {
  return `${dayName(at.slice(0, 10))}, ${minuteOf(at).slice(11)} UTC`;
}

/** `through 22 Nov 2026, beside 1 to 22 Oct 2026`. */
export function comparison({ period }: Report): string {
  const through = period.is_partial ? `Through ${dayName(period.through)}, beside` : "Beside";
  return `${through} ${period.before.name}.`;
}

/** In one sentence what of the orders is proven. */
export function provenLine({ proof }: Report): string {
  if (proof.against !== null) return `Not proven: ${proof.against}`;
  if (proof.proven === null)
    return "Not proven: no read of the orders was ever compared with the API's counts.";
  const { at, by, through, from } = proof.proven;
  const since = from === null ? "" : ` from ${dayName(from.slice(0, 10))}`;
  const how = by === "verify" ? "by `verify`" : "by the sync itself";
  return `Orders are proven${since} through ${dayName(through.slice(0, 10))}: the API's counts and figures agreed, ${how}, ${timeOf(at)}.`;
}

/** What else there is to know of how current the figures are. */
export function readLines({ proof, reached }: Report): string[] {
  const oldest = proof.oldest_read_at;
  return [
    `Orders were read up to ${timeOf(reached)}.`,
    ...(oldest === null
      ? []
      : [`The day read longest ago was read on ${timeOf(oldest)}, ${ageOf(oldest, reached)} before that.`]),
    ...proof.gaps.map(
      ({ from, to }) => `Never read: ${from === null ? "the beginning" : minuteOf(from)} to ${minuteOf(to)}.`,
    ),
  ];
}

function ageOf(oldest: string, reached: string): string {
  const days = Math.max(0, Date.parse(reached) - Date.parse(oldest)) / 86_400_000;
  return days < 1 ? "less than a day" : counted(Math.floor(days), "day");
}

/** What no mirror of this API can know. */
export const unknowable: readonly string[] = [
  "When a refund was made: the API gives no date, only what an order is now. A refund stands where this mirror first saw it.",
  "A change to an old order that moves no count and no figure of its day, such as a commission rate, until it is read again in turn.",
  "What was paid: commissions are what was earned, as the API states it.",
  "How many shoppers there were: unique counts do not add up over days, so none is shown.",
];

/** What an order did to be told otherwise, in words. */
export const whatHappened: Readonly<Record<string, string>> = {
  late: "came late",
  refunded: "refunded",
  cancelled: "cancelled",
  withdrawn: "withdrawn",
  returned: "came back",
  reinstated: "no longer cancelled",
  redated: "another date",
  currency: "another currency",
  amount: "another amount",
};
