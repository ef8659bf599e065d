import { contains, mergeRanges, overlaps, type Range, subtractRanges } from "../util/ranges.js";
import { formatInstant, formatInstantOrNull } from "../util/times.js";
import { dayMs } from "../util/timestamp.js";
import { type Mirror, statement } from "./database.js";
import { isFinished } from "./runs.js";

/** A range of dates that a run read completely. Times are in milliseconds since 1970. */
export interface CoveredRange extends Range {
  readAt: number;
  runId: number;
}

/**
 * Adds a newer read to the coverage. It replaces older reads of the same dates. Adjacent ranges from the same run are
 * merged and keep the earlier of their two read times.
 */
export function addCoverage(coverage: readonly CoveredRange[], added: CoveredRange): CoveredRange[] {
  const sorted = [...withoutRange(coverage, added), added].sort((a, b) => a.from - b.from);
  return sorted.reduce<CoveredRange[]>((merged, range) => {
    const last = merged.at(-1);
    if (last && last.runId === range.runId && range.from - last.to <= 1)
      merged[merged.length - 1] = { ...last, to: range.to, readAt: Math.min(last.readAt, range.readAt) };
    else merged.push(range);
    return merged;
  }, []);
}

export function withoutRange<R extends Range>(ranges: readonly R[], removed: Range): R[] {
  return ranges.flatMap((range) =>
    overlaps(range, removed)
      ? subtractRanges([range], [removed]).map((part) => ({ ...range, ...part }))
      : [range],
  );
}

/** Returns a resource's coverage, oldest dates first. */
export function readCoverage(mirror: Mirror, resource: string): CoveredRange[] {
  const rows = statement(
    mirror,
    "SELECT from_at, to_at, read_at, run_id FROM coverage WHERE resource = ? ORDER BY from_at",
  ).all(resource) as { from_at: string | null; to_at: string; read_at: string; run_id: number }[];
  return rows.map((row) => ({
    from: row.from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.from_at),
    to: Date.parse(row.to_at),
    readAt: Date.parse(row.read_at),
    runId: row.run_id,
  }));
}

/**
 * Returns the coverage from runs whose final counts agreed. Other runs may have missed records in the dates
 * they covered.
 */
export function readConfirmedCoverage(mirror: Mirror, resource: string): CoveredRange[] {
  const select = `SELECT run_id FROM sync_runs
    WHERE resource = ? AND ${isFinished} AND coalesce(differing, 0) = 0`;
  const runs = new Set(statement(mirror, select).pluck().all(resource) as number[]);
  return readCoverage(mirror, resource).filter(({ runId }) => runs.has(runId));
}

export function writeCoverage(
  mirror: Mirror,
  resource: string,
  before: readonly CoveredRange[],
  after: readonly CoveredRange[],
): void {
  const values = ({ from, to }: Range) => [resource, formatInstantOrNull(from), formatInstant(to)];
  const remove = statement(mirror, "DELETE FROM coverage WHERE resource = ? AND from_at IS ? AND to_at = ?");
  const insert = statement(mirror, "INSERT INTO coverage VALUES (?, ?, ?, ?, ?)");
  for (const range of before) if (!after.includes(range)) remove.run(...values(range));
  for (const range of after)
    if (!before.includes(range)) insert.run(...values(range), formatInstant(range.readAt), range.runId);
}

/** Stores the coverage at the end of a run, for `--as-of` and `changes`. */
export function writeRunCoverage(mirror: Mirror, runId: number, covered: readonly CoveredRange[]): void {
  statement(mirror, "DELETE FROM run_coverage WHERE run_id = ?").run(runId);
  const insert = statement(mirror, "INSERT INTO run_coverage VALUES (?, ?, ?)");
  for (const { from, to } of mergeRanges(covered))
    insert.run(runId, formatInstantOrNull(from), formatInstant(to));
}

/**
 * Returns the last time (ISO 8601) at which a date was read completely, or at which any date was read completely if
 * `dated` is null. Returns null if that has never happened. A date at midnight can stand for a whole day, and a date
 * without seconds for a minute, so that day or minute must be covered completely.
 */
export function lastReadAt(covered: readonly CoveredRange[], dated: number | null): string | null {
  if (dated === null) return formatInstantOrNull(Math.max(...covered.map(({ readAt }) => readAt)));
  const span = precisionOf(dated);
  const parts = covered.filter((range) => overlaps(range, span));
  return contains(mergeRanges(parts), span)
    ? formatInstantOrNull(Math.min(...parts.map(({ readAt }) => readAt)))
    : null;
}

/** Returns the range of times that a date may represent. */
function precisionOf(dated: number): Range {
  const unit = [dayMs, 60_000].find((ms) => dated % ms === 0) ?? 1;
  const from = Math.floor(dated / unit) * unit;
  return { from, to: from + unit - 1 };
}

/**
 * A range of dates that was read by page number because the API returned records with unreadable dates or
 * dates outside the range.
 */
export interface MarkedSlice extends Range {
  readAt: number;
  runId: number;
  /** The `record_id`s of the records with unreadable dates or dates outside the range. */
  recordIds: readonly number[];
  /** The problem with the first of these records. */
  fault: string;
}

/** Returns a resource's marked slices, oldest dates first. */
export function readMarkedSlices(mirror: Mirror, resource: string): MarkedSlice[] {
  const rows = statement(mirror, "SELECT * FROM marked_slices WHERE resource = ? ORDER BY from_at").all(
    resource,
  ) as {
    from_at: string | null;
    to_at: string;
    read_at: string;
    run_id: number;
    record_ids: string;
    fault: string;
  }[];
  return rows.map((row) => ({
    from: row.from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.from_at),
    to: Date.parse(row.to_at),
    readAt: Date.parse(row.read_at),
    runId: row.run_id,
    recordIds: JSON.parse(row.record_ids) as number[],
    fault: row.fault,
  }));
}

export function writeMarkedSlices(mirror: Mirror, resource: string, slices: readonly MarkedSlice[]): void {
  statement(mirror, "DELETE FROM marked_slices WHERE resource = ?").run(resource);
  const insert = statement(mirror, "INSERT INTO marked_slices VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const { from, to, readAt, runId, recordIds, fault } of slices) {
    const range = [formatInstantOrNull(from), formatInstant(to), formatInstant(readAt)];
    insert.run(resource, ...range, runId, JSON.stringify(recordIds), fault);
  }
}
