import type { Proof } from "../query/report-figures.js";
import { pluralize } from "../util/text.js";
import { dayMs, formatInstant } from "../util/times.js";
import { paragraph, type Section } from "./document.js";
import { formatDay, formatTime } from "./formatting.js";
import type { ReportData } from "./report-data.js";

/** How the figures were verified, how old the data is, and what the API does not provide. */
export function proofSection(data: ReportData): Section {
  const { proof } = data;
  const blocks = [ageLine(data), ...limits].map(paragraph);
  return { id: "proof", title: "What is proven", lead: proofLine(proof), blocks };
}

/** True if the orders of some range of dates were verified, and no later run failed. */
export function isProven({ against, proven }: Proof): boolean {
  return against === null && proven !== null;
}

/** Returns one sentence about which orders are proven. */
export function proofLine({ against, proven }: Proof): string {
  if (against !== null) return `Not proven: ${against}`;
  if (proven === null) return "Not proven: the orders were never compared with the API's counts.";
  const { at, by, through, from } = proven;
  const since = from === null ? "" : ` from ${formatDay(from)}`;
  const how = by === "verify" ? "`verify`" : "the sync";
  return `Orders are proven${since} through ${formatDay(through)}: the API's counts agreed in ${how} of ${formatTime(at)}.`;
}

function ageLine({ isReadUntilKnown, proof, reached }: ReportData): string {
  const { oldest_read_at: oldest, gaps } = proof;
  if (!isReadUntilKnown)
    return `No range of dates counts as completely read; the newest order is of ${formatDay(formatInstant(reached))}. See \`brandapi status\`.`;
  const days = oldest === null ? 0 : Math.floor(Math.max(0, reached - Date.parse(oldest)) / dayMs);
  const age = days === 0 ? "" : ` The oldest check was ${pluralize(days, "day")} before that.`;
  const never = gaps.length === 0 ? "" : " Some days in between were never read: see `brandapi status`.";
  return `Orders were read up to ${formatTime(formatInstant(reached))}.${age}${never}`;
}

const limits: readonly string[] = [
  "Orders count unless they are removed or cancelled. Net is gross minus refunds. Days and months are UTC. Currencies are never added up.",
  "The API does not date refunds: a refund counts from the sync that first saw it. It does not report payouts either: commissions are the amounts earned.",
  "A change to an old order that affects no count and no daily total, such as a new commission rate, is found when the order is read again.",
];
