import { Incomplete } from "../errors.js";
import { describe, everything, type Range } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import { countPresent, countUpTo, newestKnown } from "../state/index.js";
import { transactInParts } from "./former.js";
import type { SyncRun } from "./run.js";

/** Whether a reading would remove more than anyone should believe: over half of more than 20 records. */
export function isImplausible(removals: number, present: number): boolean {
  return present > 20 && removals > present / 2;
}

/**
 * What a removal is held against: all that are present and, so that newcomers do not make it likelier, those who were
 * known at the end of the last verified run.
 * @param by the resource that they are read with
 */
export function lossesOf(
  mirror: Mirror,
  resource: string,
  ids: readonly number[],
  { around = everything, by = resource }: { around?: Range | undefined; by?: string } = {},
): Loss[] {
  const all = { removals: ids.length, present: countPresent(mirror, resource, around) };
  const newest = newestKnown(mirror, by);
  if (newest === null) return [all];
  const removals = ids.filter((id) => id <= newest).length;
  return [{ removals, present: countUpTo(mirror, resource, newest, around) }, all];
}

/** How many would be removed of how many. */
export interface Loss {
  removals: number;
  present: number;
}

interface Gone extends Loss {
  /** How many would be left in all. */
  left: number;
  /** The dates in which so many are present; undefined: at all. */
  around?: Range | undefined;
  /** What they are. */
  what?: string;
}

/** @throws Incomplete when so many removals are implausible, or nothing would be left, and nobody accepted it */
export function refuseImplausible(
  { options, resource }: Pick<SyncRun, "options" | "resource">,
  { removals, present, left, around, what = "mirrored records" }: Gone,
): void {
  const isRefused = removals > 0 && (left === 0 || isImplausible(removals, present));
  const where = around ? `${describe(around)}: ` : "";
  if (isRefused && !options.acceptRemovals)
    throw new Incomplete(
      `${resource.name}: ${where}the API no longer returns ${removals} of ${present} ${what}: nothing was removed.`,
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
  // Held against all records and, where all have dates, those between the oldest and the newest that are missing.
  const dates = missing.flatMap(({ dated }) => dated ?? []).sort((a, b) => a - b);
  const [from, to] = [dates[0] ?? 0, dates.at(-1) ?? 0];
  const around = dates.length === missing.length ? { from, to } : undefined;
  const left = countPresent(mirror, resource.name) - missing.length;
  const ids = missing.map(({ id }) => id);
  for (const near of new Set([around, undefined]))
    for (const loss of lossesOf(mirror, resource.name, ids, { around: near }))
      refuseImplausible(run, { ...loss, left, around: near });
  const remove = function* () {
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
