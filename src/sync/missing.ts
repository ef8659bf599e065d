import { counted } from "../counted.js";
import { dayOf, join, type Range, subtract, within } from "../ranges.js";
import type { Figures, Missing } from "../state/index.js";
import { partsOf } from "./figures.js";
import { readRange } from "./read.js";
import { mostPerPage, type SyncRun } from "./run.js";

/**
 * Looks once more for who was missing from an earlier run: they may be back. However many requests it takes: no more
 * than that run spent, and nobody could be removed without.
 */
export async function seekMissing(run: SyncRun, figures: Figures | null): Promise<void> {
  const days = new Set(unsought(run).map(({ dated }) => dayOf(dated ?? 0)));
  for (const part of partsOf(run, [...days], mostPerPage))
    for (const range of within(join(run.state.coverage()), part)) await readRange(run, range, figures);
}

/** Why nobody who is missing may be removed, although the counts agree; null: they are gone. */
export function doubtAboutMissing(run: SyncRun): string | null {
  if (unreadOf(run).length === 0) return doubtOf([...unsought(run), ...uncounted(run)]);
  const doubt = doubtOf(run.state.missing());
  return doubt && `${doubt}, since what was not read may have it: run \`brandapi sync ${run.resource.name}\``;
}

export function doubtOf(missing: readonly Missing[]): string | null {
  if (missing.length === 0) return null;
  return `${counted(missing.length, "record")} not found under the date known, and nothing was removed`;
}

/** What was never read, between the oldest date that was asked for and now: a record may have been moved there. */
function unreadOf({ now, state }: SyncRun): Range[] {
  return subtract([{ from: state.floor() ?? Number.NEGATIVE_INFINITY, to: now }], state.coverage());
}

/** Who is missing, and was not looked for by this run. */
function unsought({ now, row, state }: SyncRun): Missing[] {
  const own = state.coverage().filter(({ runId }) => runId === row.run_id);
  return missingOutside(state.missing(), own, now);
}

/** Who is missing where no count speaks of it: on a day or in a minute that an end cuts, where no finer dates are shown. */
function uncounted({ now, resolution, state }: SyncRun): Missing[] {
  if (resolution <= 1_000) return [];
  const quiet = join(state.coverage()).map((range) => state.quiet(range));
  return missingOutside(state.missing(), quiet, now);
}

function missingOutside(missing: readonly Missing[], ranges: readonly Range[], now: number): Missing[] {
  const isIn = (dated: number) => ranges.some(({ from, to }) => dated >= from && dated < to + 1);
  return missing.filter(({ dated }) => dated !== null && dated <= now && !isIn(dated));
}
