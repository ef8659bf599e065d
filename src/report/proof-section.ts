import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { dayMs } from "../util/timestamp.js";
import { paragraph, type Section } from "./document.js";
import { formatDay, formatTime } from "./formatting.js";
import type { ReportData } from "./report-data.js";
import type { Proof } from "./report-figures.js";

/** Creates the section about verification, the age of the data, and the API's limits. */
export function proofSection(data: ReportData): Section {
  const { proof } = data;
  const blocks = [ageLine(data), ...limits].map(paragraph);
  return { id: "proof", title: "What is proven", lead: proofLine(proof), blocks };
}

/** Returns true if the orders in some date range were verified and no later run has failed. */
export function isProven({ against, proven }: Proof): boolean {
  return against === null && proven !== null;
}

/** Describes, in one sentence, whether the orders are verified. */
export function proofLine({ against, proven }: Proof): string {
  if (against !== null) return `Not proven: ${against}`;
  if (proven === null) return "Not proven: the orders have never been compared with the API's counts.";
  const { at, by, through, from } = proven;
  const since = from === null ? "" : ` from ${formatDay(from)}`;
  const how = by === "verify" ? "`verify`" : "the sync";
  return `Orders${since} through ${formatDay(through)} are proven: their counts matched the API in ${how} of ${formatTime(at)}.`;
}

function ageLine({ isReadUntilKnown, proof, reached }: ReportData): string {
  const { oldest_read_at: oldest, gaps } = proof;
  if (!isReadUntilKnown)
    return `No date range has been read completely. The newest order is from ${formatDay(formatInstant(reached))}. See \`brandapi status\`.`;
  const days = oldest === null ? 0 : Math.floor(Math.max(0, reached - Date.parse(oldest)) / dayMs);
  const age = days === 0 ? "" : ` The oldest check is ${pluralize(days, "day")} older.`;
  const never = gaps.length === 0 ? "" : " Some days in between were never read: see `brandapi status`.";
  return `Orders have been read up to ${formatTime(formatInstant(reached))}.${age}${never}`;
}

const limits: readonly string[] = [
  "Removed and cancelled orders do not count. Net is gross minus refunds. Days and months are in UTC. Amounts in different currencies are never added together.",
  "The API does not provide refund dates, so a refund counts from the sync that first found it. Nor does the API report which commissions have been paid.",
  "A change to an old order that affects no count and no daily total, such as a new commission rate, is found only when the order is re-read.",
];
