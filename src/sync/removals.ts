import { Incomplete } from "../errors.js";
import { transactInParts } from "../mirror/index.js";
import { describe, type Range } from "../ranges.js";
import { countKnown, countPresent } from "../state/index.js";
import { formatInstant } from "../times.js";
import type { SyncRun } from "./run.js";

/** Whether a reading would remove more than anyone should believe: over half of more than 20 records. */
export function isImplausible(removals: number, known: number): boolean {
  return known > 20 && removals > known / 2;
}

/** How many records would be removed of how many that were known, and how many would be left in all. */
interface Gone {
  removals: number;
  known: number;
  left: number;
  /** The dates in which so many were known; undefined: at all. */
  around?: Range | undefined;
  /** What they are. */
  what?: string;
}

/** @throws Incomplete when so many removals are implausible, or nothing would be left, and nobody accepted it */
export function refuseImplausible(
  { options, resource }: Pick<SyncRun, "options" | "resource">,
  { removals, known, left, around, what = "mirrored records" }: Gone,
): void {
  const isRefused = removals > 0 && (left === 0 || isImplausible(removals, known));
  const where = around ? `${describe(around)}: ` : "";
  if (isRefused && !options.acceptRemovals)
    throw new Incomplete(
      `${resource.name}: ${where}the API no longer returns ${removals} of ${known} ${what}: nothing was removed.`,
      { hint: "if that is right, run the same command again with `--accept-removals`" },
    );
}

/**
 * Gives a tombstone (`removed_at`) to the records that complete readings no longer found.
 * @throws Incomplete as `refuseImplausible` does
 */
export async function removeMissing(run: SyncRun): Promise<void> {
  const { clock, mirror, resource, state, store } = run;
  const missing = state.missing();
  if (missing.length === 0) return;
  // Of dated records, those that lie between the oldest and the newest that are missing.
  const dates = missing.flatMap(({ dated }) => dated ?? []).sort((a, b) => a - b);
  const [from, to] = [dates[0] ?? 0, dates.at(-1) ?? 0];
  const around = dates.length === missing.length ? { from, to } : undefined;
  const known = countKnown(mirror, resource.name, around);
  const left = countPresent(mirror, resource.name) - missing.length;
  refuseImplausible(run, { removals: missing.length, known, left, around });
  const remove = function* () {
    const ids = missing.map(({ id }) => id);
    yield* store.remove(ids, formatInstant(clock.now()));
    state.clearMissing();
  };
  await transactInParts(mirror, remove(), run);
}

/** Readings of a list in one run, until who is missing was missing twice. */
const mostReadings = 4;

/**
 * Reads a list again until who is missing was missing twice: one who comes while another leaves, between two pages,
 * draws a third past the reader. Where it is somebody else each time, nobody is missing, and the run says so.
 * @param first who is missing after the first reading
 * @param again one more reading: who is missing then; null when it says nothing of that
 * @returns whether who is missing by now was missing twice
 */
export async function missTwice(
  { mirror, shortfalls, state }: SyncRun,
  list: string,
  first: readonly number[],
  again: () => Promise<readonly number[] | null>,
): Promise<boolean> {
  let before = first;
  for (let reading = 2; before.length > 0 && reading <= mostReadings; reading += 1) {
    const now = await again();
    if (now === null) return false;
    const known = new Set(before);
    if (now.every((id) => known.has(id))) return true;
    before = now;
  }
  if (before.length === 0) return true;
  mirror.transaction(() => state.forgetMissing(before));
  shortfalls.push(`somebody else was missing from ${list} each time that it was read`);
  return false;
}
