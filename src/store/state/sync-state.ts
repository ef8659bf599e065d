import { containsInstant, overlaps, type Range, utcDay } from "../../util/ranges.js";
import { dayMs } from "../../util/times.js";
import { type Mirror, statement } from "../mirror/database.js";
import {
  countCurrent,
  currentCondition,
  currentParameters,
  readCurrentIds,
} from "../records/current-records.js";
import {
  addCoverage,
  type CoveredRange,
  readCoverage,
  withoutRange,
  writeCoverage,
  writeRunCoverage,
} from "./coverage.js";
import { type MarkedSlice, readMarkedSlices, writeMarkedSlices } from "./marked-slices.js";
import { MissingRecords } from "./missing-records.js";

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

/** Everything that a resource's sync stores besides its records. Methods that write must be called in a transaction. */
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

  /** Returns the dates that were read completely, and when they were last read. */
  coverage(): readonly CoveredRange[] {
    return this.#coverage;
  }

  /**
   * Marks a range as covered, and its records that were not returned as missing.
   * @param complete the range that was returned completely: for a list without dates everything, although its coverage
   * ends now
   * @returns the number of records that were not returned
   */
  cover({ range, ids, requestedAt, runId }: RangeRecords, complete: Range = range): number {
    const { mirror, resource } = this;
    const absent = readCurrentIds(mirror, resource, complete).filter((id) => !ids.has(id));
    this.missing.add(absent, this.#coverage);
    this.#setCoverage(addCoverage(this.#coverage, { ...range, readAt: requestedAt, runId }), runId);
    if (this.#marked.some((slice) => overlaps(slice, range))) this.#unmark(range, ids);
    return absent.length;
  }

  /** True if a date was read completely. @param dated in milliseconds since 1970 */
  isCovered(dated: number | null): boolean {
    return dated !== null && this.#coverage.some((range) => containsInstant(range, dated));
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

  /** Removes dates from the marked slices. Undated records that are no longer returned by any slice become missing. */
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
    return countCurrent(this.mirror, this.resource, range, flags) - this.missing.count(range, flags);
  }

  /** Returns the date of the n-th oldest current record of a range (0: the oldest), in milliseconds; null if there are fewer. */
  nthDate(range: Range, nth: number): number | null {
    const select = `SELECT dated_at FROM records WHERE ${currentCondition(range)} AND dated_at IS NOT NULL
      ORDER BY dated_at LIMIT 1 OFFSET ?`;
    const dates = statement(this.mirror, select).pluck();
    return (dates.get(...currentParameters(this.resource, range), nth) as number | undefined) ?? null;
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
