import { counted } from "../lib/counted.js";
import { dayOf, includes, join, type Range, subtract, within } from "../lib/ranges.js";
import type { Figures, Missing } from "../state/index.js";
import { partsOf } from "./figures.js";
import { readRange } from "./read.js";
import { type DatedRun, mostPerPage } from "./run.js";

/** Who is missing, but for those of earlier runs whose dates this one has not read. */
export function missedNow(run: DatedRun): Missing[] {
  const earlier = new Set(missingOutside(run, readBy(run)).map(({ id }) => id));
  return run.state.missing().filter(({ id }) => !earlier.has(id));
}

/**
 * Reads the days of who is missing once more: an answer may have been out of a cache, and who was missing from an
 * earlier run may be back. It may take as many requests as those runs have spent; without it nobody could be removed.
 */
export async function seekMissing(
  run: DatedRun,
  missing: readonly Missing[],
  figures: Figures | null,
): Promise<void> {
  const { now, state } = run;
  if (unreadOf(run).length > 0) return;
  const days = missing.flatMap(({ dated }) => (dated !== null && dated <= now ? dayOf(dated) : []));
  for (const part of join(partsOf(run, [...new Set(days)], mostPerPage)))
    for (const range of within(join(state.coverage()), part)) await readRange(run, range, figures);
}

/**
 * Why nobody who is missing may be removed; null: they are gone.
 * @param isDisputed whether something speaks against what was read
 */
export function doubtAboutMissing(
  run: DatedRun,
  figures: Figures | null,
  isDisputed: boolean,
): string | null {
  const { now, resource, state } = run;
  const isUnread = unreadOf(run).length > 0;
  // Only figures by day tell who has moved to a day that this run did not read.
  const isBlind =
    !figures?.days.size && state.hadFigures(now) && subtract(state.coverage(), readBy(run)).length > 0;
  const doubted = isDisputed || isUnread || isBlind ? state.missing() : missingOutside(run, countedOf(run));
  if (doubted.length === 0) return null;
  const doubt = `${counted(doubted.length, "record")} not found under the date known, and nothing was removed`;
  if (isUnread)
    return `${doubt}, since what was not read may have it: run \`brandapi sync ${resource.name}\``;
  return isBlind
    ? `${doubt}, while the API gives no figures by day: \`brandapi sync ${resource.name} --full\` looks on all days`
    : doubt;
}

/** What was never read, between the oldest date that was asked for and now: a record may have been moved there. */
function unreadOf({ now, state }: DatedRun): Range[] {
  return subtract([{ from: state.floor() ?? Number.NEGATIVE_INFINITY, to: now }], state.coverage());
}

/** What this run has read: it has looked for whoever is missing there. */
function readBy({ row, state }: DatedRun): Range[] {
  return state.coverage().filter(({ runId }) => runId === row.run_id);
}

/** Of that, where a count speaks of them: not on a day or in a minute that an end cuts, where no finer dates are shown. */
function countedOf(run: DatedRun): Range[] {
  const { resolution, state } = run;
  const sought = readBy(run);
  if (resolution <= 1_000) return sought;
  const quiet = join(state.coverage()).map((range) => state.quiet(range));
  return sought.flatMap((range) => within(quiet, range));
}

/** Who is missing outside of some ranges; those without a date, or with one to come, are in none. */
function missingOutside({ now, state }: DatedRun, ranges: readonly Range[]): Missing[] {
  const isIn = (dated: number) => ranges.some((range) => includes(range, dated));
  return state.missing().filter(({ dated }) => dated !== null && dated <= now && !isIn(dated));
}
