import { mergeRanges, overlaps, type Range, subtractRanges, utcDay } from "../util/ranges.js";
import { dayMs, formatInstant, formatInstantOrNull } from "../util/times.js";
import { type CoveredRange, lastReadAt } from "./coverage.js";
import { type Mirror, statement } from "./database.js";
import { countPresent, presentCondition, presentParameters, readPresentIds } from "./record-queries.js";

/**
 * Returns the coverage with a newer read added, which replaces older reads of the same dates. Adjacent ranges of one run are
 * merged; the earlier of their times counts.
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

/** Returns ranges without the dates of `removed`. */
export function withoutRange<R extends Range>(ranges: readonly R[], removed: Range): R[] {
  return ranges.flatMap((range) =>
    overlaps(range, removed)
      ? subtractRanges([range], [removed]).map((part) => ({ ...range, ...part }))
      : [range],
  );
}

/** Returns a resource's coverage, sorted by date. */
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
 * Returns the parts of the coverage that come from runs whose counts agreed at the end. Runs that were stopped, or whose counts
 * differed, may have covered dates without having all of their records.
 */
export function readConfirmedCoverage(mirror: Mirror, resource: string): CoveredRange[] {
  const select = `SELECT run_id FROM sync_runs
    WHERE resource = ? AND outcome IN ('done', 'incomplete') AND coalesce(differing, 0) = 0`;
  const runs = new Set(statement(mirror, select).pluck().all(resource) as number[]);
  return readCoverage(mirror, resource).filter(({ runId }) => runs.has(runId));
}

/** Writes the ranges that are new in a resource's coverage, and deletes those that it no longer has. */
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

/** Replaces the coverage as of a run, which `--as-of` and `changes` read. */
export function writeRunCoverage(mirror: Mirror, runId: number, covered: readonly CoveredRange[]): void {
  statement(mirror, "DELETE FROM run_coverage WHERE run_id = ?").run(runId);
  const insert = statement(mirror, "INSERT INTO run_coverage VALUES (?, ?, ?)");
  for (const { from, to } of mergeRanges(covered))
    insert.run(runId, formatInstantOrNull(from), formatInstant(to));
}

/** A current record that the newest read of its date did not return. */
interface MissingRecord {
  id: number;
  /** Its date in milliseconds since 1970; null without a date. */
  dated: number | null;
}

/** A resource's missing records. They are marked as removed only when the API's counts agree without them. */
export class MissingRecords {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  all(): MissingRecord[] {
    const select = `SELECT record_id AS id, dated_at AS dated FROM missing AS m JOIN records AS r USING (record_id)
      WHERE m.resource = ? AND r.removed_at IS NULL`;
    return this.#prepared(select).all(this.resource) as MissingRecord[];
  }

  /**
   * Adds records that a read did not return, with the time of the last read that did.
   * @param before the coverage before that read
   */
  add(ids: Iterable<number>, before: readonly CoveredRange[]): void {
    const insert = this.#prepared("INSERT OR IGNORE INTO missing VALUES (?, ?, ?)");
    const find = this.#prepared(
      "SELECT dated_at AS dated, since_at AS since FROM records WHERE record_id = ?",
    );
    for (const id of ids) {
      const { dated, since } = find.get(id) as { dated: number | null; since: string };
      // A response that covers no dates may have returned the record.
      insert.run(this.resource, id, lastReadAt(before, dated) ?? since);
    }
  }

  /** Removes the records that a read returned. */
  delete(returned: Iterable<number>): void {
    const any = this.#prepared("SELECT 1 FROM missing WHERE resource = ? LIMIT 1").get(this.resource);
    const remove = this.#prepared("DELETE FROM missing WHERE resource = ? AND record_id = ?");
    if (any !== undefined) for (const id of returned) remove.run(this.resource, id);
  }

  has(id: number): boolean {
    const find = this.#prepared("SELECT 1 FROM missing WHERE resource = ? AND record_id = ?");
    return find.get(this.resource, id) !== undefined;
  }

  /** Returns when a missing record was last returned, ISO 8601; null if that is unknown or the record is not missing. */
  lastSeen(id: number): string | null {
    const find = this.#prepared("SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?");
    return (find.pluck().get(this.resource, id) as string | null | undefined) ?? null;
  }

  /** Counts the missing records of a range. @param flags count only records with these bits in `records.flags` */
  count(range: Range, flags: number): number {
    // By ID, because the range may have a million other records.
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${presentCondition(range)} AND flags & ? = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    const values = [...presentParameters(this.resource, range), flags, flags, this.resource];
    return this.#prepared(select).pluck().get(values) as number;
  }

  #prepared(sql: string) {
    return statement(this.mirror, sql);
  }
}

/** A range of dates that was read by page number, and returned records whose date is unreadable or outside the range. */
export interface MarkedSlice extends Range {
  readAt: number;
  runId: number;
  /** The `record_id`s of these records. */
  recordIds: readonly number[];
  /** What is wrong with the first of them, as a clause. */
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

/** Replaces a resource's marked slices. */
export function writeMarkedSlices(mirror: Mirror, resource: string, slices: readonly MarkedSlice[]): void {
  statement(mirror, "DELETE FROM marked_slices WHERE resource = ?").run(resource);
  const insert = statement(mirror, "INSERT INTO marked_slices VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const { from, to, readAt, runId, recordIds, fault } of slices) {
    const range = [formatInstantOrNull(from), formatInstant(to), formatInstant(readAt)];
    insert.run(resource, ...range, runId, JSON.stringify(recordIds), fault);
  }
}

/** The records that one response, or all pages of a list, returned for a range of dates. */
export interface RangeRecords {
  range: Range;
  /** The `record_id`s of all returned records. */
  ids: ReadonlySet<number>;
  /** When the request was sent, in milliseconds since 1970. */
  requestedAt: number;
  runId: number;
}

interface StateRow {
  floor_ms: number | null;
  cursor_ms: number | null;
  window_ms: number | null;
  audit_requests: number | null;
  distrusted: string;
}

/** Everything that a resource's sync remembers besides its records. Methods that write must be called in a transaction. */
export class SyncState {
  readonly missing: MissingRecords;
  #coverage: readonly CoveredRange[];
  #marked: readonly MarkedSlice[];

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {
    this.#coverage = readCoverage(mirror, resource);
    this.#marked = readMarkedSlices(mirror, resource);
    this.missing = new MissingRecords(mirror, resource);
  }

  /** Returns which dates were read completely, and when last. */
  coverage(): readonly CoveredRange[] {
    return this.#coverage;
  }

  /**
   * Marks a range as covered, and its records that were not returned as missing.
   * @param complete the range that was returned completely: of a list without dates everything, although it covers dates up to
   * now only
   * @returns the number of records that were not returned
   */
  cover({ range, ids, requestedAt, runId }: RangeRecords, complete: Range = range): number {
    const { mirror, resource } = this;
    const absent = readPresentIds(mirror, resource, complete).filter((id) => !ids.has(id));
    this.missing.add(absent, this.#coverage);
    this.#setCoverage(addCoverage(this.#coverage, { ...range, readAt: requestedAt, runId }), runId);
    if (this.#marked.some((slice) => overlaps(slice, range))) this.#unmark(range, ids);
    return absent.length;
  }

  /** Returns the marked slices, oldest dates first. They and the coverage do not overlap. */
  markedSlices(): readonly MarkedSlice[] {
    return this.#marked;
  }

  /**
   * Marks a slice, and removes its dates from the coverage.
   * @param returned the record IDs that a complete list of the slice has; null if the list is not complete
   */
  markSlice(slice: MarkedSlice, returned: ReadonlySet<number> | null): void {
    const overlapped = this.#marked
      .filter((one) => overlaps(one, slice))
      .flatMap(({ recordIds }) => recordIds);
    const notReturned = overlapped.filter((id) => !returned?.has(id) && this.#isUndated(id));
    const recordIds = [...new Set([...slice.recordIds, ...(returned ? [] : notReturned)])];
    this.#setMarked([...withoutRange(this.#marked, slice), { ...slice, recordIds }]);
    this.#setCoverage(withoutRange(this.#coverage, slice), slice.runId);
    const marked = this.markedIds();
    if (returned)
      this.missing.add(
        notReturned.filter((id) => !marked.has(id)),
        [],
      );
  }

  /** Returns the `record_id`s that some marked slice returned with a date that is unreadable or outside the slice. */
  markedIds(): ReadonlySet<number> {
    return new Set(this.#marked.flatMap(({ recordIds }) => recordIds));
  }

  /** Removes dates from the marked slices. Undated records that no slice returns any more become missing. */
  #unmark(range: Range, returned: ReadonlySet<number>): void {
    const before = this.markedIds();
    this.#setMarked(withoutRange(this.#marked, range));
    const after = this.markedIds();
    const absent = [...before].filter((id) => !after.has(id) && !returned.has(id) && this.#isUndated(id));
    this.missing.add(absent, []);
  }

  #setMarked(slices: readonly MarkedSlice[]): void {
    this.#marked = [...slices].sort((a, b) => a.from - b.from);
    writeMarkedSlices(this.mirror, this.resource, this.#marked);
  }

  #setCoverage(coverage: readonly CoveredRange[], runId: number): void {
    writeCoverage(this.mirror, this.resource, this.#coverage, coverage);
    writeRunCoverage(this.mirror, runId, coverage);
    this.#coverage = coverage;
  }

  #isUndated(id: number): boolean {
    const find = "SELECT 1 FROM records WHERE record_id = ? AND dated_at IS NULL AND removed_at IS NULL";
    return statement(this.mirror, find).get(id) !== undefined;
  }

  /** Returns the oldest date that was ever requested, -Infinity for the beginning; null before the first run. */
  floor(): number | null {
    const row = this.#row();
    return row ? (row.floor_ms ?? Number.NEGATIVE_INFINITY) : null;
  }

  setFloor(ms: number): void {
    this.#set("floor_ms = ?", Number.isFinite(ms) ? ms : null);
  }

  /** Returns the date that the audit has reached; null before the first audit. */
  cursor(): number | null {
    return this.#row()?.cursor_ms ?? null;
  }

  setCursor(to: number): void {
    this.#set("cursor_ms = ?", to);
  }

  /** Returns the filters of the API whose counts were found to be wrong. */
  distrusted(): ReadonlySet<string> {
    return new Set(JSON.parse(this.#row()?.distrusted ?? "[]") as string[]);
  }

  setDistrusted(filters: Iterable<string>): void {
    this.#set("distrusted = ?", JSON.stringify([...filters]));
  }

  /** Returns `--window` and `--audit` of the newest run; null before the first. */
  lastOptions(): { windowMs: number; audit: number } | null {
    const row = this.#row();
    return row ? { windowMs: row.window_ms ?? 30 * dayMs, audit: row.audit_requests ?? 5 } : null;
  }

  setLastOptions({ windowMs, audit }: { windowMs: number; audit: number }): void {
    this.#set("window_ms = ?, audit_requests = ?", windowMs, audit);
  }

  /** Returns the API's totals of each day (`YYYY-MM-DD`, as JSON) when the day's records were last read. */
  dailyTotals(): ReadonlyMap<string, string> {
    const select = statement(this.mirror, "SELECT day, figures FROM day_figures WHERE resource = ?").raw();
    return new Map(select.all(this.resource) as [string, string][]);
  }

  /** Replaces the totals of a range of complete days. A stored day without totals differs from any totals of the API. */
  replaceDailyTotals({ from, to }: Range, dailyTotals: ReadonlyMap<string, string>): void {
    const first = Number.isFinite(from) ? utcDay(from) : "";
    const last = utcDay(to);
    const drop = statement(this.mirror, "DELETE FROM day_figures WHERE resource = ? AND day BETWEEN ? AND ?");
    drop.run(this.resource, first, last);
    const insert = statement(this.mirror, "INSERT INTO day_figures VALUES (?, ?, ?)");
    for (const [day, text] of dailyTotals) {
      if (day >= first && day <= last) insert.run(this.resource, day, text);
    }
  }

  /** Counts the current records of a range that are not missing. @param flags count only records with these bits in `records.flags` */
  count(range: Range, flags = 0): number {
    return countPresent(this.mirror, this.resource, range, flags) - this.missing.count(range, flags);
  }

  /** Returns the date of the n-th oldest current record of a range (0: the oldest), in milliseconds; null if there are fewer. */
  nthDate(range: Range, nth: number): number | null {
    const select = `SELECT dated_at FROM records WHERE ${presentCondition(range)} AND dated_at IS NOT NULL
      ORDER BY dated_at LIMIT 1 OFFSET ?`;
    const dates = statement(this.mirror, select).pluck();
    return (dates.get(...presentParameters(this.resource, range), nth) as number | undefined) ?? null;
  }

  /** Returns the date of a current record, in milliseconds; null if it was removed or has no readable date. */
  dateOf(id: number): number | null {
    const find = "SELECT dated_at FROM records WHERE record_id = ? AND removed_at IS NULL";
    return (statement(this.mirror, find).pluck().get(id) as number | null | undefined) ?? null;
  }

  #row(): StateRow | undefined {
    const select = statement(this.mirror, "SELECT * FROM sync_state WHERE resource = ?");
    return select.get(this.resource) as StateRow | undefined;
  }

  #set(members: string, ...values: (number | string | null)[]): void {
    statement(this.mirror, "INSERT OR IGNORE INTO sync_state (resource) VALUES (?)").run(this.resource);
    statement(this.mirror, `UPDATE sync_state SET ${members} WHERE resource = ?`).run(
      ...values,
      this.resource,
    );
  }
}
