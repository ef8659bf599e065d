import {
  type CoveredRange,
  lastReadAt,
  mergeRanges,
  overlaps,
  type Range,
  subtractRanges,
  utcDay,
} from "../util/ranges.js";
import { dayMs, formatInstant, formatInstantOrNull } from "../util/times.js";
import { type Mirror, statement } from "./database.js";
import { countPresent, presentCondition, presentParameters, readPresentIds } from "./stored-record.js";

/** Returns the coverage with a newer reading laid over it. Neighbours of one run become one, as old as the older. */
export function addCoverage(all: readonly CoveredRange[], added: CoveredRange): CoveredRange[] {
  const kept = all.flatMap((one) =>
    overlaps(one, added) ? subtractRanges([one], [added]).map((piece) => ({ ...one, ...piece })) : [one],
  );
  const sorted = [...kept, added].sort((a, b) => a.from - b.from);
  return sorted.reduce<CoveredRange[]>((merged, one) => {
    const last = merged.at(-1);
    if (last && last.runId === one.runId && one.from - last.to <= 1)
      merged[merged.length - 1] = { ...last, to: one.to, readAt: Math.min(last.readAt, one.readAt) };
    else merged.push(one);
    return merged;
  }, []);
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

/** Writes the spans that are new in a resource's coverage, and deletes those that are no longer in it. */
export function writeCoverage(
  mirror: Mirror,
  resource: string,
  before: readonly CoveredRange[],
  after: readonly CoveredRange[],
): void {
  const values = ({ from, to }: Range) => [resource, formatInstantOrNull(from), formatInstant(to)];
  const remove = statement(mirror, "DELETE FROM coverage WHERE resource = ? AND from_at IS ? AND to_at = ?");
  const insert = statement(mirror, "INSERT INTO coverage VALUES (?, ?, ?, ?, ?)");
  for (const one of before) if (!after.includes(one)) remove.run(...values(one));
  for (const one of after)
    if (!before.includes(one)) insert.run(...values(one), formatInstant(one.readAt), one.runId);
}

/** Records what is covered after an answer of a run: `--as-of` and `changes` look it up. */
export function writeRunCoverage(mirror: Mirror, runId: number, covered: readonly CoveredRange[]): void {
  statement(mirror, "DELETE FROM run_coverage WHERE run_id = ?").run(runId);
  const insert = statement(mirror, "INSERT INTO run_coverage VALUES (?, ?, ?)");
  for (const { from, to } of mergeRanges(covered))
    insert.run(runId, formatInstantOrNull(from), formatInstant(to));
}

/** A present record that the newest reading of its date did not show; `dated` in milliseconds, null without a date. */
interface Missing {
  id: number;
  dated: number | null;
}

/** A resource's missing records. Nothing is removed until the counts agree without them. */
export class MissingRecords {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  all(): Missing[] {
    const select = `SELECT record_id AS id, dated_at AS dated FROM missing AS m JOIN records AS r USING (record_id)
      WHERE m.resource = ? AND r.removed_at IS NULL`;
    return this.#prepared(select).all(this.resource) as Missing[];
  }

  /** Notes records that a reading did not show, with the time they were last shown. @param before coverage before it */
  add(ids: Iterable<number>, before: readonly CoveredRange[]): void {
    const note = this.#prepared("INSERT OR IGNORE INTO missing VALUES (?, ?, ?)");
    const find = this.#prepared(
      "SELECT dated_at AS dated, since_at AS since FROM records WHERE record_id = ?",
    );
    for (const id of ids) {
      const { dated, since } = find.get(id) as { dated: number | null; since: string };
      // A record may have been shown by an answer that covered no dates.
      note.run(this.resource, id, lastReadAt(before, dated) ?? since);
    }
  }

  /** Forgets the records that a reading showed. */
  delete(shown: Iterable<number>): void {
    const any = this.#prepared("SELECT 1 FROM missing WHERE resource = ? LIMIT 1").get(this.resource);
    const forget = this.#prepared("DELETE FROM missing WHERE resource = ? AND record_id = ?");
    if (any !== undefined) for (const id of shown) forget.run(this.resource, id);
  }

  has(id: number): boolean {
    const find = this.#prepared("SELECT 1 FROM missing WHERE resource = ? AND record_id = ?");
    return find.get(this.resource, id) !== undefined;
  }

  /** Returns when a missing record was last shown, ISO 8601; null if that is not known or it is not missing. */
  lastSeen(id: number): string | null {
    const find = this.#prepared("SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?");
    return (find.pluck().get(this.resource, id) as string | null | undefined) ?? null;
  }

  /** Returns how many missing records a range has; with `flags`, those that have these bits. */
  count(range: Range, flags: number): number {
    // Looked up by their ids, because a range may hold a million other records.
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${presentCondition(range)} AND flags & ? = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    const values = [...presentParameters(this.resource, range), flags, flags, this.resource];
    return this.#prepared(select).pluck().get(values) as number;
  }

  #prepared(sql: string) {
    return statement(this.mirror, sql);
  }
}

/** A range of dates that was read by page number, and has records whose date is unreadable or outside it. */
export interface MarkedSlice extends Range {
  readAt: number;
  runId: number;
  /** The record IDs of these records. */
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

/** Returns marked slices without the dates of a range. */
export function withoutRange(slices: readonly MarkedSlice[], range: Range): MarkedSlice[] {
  return slices.flatMap((slice) => subtractRanges([slice], [range]).map((part) => ({ ...slice, ...part })));
}

/** The records that one answer, or one whole list, shows of a range of dates. */
export interface RangeRecords {
  range: Range;
  /** The ids of all records that it showed. */
  ids: ReadonlySet<number>;
  /** Milliseconds since 1970: when it was asked for. */
  requestedAt: number;
  runId: number;
}

interface Row {
  floor_ms: number | null;
  cursor_ms: number | null;
  window_ms: number | null;
  audit_requests: number | null;
  distrusted: string;
}

/** Everything that a resource's sync remembers beside its records. Call what writes in a transaction. */
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

  /** Returns which dates were read completely, and when: the newest reading of each instant. */
  coverage(): readonly CoveredRange[] {
    return this.#coverage;
  }

  /**
   * Covers a range, and notes the records that were not shown as missing.
   * @param shown the range that the answers showed whole; a list without dates is shown whole and covers up to an instant
   * @returns how many are missing
   */
  cover({ range, ids, requestedAt, runId }: RangeRecords, shown: Range = range): number {
    const { mirror, resource } = this;
    const gone = readPresentIds(mirror, resource, shown).filter((id) => !ids.has(id));
    this.missing.add(gone, this.#coverage);
    this.#setCoverage(addCoverage(this.#coverage, { ...range, readAt: requestedAt, runId }), runId);
    if (this.#marked.some((slice) => overlaps(slice, range))) this.#unmark(range, ids);
    return gone.length;
  }

  /** Returns the marked slices, oldest dates first. They and the coverage do not overlap. */
  markedSlices(): readonly MarkedSlice[] {
    return this.#marked;
  }

  /** Marks a slice: it is not covered, even if it was before. */
  markSlice(slice: MarkedSlice): void {
    const overlapped = this.#marked.filter((one) => overlaps(one, slice));
    // Undated records that are no longer returned stay in the slice: they become missing when it is covered.
    const undated = overlapped.flatMap(({ recordIds }) => recordIds).filter((id) => this.#isUndated(id));
    const recordIds = [...new Set([...slice.recordIds, ...undated])];
    this.#setMarked([...withoutRange(this.#marked, slice), { ...slice, recordIds }]);
    const after = this.#coverage.flatMap((one) =>
      subtractRanges([one], [slice]).map((part) => ({ ...one, ...part })),
    );
    this.#setCoverage(after, slice.runId);
  }

  /** Returns the records that a marked slice returned with a date that is unreadable or outside the slice. */
  markedIds(): ReadonlySet<number> {
    return new Set(this.#marked.flatMap(({ recordIds }) => recordIds));
  }

  /** Covers a part of the marked slices: undated records that no slice returns any more become missing. */
  #unmark(range: Range, returned: ReadonlySet<number>): void {
    const before = this.markedIds();
    this.#setMarked(withoutRange(this.#marked, range));
    const after = this.markedIds();
    const gone = [...before].filter((id) => !after.has(id) && !returned.has(id) && this.#isUndated(id));
    this.missing.add(gone, []);
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

  /** Returns the oldest date that was ever asked for, -Infinity for the beginning; null before the first run. */
  floor(): number | null {
    const row = this.#row();
    return row ? (row.floor_ms ?? Number.NEGATIVE_INFINITY) : null;
  }

  setFloor(ms: number): void {
    this.#set("floor_ms = ?", Number.isFinite(ms) ? ms : null);
  }

  /** Returns where the audit stands; null before the first. */
  cursor(): number | null {
    return this.#row()?.cursor_ms ?? null;
  }

  setCursor(to: number): void {
    this.#set("cursor_ms = ?", to);
  }

  /** Returns the filters that were found not to count what their records say. */
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

  /** Returns the API's figures of each day (`YYYY-MM-DD`) as they were when the day's records were last read. */
  dailyTotals(): ReadonlyMap<string, string> {
    const select = statement(this.mirror, "SELECT day, figures FROM day_figures WHERE resource = ?").raw();
    return new Map(select.all(this.resource) as [string, string][]);
  }

  /** Replaces the totals of a range of complete days. A day without totals differs from any totals that the API has of it. */
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

  /** Returns how many records of a range are present and not missing; with `flags`, those that have these bits. */
  count(range: Range, flags = 0): number {
    return countPresent(this.mirror, this.resource, range, flags) - this.missing.count(range, flags);
  }

  /** Returns the date of the n-th oldest present record of a range (0: the oldest), in milliseconds; null beyond the last. */
  nthDate(range: Range, nth: number): number | null {
    const select = `SELECT dated_at FROM records WHERE ${presentCondition(range)} AND dated_at IS NOT NULL
      ORDER BY dated_at LIMIT 1 OFFSET ?`;
    const dates = statement(this.mirror, select).pluck();
    return (dates.get(...presentParameters(this.resource, range), nth) as number | undefined) ?? null;
  }

  /** Returns the date of a present record, in milliseconds; null if it is removed or has no readable date. */
  dateOf(id: number): number | null {
    const find = "SELECT dated_at FROM records WHERE record_id = ? AND removed_at IS NULL";
    return (statement(this.mirror, find).pluck().get(id) as number | null | undefined) ?? null;
  }

  #row(): Row | undefined {
    const select = statement(this.mirror, "SELECT * FROM sync_state WHERE resource = ?");
    return select.get(this.resource) as Row | undefined;
  }

  #set(members: string, ...values: (number | string | null)[]): void {
    statement(this.mirror, "INSERT OR IGNORE INTO sync_state (resource) VALUES (?)").run(this.resource);
    statement(this.mirror, `UPDATE sync_state SET ${members} WHERE resource = ?`).run(
      ...values,
      this.resource,
    );
  }
}
