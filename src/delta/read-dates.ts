import { shapesReadBy } from "../query/readable-tables.js";
import { syncingResource } from "../resources/registry.js";
import { acceptsDates } from "../resources/resource.js";
import { loadReadRanges } from "../store/coverage.js";
import type { Mirror } from "../store/database.js";
import { loadRun } from "../store/runs.js";
import { SyncState } from "../store/sync-state.js";
import { mergeRanges, type TimeRange } from "../util/time-ranges.js";
import { formatInstant, formatInstantOrNull, minuteMs } from "../util/timestamps.js";

/** The dates of a resource that a mirror has read. */
export interface ReadDates {
  resource: string;
  ranges: readonly TimeRange[];
  /** The dates before the floor are read only by `sync --full`. Null if the resource has never been read. */
  floor: number | null;
  /**
   * The start of the sync that read the newest date, or Infinity if there is none. The mirror cannot contain later
   * dates, for example because it has just been restored from a backup.
   */
  readableUntil: number;
}

/**
 * The dates of each resource that the mirror had read at the time of an export, in ISO 8601. Both ends are included. If
 * there is no lower bound, the first end is null. The format is part of the file format.
 */
export type StoredDates = Readonly<Record<string, readonly (readonly [from: string | null, to: string])[]>>;

/** For each resource that is read by date and appears in a table or view, returns the dates that have been read. */
export function loadReadDates(mirror: Mirror, table: string): ReadDates[] {
  const resources = new Set(shapesReadBy(table).map(({ resource }) => syncingResource(resource)));
  return [...resources].filter(acceptsDates).map(({ name }) => {
    const dates = loadReadRanges(mirror, name);
    const newest = dates.sort((a, b) => a.to - b.to).at(-1);
    const startedAt = newest
      ? Date.parse(loadRun(mirror, newest.runId).started_at)
      : Number.POSITIVE_INFINITY;
    return {
      resource: name,
      ranges: mergeRanges(dates),
      floor: new SyncState(mirror, name).loadFloor(),
      // A sync reads the dates up to the last full second before its start. A minute is ample, because version 0.1.0
      // recorded the start only a moment later.
      readableUntil: startedAt - minuteMs,
    };
  });
}

export function toStoredDates(readDates: readonly ReadDates[]): StoredDates {
  return Object.fromEntries(
    readDates.map(({ ranges, resource }) => [
      resource,
      ranges.map(({ from, to }) => [formatInstantOrNull(from), formatInstant(to)] as const),
    ]),
  );
}

export function parseStoredDates(stored: StoredDates, resource: string): TimeRange[] {
  return (stored[resource] ?? []).map(([from, to]) => ({
    from: from === null ? Number.NEGATIVE_INFINITY : Date.parse(from),
    to: Date.parse(to),
  }));
}
