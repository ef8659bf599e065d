import { counted } from "../../lib/counted.js";
import { dayMs, formatInstant } from "../../lib/times.js";
import type { Proof } from "../../query/index.js";
import type { Context } from "../context.js";
import { dayName, timeName } from "../dates.js";
import { type Section, sentence } from "../document.js";

/** The proof of the figures, the age of the data, and the limits of the API. */
export function proofSection({ proof, reached }: Context): Section {
  const blocks = [ageLine(proof, reached), ...unknowable].map(sentence);
  return { id: "proof", title: "What is proven", lead: proofLine(proof), blocks };
}

/** Returns in one sentence what is proven of the orders. */
export function proofLine({ against, proven }: Proof): string {
  if (against !== null) return `Not proven: ${against}`;
  if (proven === null) return "Not proven: the orders were never compared with the API's counts.";
  const { at, by, through, from } = proven;
  const since = from === null ? "" : ` from ${dayName(from)}`;
  const how = by === "verify" ? "`verify`" : "the sync";
  return `Orders are proven${since} through ${dayName(through)}: the API's counts agreed in ${how} of ${timeName(at)}.`;
}

function ageLine({ oldest_read_at: oldest, gaps }: Proof, reached: number): string {
  const days = oldest === null ? 0 : Math.floor(Math.max(0, reached - Date.parse(oldest)) / dayMs);
  const age = days === 0 ? "" : ` The oldest check was ${counted(days, "day")} before that.`;
  const never = gaps.length === 0 ? "" : " Some days between were never read: see `brandapi status`.";
  return `Orders were read up to ${timeName(formatInstant(reached))}.${age}${never}`;
}

const unknowable: readonly string[] = [
  "An order counts unless it is removed or cancelled. Net is gross less refunds. Days and months are UTC. Currencies are never added.",
  "The API does not say when a refund was made: it counts from when this mirror first saw it. It does not say what was paid: commissions are what was earned.",
  "A change to an old order that leaves the day's counts and totals as they were, such as a commission rate, is seen when the order is read again.",
];
