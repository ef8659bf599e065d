import { counted } from "../lib/counted.js";
import { minuteOf } from "../lib/times.js";
import { escapeText } from "../ui/text.js";
import { shorten, truncate } from "../ui/width.js";
import { of, type Report, type Sales } from "./figures.js";
import type { Numbers } from "./numbers.js";
import { dayName } from "./period.js";

/** What page and text say alike. */

/** A currency's name; `no currency` where the API names none. What is no such name is shown, and cut. */
export function currencyName(currency: string | null): string {
  return currency === null ? "no currency" : truncate(escapeText(shorten(currency)), longestCurrency);
}

const longestCurrency = 16;

/** `2 Nov 2026, 04:57 UTC`. */
export function timeOf(at: string): string {
  return `${dayName(at.slice(0, 10))}, ${minuteOf(at).slice(11)} UTC`;
}

/** What is compared, and what the comparison cannot show. */
export function comparison({ period }: Sales): string {
  if (!period.is_read)
    return "A part of these days was never read: these are the figures of what was, beside nothing.";
  if (!period.before.is_read) return "The time before was not read whole, so nothing is compared with it.";
  const through = period.is_partial ? `Through ${dayName(period.through)}, beside` : "Beside";
  return `${through} ${period.before.name}, whose refunds have had longer to come.`;
}

/** The first thing to know: `Net is down 19.3% in USD and up 0.5% in EUR.` Empty where nothing can be compared. */
export function summaryLine(report: Sales, numbers: Numbers): string {
  const moves = report.currencies.flatMap((currency) => {
    const [now] = of(report.sales.now, currency);
    const [before] = of(report.sales.before, currency);
    if (before === undefined || before.net_amount <= 0) return [];
    const moved = ((now?.net_amount ?? 0) - before.net_amount) / before.net_amount;
    const share = numbers.percent(Math.abs(moved));
    const way = share === numbers.percent(0) ? "the same" : `${moved > 0 ? "up" : "down"} ${share}`;
    return [`${way} in ${currencyName(currency)}`];
  });
  const told = moves.slice(0, summed);
  const last = told.pop();
  if (last === undefined) return "";
  return `Net is ${told.length === 0 ? last : `${told.join(", ")} and ${last}`}.`;
}

/** More than that nobody takes in at once. */
const summed = 3;

/** That there is none: a time of which a part was never read may have had some. */
export function noOrder({ period }: Sales): string {
  return period.is_read ? "No order in this time." : "No order in what was read of this time.";
}

/** Why nothing is told by day. */
export function noDays(report: Sales): string {
  return report.sales.now.length + report.sales.before.length === 0
    ? noOrder(report)
    : "These are more days than anybody reads: `sales_by_day` has them.";
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
    ...proof.gaps
      .slice(-gapsTold)
      .map(
        ({ from, to }) =>
          `Never read: ${from === null ? "the beginning" : minuteOf(from)} to ${minuteOf(to)}.`,
      ),
    ...(proof.gaps.length > gapsTold
      ? [
          `So ${proof.gaps.length - gapsTold === 1 ? "is" : "are"} ${counted(proof.gaps.length - gapsTold, "gap")} more.`,
        ]
      : []),
  ];
}

/** The newest of them. */
const gapsTold = 3;

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
