import {
  isWithinOneOf,
  mergeRanges,
  overlaps,
  startOfSecond,
  subtractRanges,
  type TimeRange,
} from "../util/time-ranges.js";
import { dayMs, formatInstant, formatInstantOrNull, minuteMs, secondMs } from "../util/timestamps.js";
import { type Mirror, parseStoredJson } from "./database.js";
import { finishedSyncSql } from "./runs.js";

/** A fully read date range. `requestedAt` is in milliseconds since the Unix epoch. */
export interface CoveredRange extends TimeRange {
  requestedAt: number;
  runId: number;
}

/**
 * A date range that was read by page number because it contains records with unreadable dates, dates outside the range,
 * or duplicate IDs.
 */
export interface FaultySlice extends TimeRange {
  requestedAt: number;
  runId: number;
  recordIds: readonly number[];
  fault: string;
}

/** The dates that were read. Each date is either covered, in a faulty slice, or unread. */
export interface SyncedDates {
  coverage: readonly CoveredRange[];
  faultySlices: readonly FaultySlice[];
}

/** Adds a fully read range to the dates that were read. The new read replaces older reads of the same dates. */
export function withCoveredRange({ coverage, faultySlices }: SyncedDates, added: CoveredRange): SyncedDates {
  const sorted = [...withoutRange(coverage, added), added].sort((a, b) => a.from - b.from);
  return { coverage: mergeRunRanges(sorted), faultySlices: withoutRange(faultySlices, added) };
}

/** Adds a faulty slice to the dates that were read. The new read replaces older reads of the same dates. */
export function withFaultySlice({ coverage, faultySlices }: SyncedDates, added: FaultySlice): SyncedDates {
  const slices = [...withoutRange(faultySlices, added), added].sort((a, b) => a.from - b.from);
  return { coverage: withoutRange(coverage, added), faultySlices: slices };
}

/** Merges adjacent ranges that were read by the same run. A merged range keeps the earlier read time. */
function mergeRunRanges(sorted: readonly CoveredRange[]): CoveredRange[] {
  return sorted.reduce<CoveredRange[]>((merged, range) => {
    const last = merged.at(-1);
    if (last && last.runId === range.runId && range.from - last.to <= 1)
      merged[merged.length - 1] = {
        ...last,
        to: range.to,
        requestedAt: Math.min(last.requestedAt, range.requestedAt),
      };
    else merged.push(range);
    return merged;
  }, []);
}

/** Removes a range from other ranges. The remaining parts of a range keep its other properties. */
export function withoutRange<R extends TimeRange>(ranges: readonly R[], removed: TimeRange): R[] {
  return ranges.flatMap((range) => subtractRanges([range], [removed]).map((part) => ({ ...range, ...part })));
}

export function loadCoverage(mirror: Mirror, resourceName: string): CoveredRange[] {
  const select = "SELECT * FROM coverage WHERE resource = ? ORDER BY from_at";
  return mirror.selectRows<RangeRow>(select, resourceName).map(toCoveredRange);
}

/** The columns that `coverage` and `faulty_slices` have in common. */
interface RangeRow {
  from_at: string | null;
  to_at: string;
  read_at: string;
  run_id: number;
}

function toCoveredRange({ from_at, to_at, read_at, run_id }: RangeRow): CoveredRange {
  const from = from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(from_at);
  return { from, to: Date.parse(to_at), requestedAt: Date.parse(read_at), runId: run_id };
}

/**
 * Returns the coverage from syncs whose final counts matched. Other syncs may have missed records. `differing` is null
 * for resources whose counts are never compared.
 */
export function loadTrustedCoverage(mirror: Mirror, resourceName: string): CoveredRange[] {
  const select = `SELECT run_id FROM sync_runs
    WHERE resource = ? AND ${finishedSyncSql} AND coalesce(differing, 0) = 0`;
  const runs = new Set(mirror.selectValues<number>(select, resourceName));
  return loadCoverage(mirror, resourceName).filter(({ runId }) => runs.has(runId));
}

export function saveCoverage(mirror: Mirror, resourceName: string, coverage: readonly CoveredRange[]): void {
  mirror.execute("DELETE FROM coverage WHERE resource = ?", resourceName);
  const insert = "INSERT INTO coverage (resource, from_at, to_at, read_at, run_id) VALUES (?, ?, ?, ?, ?)";
  for (const range of coverage) mirror.execute(insert, resourceName, ...rangeColumns(range));
}

function rangeColumns({ from, to, requestedAt, runId }: CoveredRange): (string | number | null)[] {
  return [formatInstantOrNull(from), formatInstant(to), formatInstant(requestedAt), runId];
}

/**
 * Stores a copy of the coverage with a run. The sales report and the `sales_by_month`, `restatements` and
 * `restated_orders` views use the copy to find the dates that had been read at that time. Must be called each time the
 * coverage grows.
 */
export function copyCoverageToRun(mirror: Mirror, runId: number, coverage: readonly CoveredRange[]): void {
  mirror.execute("DELETE FROM run_coverage WHERE run_id = ?", runId);
  const insert = "INSERT INTO run_coverage (run_id, from_at, to_at) VALUES (?, ?, ?)";
  for (const { from, to } of mergeRanges(coverage))
    mirror.execute(insert, runId, formatInstantOrNull(from), formatInstant(to));
}

/**
 * Returns the time (ISO 8601) when a date was last fully read, or null if it never was. If `date` is null, returns the
 * time of the latest read of any date.
 */
export function findLastReadAt(coverage: readonly CoveredRange[], date: number | null): string | null {
  if (coverage.length === 0) return null;
  if (date === null) return formatInstant(Math.max(...coverage.map(({ requestedAt }) => requestedAt)));
  const possible = truncationRange(date);
  const parts = coverage.filter((range) => overlaps(range, possible));
  if (!isWithinOneOf(possible, mergeRanges(parts))) return null;
  return formatInstant(Math.min(...parts.map(({ requestedAt }) => requestedAt)));
}

/**
 * Returns the range in which a record's exact date may lie. The API may truncate dates to days, minutes or seconds, but
 * filter records by their exact dates. A date at midnight can therefore be any time on that day, and a date without
 * seconds any time in that minute.
 */
export function truncationRange(date: number): TimeRange {
  const from = startOfSecond(date);
  const length = date % dayMs === 0 ? dayMs : date % minuteMs === 0 ? minuteMs : secondMs;
  return { from, to: from + length - 1 };
}

export function collectFaultyIds(slices: readonly FaultySlice[]): ReadonlySet<number> {
  return new Set(slices.flatMap(({ recordIds }) => recordIds));
}

export function loadFaultySlices(mirror: Mirror, resourceName: string): FaultySlice[] {
  const select = "SELECT * FROM faulty_slices WHERE resource = ? ORDER BY from_at";
  type Row = RangeRow & { record_ids: string; fault: string };
  return mirror.selectRows<Row>(select, resourceName).map((row) => ({
    ...toCoveredRange(row),
    recordIds: parseStoredJson<number[]>(mirror, row.record_ids, "a list of faulty records"),
    fault: row.fault,
  }));
}

/** Returns all date ranges that have been read, whether they are covered or faulty. */
export function loadReadRanges(mirror: Mirror, resourceName: string): CoveredRange[] {
  return [...loadCoverage(mirror, resourceName), ...loadFaultySlices(mirror, resourceName)];
}

export function saveFaultySlices(mirror: Mirror, resourceName: string, slices: readonly FaultySlice[]): void {
  mirror.execute("DELETE FROM faulty_slices WHERE resource = ?", resourceName);
  const insert = `INSERT INTO faulty_slices (resource, from_at, to_at, read_at, run_id, record_ids, fault)
    VALUES (?, ?, ?, ?, ?, ?, ?)`;
  for (const slice of slices)
    mirror.execute(
      insert,
      resourceName,
      ...rangeColumns(slice),
      JSON.stringify(slice.recordIds),
      slice.fault,
    );
}
