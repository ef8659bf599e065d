import { counted } from "../../lib/counted.js";
import { formatInstant, minuteOf } from "../../lib/times.js";
import type { Proof } from "../../query/index.js";
import type { Context } from "../context.js";
import { dayName, timeName } from "../dates.js";
import type { Section } from "../document.js";

/** What is proven, how old the data is, and what the API does not say. */
export function proofSection({ proof, reached }: Context): Section {
  const read = proof.read.map(({ resource, at }) => [
    { value: resource, text: resource },
    { value: at, text: at === null ? "never" : timeName(at) },
  ]);
  return {
    id: "proof",
    title: "What is proven",
    lead: proofLine(proof),
    blocks: [
      { kind: "text", text: ageLines(proof, reached).join(" ") },
      {
        kind: "table",
        title: "Last complete read",
        columns: [
          { key: "resource", title: "Resource", kind: "name" },
          { key: "at", title: "Read", kind: "short" },
        ],
        rows: read,
        source: "sync_runs",
      },
      {
        kind: "list",
        title: "What the API does not say",
        items: unknowable.map((text) => ({ value: text, text })),
      },
      {
        kind: "text",
        text: "An order counts unless it is removed or cancelled. Net is gross less refunds. Days and months are UTC. Currencies are never added.",
        is_note: true,
      },
    ],
  };
}

/** Returns in one sentence what is proven of the orders. */
export function proofLine({ against, proven }: Proof): string {
  if (against !== null) return `Not proven: ${against}`;
  if (proven === null) return "Not proven: the orders were never compared with the API's counts.";
  const { at, by, through, from } = proven;
  const since = from === null ? "" : ` from ${dayName(from)}`;
  const how = by === "verify" ? "`verify`" : "the sync";
  return `Orders are proven${since} through ${dayName(through)}: the API's counts and totals agreed in ${how} of ${timeName(at)}.`;
}

/** Gaps shown, the newest ones. */
const mostGaps = 3;

function ageLines({ oldest_read_at: oldest, gaps }: Proof, reached: number): string[] {
  const more = gaps.length - mostGaps;
  return [
    `Orders were read up to ${timeName(formatInstant(reached))}.`,
    ...(oldest === null
      ? []
      : [`The oldest check was ${ageOf(oldest, reached)} before that, on ${timeName(oldest)}.`]),
    ...gaps
      .slice(-mostGaps)
      .map(
        ({ from, to }) =>
          `Never read: ${from === null ? "the beginning" : minuteOf(from)} to ${minuteOf(to)}.`,
      ),
    ...(more > 0 ? [`${counted(more, "more gap")}: see \`brandapi status\`.`] : []),
  ];
}

function ageOf(oldest: string, reached: number): string {
  const days = Math.max(0, reached - Date.parse(oldest)) / 86_400_000;
  return days < 1 ? "less than a day" : counted(Math.floor(days), "day");
}

const unknowable: readonly string[] = [
  "When a refund was made: it counts from when this mirror first saw it.",
  "Changes to old orders that leave the day's counts and totals as they were, such as a commission rate, until the order is read again.",
  "What was paid: commissions are what was earned.",
  "How many shoppers there were: unique counts of days do not add up.",
];
