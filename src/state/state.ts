import { type Covered, dayOf, type Range, subtract, touches } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import { type Mirror, statement } from "../mirror/index.js";
import { countPresent, parameters, present, presentIds } from "./counting.js";
import { addCovered, noteRunCoverage, readCoverage, writeCoverage } from "./coverage.js";
import { type MarkedSlice, readMarked, withoutRange, writeMarked } from "./marked.js";
import { MissingRecords } from "./missing.js";

/** The records that one answer, or one whole list, shows of a range of dates. */
export interface Shown {
  range: Range;
  /** The ids of all records that it showed. */
  ids: ReadonlySet<number>;
  /** Milliseconds since 1970: when it was asked for. */
  askedAt: number;
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
  #coverage: readonly Covered[];
  #marked: readonly MarkedSlice[];

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {
    this.#coverage = readCoverage(mirror, resource);
    this.#marked = readMarked(mirror, resource);
    this.missing = new MissingRecords(mirror, resource);
  }

  /** Returns which dates were read completely, and when: the newest reading of each instant. */
  coverage(): readonly Covered[] {
    return this.#coverage;
  }

  /**
   * Covers a range, and notes the records that were not shown as missing.
   * @param shown the range that the answers showed whole; a list without dates is shown whole and covers up to an instant
   * @returns how many are missing
   */
  cover({ range, ids, askedAt, runId }: Shown, shown: Range = range): number {
    const { mirror, resource } = this;
    const gone = presentIds(mirror, resource, shown).filter((id) => !ids.has(id));
    this.missing.note(gone, this.#coverage);
    this.#setCoverage(addCovered(this.#coverage, { ...range, readAt: askedAt, runId }), runId);
    if (this.#marked.some((slice) => touches(slice, range))) this.#unmark(range, ids);
    return gone.length;
  }

  /** Returns the marked slices, oldest dates first. They and the coverage do not overlap. */
  marked(): readonly MarkedSlice[] {
    return this.#marked;
  }

  /** Marks a slice: it is not covered, even if it was before. */
  mark(slice: MarkedSlice): void {
    const overlapped = this.#marked.filter((one) => touches(one, slice));
    // Undated records that are no longer returned stay in the slice: they become missing when it is covered.
    const undated = overlapped.flatMap(({ recordIds }) => recordIds).filter((id) => this.#isUndated(id));
    const recordIds = [...new Set([...slice.recordIds, ...undated])];
    this.#setMarked([...withoutRange(this.#marked, slice), { ...slice, recordIds }]);
    const after = this.#coverage.flatMap((one) =>
      subtract([one], [slice]).map((part) => ({ ...one, ...part })),
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
    this.missing.note(gone, []);
  }

  #setMarked(slices: readonly MarkedSlice[]): void {
    this.#marked = [...slices].sort((a, b) => a.from - b.from);
    writeMarked(this.mirror, this.resource, this.#marked);
  }

  #setCoverage(coverage: readonly Covered[], runId: number): void {
    writeCoverage(this.mirror, this.resource, this.#coverage, coverage);
    noteRunCoverage(this.mirror, runId, coverage);
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

  moveCursor(to: number): void {
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
  used(): { windowMs: number; audit: number } | null {
    const row = this.#row();
    return row ? { windowMs: row.window_ms ?? 30 * dayMs, audit: row.audit_requests ?? 5 } : null;
  }

  setUsed({ windowMs, audit }: { windowMs: number; audit: number }): void {
    this.#set("window_ms = ?, audit_requests = ?", windowMs, audit);
  }

  /** Returns the API's figures of each day (`YYYY-MM-DD`) as they were when the day's records were last read. */
  figures(): ReadonlyMap<string, string> {
    const select = statement(this.mirror, "SELECT day, figures FROM day_figures WHERE resource = ?").raw();
    return new Map(select.all(this.resource) as [string, string][]);
  }

  /** Replaces the totals of a range of complete days. A day without totals differs from any totals that the API has of it. */
  replaceFigures({ from, to }: Range, figures: ReadonlyMap<string, string>): void {
    const first = Number.isFinite(from) ? dayOf(from) : "";
    const last = dayOf(to);
    const drop = statement(this.mirror, "DELETE FROM day_figures WHERE resource = ? AND day BETWEEN ? AND ?");
    drop.run(this.resource, first, last);
    const insert = statement(this.mirror, "INSERT INTO day_figures VALUES (?, ?, ?)");
    for (const [day, text] of figures) {
      if (day >= first && day <= last) insert.run(this.resource, day, text);
    }
  }

  /** Returns how many records of a range are present and not missing; with `flags`, those that have these bits. */
  count(range: Range, flags = 0): number {
    return countPresent(this.mirror, this.resource, range, flags) - this.missing.count(range, flags);
  }

  /** Returns the date of the n-th oldest present record of a range (0: the oldest), in milliseconds; null beyond the last. */
  nthDate(range: Range, nth: number): number | null {
    const select = `SELECT dated_at FROM records WHERE ${present(range)} AND dated_at IS NOT NULL
      ORDER BY dated_at LIMIT 1 OFFSET ?`;
    const dates = statement(this.mirror, select).pluck();
    return (dates.get(...parameters(this.resource, range), nth) as number | undefined) ?? null;
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
