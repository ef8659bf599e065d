import {
  allTime,
  clipRanges,
  clipToCompleteDays,
  containsInstant,
  mergeRanges,
  overlaps,
  type Range,
  startOfDay,
  utcDay,
} from "../util/ranges.js";
import { dayMs } from "../util/timestamp.js";
import {
  addCoverage,
  type CoveredRange,
  lastReadAt,
  type MarkedSlice,
  readCoverage,
  readMarkedSlices,
  withoutRange,
  writeCoverage,
  writeMarkedSlices,
  writeRunCoverage,
} from "./coverage.js";
import type { Mirror } from "./database.js";
import { countCurrent, currentCondition, currentParameters, readCurrentIds } from "./records.js";

/** The records that the API returned for a range of dates, in one or more responses. */
export interface RangeRecords {
  range: Range;
  ids: ReadonlySet<number>;
  /** The time of the first request, in milliseconds since 1970. */
  requestedAt: number;
}

interface StateRow {
  /** Null if there is no lower bound. */
  floor_ms: number | null;
  cursor_ms: number | null;
  window_ms: number | null;
  audit_requests: number | null;
  distrusted: string;
}

/**
 * The state of a resource's sync: the dates that were read, the missing records, and the last run's options. A date is
 * either covered, in a marked slice, or unread. Methods that write must be called in a transaction. The coverage and
 * the marked slices are also kept in memory, where a rollback does not restore them, so the run must end if its
 * transaction fails.
 */
export class SyncState {
  readonly missing: MissingRecords;
  readonly storedTotals: StoredTotals;
  #coverage: readonly CoveredRange[];
  #marked: readonly MarkedSlice[];

  /** @param runId the run that reads the resource, or 0 to read only the state */
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
    private readonly runId = 0,
  ) {
    this.#coverage = readCoverage(mirror, resource);
    this.#marked = readMarkedSlices(mirror, resource);
    this.missing = new MissingRecords(mirror, resource);
    this.storedTotals = new StoredTotals(mirror, resource);
  }

  coverage(): readonly CoveredRange[] {
    return this.#coverage;
  }

  markedSlices(): readonly MarkedSlice[] {
    return this.#marked;
  }

  /** Returns the records in marked slices with unreadable dates or dates outside their slice. */
  markedIds(): ReadonlySet<number> {
    return new Set(this.#marked.flatMap(({ recordIds }) => recordIds));
  }

  /**
   * True if a date was read completely.
   * @param dated a date in milliseconds since 1970
   */
  isCovered(dated: number | null): boolean {
    return dated !== null && this.#coverage.some((range) => containsInstant(range, dated));
  }

  /**
   * Adds a range to the coverage. Records in this range that the API did not return become missing.
   * @param apiTotals the API's daily totals, which are stored for each day that the run has now read completely
   */
  cover(reading: RangeRecords, apiTotals: TotalsByDay | null = null): void {
    const { range } = reading;
    const absent = this.#cover(reading, range);
    if (absent > 0) this.storedTotals.delete(range);
    if (!apiTotals) return;
    const days = { from: startOfDay(range.from), to: startOfDay(range.to) + dayMs - 1 };
    const readByRun = mergeRanges(this.#coverage.filter(({ runId }) => runId === this.runId));
    for (const part of clipRanges(readByRun, days))
      this.storedTotals.replace(clipToCompleteDays(part), apiTotals);
  }

  /**
   * Adds all dates up to the time of the request to the coverage, because the list was complete. All records that are
   * not in the list become missing, including records without a date and records with a future date.
   */
  coverList({ ids, requestedAt }: Omit<RangeRecords, "range">): void {
    this.#cover({ range: { from: Number.NEGATIVE_INFINITY, to: requestedAt }, ids, requestedAt }, allTime);
  }

  /** @param wasRequested the range whose records become missing if the API did not return them */
  #cover({ ids, range, requestedAt }: RangeRecords, wasRequested: Range): number {
    const current = readCurrentIds(this.mirror, this.resource, wasRequested);
    const absent = current.filter((id) => !ids.has(id));
    this.missing.add(absent, this.#coverage);
    const covered = { ...range, readAt: requestedAt, runId: this.runId };
    this.#replace(addCoverage(this.#coverage, covered), withoutRange(this.#marked, range), ids);
    return absent.length;
  }

  /**
   * Marks a range that contains faulty records.
   * @param recordIds the faulty records
   * @param ids all returned records, or null if the range was read only partly; its slice then takes over the undated
   * records from the slices that it replaces, so that none of them become missing
   */
  markSlice(
    range: Range,
    {
      recordIds,
      fault,
      requestedAt,
      ids,
    }: Omit<RangeRecords, "range" | "ids"> &
      Pick<MarkedSlice, "recordIds" | "fault"> & { ids: ReadonlySet<number> | null },
  ): void {
    const replaced = ids ? [] : this.#marked.filter((slice) => overlaps(slice, range));
    const undated = replaced.flatMap((slice) => slice.recordIds).filter((id) => this.#isUndated(id));
    const slice = {
      ...range,
      readAt: requestedAt,
      runId: this.runId,
      recordIds: [...new Set([...recordIds, ...undated])],
      fault,
    };
    const marked = [...withoutRange(this.#marked, range), slice];
    this.#replace(withoutRange(this.#coverage, range), marked, ids ?? new Set());
  }

  /** Undated records that are no longer in any marked slice become missing unless they are in `returned`. */
  #replace(
    coverage: readonly CoveredRange[],
    marked: readonly MarkedSlice[],
    returned: ReadonlySet<number>,
  ): void {
    const { mirror, resource } = this;
    const before = this.markedIds();
    this.#coverage = coverage;
    this.#marked = [...marked].sort((a, b) => a.from - b.from);
    writeCoverage(mirror, resource, this.#coverage);
    writeRunCoverage(mirror, this.runId, this.#coverage);
    writeMarkedSlices(mirror, resource, this.#marked);
    const after = this.markedIds();
    const unmarked = [...before].filter((id) => !after.has(id) && !returned.has(id) && this.#isUndated(id));
    this.missing.add(unmarked);
  }

  #isUndated(id: number): boolean {
    const find = "SELECT 1 FROM records WHERE record_id = ? AND dated_at IS NULL AND removed_at IS NULL";
    return this.mirror.selectValue(find, id) === 1;
  }

  /** Returns the oldest date that any run was asked to read, or -Infinity if there is no lower bound. */
  floor(): number {
    return this.storedFloor() ?? Number.NEGATIVE_INFINITY;
  }

  storedFloor(): number | null {
    const row = this.#row();
    return row ? (row.floor_ms ?? Number.NEGATIVE_INFINITY) : null;
  }

  setFloor(ms: number): void {
    this.#set("floor_ms = ?", Number.isFinite(ms) ? ms : null);
  }

  cursor(): number | null {
    return this.#row()?.cursor_ms ?? null;
  }

  setCursor(to: number): void {
    this.#set("cursor_ms = ?", to);
  }

  /** Returns the names of the API filters that returned wrong counts. */
  distrusted(): ReadonlySet<string> {
    return new Set(JSON.parse(this.#row()?.distrusted ?? "[]") as string[]);
  }

  setDistrusted(filters: Iterable<string>): void {
    this.#set("distrusted = ?", JSON.stringify([...filters]));
  }

  /** Returns the last run's values for `--window` and `--audit`, or null if no run has stored any. */
  lastOptions(): { windowMs: number; audit: number } | null {
    const row = this.#row();
    if (!row || row.window_ms === null || row.audit_requests === null) return null;
    return { windowMs: row.window_ms, audit: row.audit_requests };
  }

  setLastOptions({ windowMs, audit }: { windowMs: number; audit: number }): void {
    this.#set("window_ms = ?, audit_requests = ?", windowMs, audit);
  }

  /** Counts the current records in a range that match all of these `filterFlags`, excluding missing records. */
  count(range: Range, flags = 0): number {
    return countCurrent(this.mirror, this.resource, range, flags) - this.missing.count(range, flags);
  }

  #row(): StateRow | undefined {
    return this.mirror.selectRow("SELECT * FROM sync_state WHERE resource = ?", this.resource);
  }

  #set(members: string, ...values: (number | string | null)[]): void {
    this.mirror.run("INSERT OR IGNORE INTO sync_state (resource) VALUES (?)", this.resource);
    this.mirror.run(`UPDATE sync_state SET ${members} WHERE resource = ?`, ...values, this.resource);
  }
}

export interface DayTotals {
  count: number;
  amounts: readonly number[];
}

/** Totals keyed by day (`2026-01-31`). Days without activity may be missing. */
export type TotalsByDay = ReadonlyMap<string, DayTotals>;

/** The API's daily totals as they were when each day was last read. They are stored in the table `day_figures`. */
export class StoredTotals {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  all(): TotalsByDay {
    const select = "SELECT day, figures FROM day_figures WHERE resource = ?";
    const rows = this.mirror.selectRows<{ day: string; figures: string }>(select, this.resource);
    return new Map(rows.map(({ day, figures }) => [day, fromJson(figures)]));
  }

  /**
   * Deletes the totals of all days that overlap a range, because they describe earlier versions of the records. A
   * covered day without totals counts as changed until the run has read the complete day and `cover` stores its totals.
   */
  delete(range: Range): void {
    this.replace(range, new Map());
  }

  /** Replaces the totals for a range of complete days. */
  replace({ from, to }: Range, totals: TotalsByDay): void {
    const [first, last] = [Number.isFinite(from) ? utcDay(from) : "", utcDay(to)];
    const remove = "DELETE FROM day_figures WHERE resource = ? AND day BETWEEN ? AND ?";
    this.mirror.run(remove, this.resource, first, last);
    const insert = "INSERT INTO day_figures VALUES (?, ?, ?)";
    for (const [day, { count, amounts }] of totals)
      if (day >= first && day <= last)
        this.mirror.run(insert, this.resource, day, JSON.stringify([count, ...amounts]));
  }
}

function fromJson(json: string): DayTotals {
  const [count = 0, ...amounts] = JSON.parse(json) as number[];
  return { count, amounts };
}

/** A current record that the most recent read of its date did not return. */
interface MissingRecord {
  id: number;
  /** The record's date in milliseconds since 1970, or null if it has no readable date. */
  dated: number | null;
}

/** A resource's missing records. They are removed only when the API's counts agree without them. */
export class MissingRecords {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  all(): MissingRecord[] {
    const select = `SELECT record_id AS id, dated_at AS dated FROM missing AS m JOIN records AS r USING (record_id)
      WHERE m.resource = ? AND r.removed_at IS NULL`;
    return this.mirror.selectRows(select, this.resource);
  }

  /**
   * Adds the records that a read did not return, and stores when they were last returned.
   * @param before the coverage before this read
   */
  add(ids: Iterable<number>, before: readonly CoveredRange[] = []): void {
    const find = "SELECT dated_at AS dated, since_at AS since FROM records WHERE record_id = ?";
    for (const id of ids) {
      const record = this.mirror.selectRow<{ dated: number | null; since: string }>(find, id);
      if (!record) continue;
      // The coverage may not include the date of a record that was read individually.
      const lastSeen = lastReadAt(before, record.dated) ?? record.since;
      this.mirror.run("INSERT OR IGNORE INTO missing VALUES (?, ?, ?)", this.resource, id, lastSeen);
    }
  }

  delete(returned: Iterable<number>): void {
    const remove = "DELETE FROM missing WHERE resource = ? AND record_id IN (SELECT value FROM json_each(?))";
    this.mirror.run(remove, this.resource, JSON.stringify([...returned]));
  }

  has(id: number): boolean {
    const find = "SELECT 1 FROM missing WHERE resource = ? AND record_id = ?";
    return this.mirror.selectValue(find, this.resource, id) === 1;
  }

  /**
   * Returns the time at which a missing record was last returned (ISO 8601), or null if that time is unknown or the
   * record is not missing.
   */
  lastSeen(id: number): string | null {
    const select = "SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?";
    return this.mirror.selectValue<string | null>(select, this.resource, id) ?? null;
  }

  /** Counts the missing records in a range that match all of these `filterFlags`. */
  count(range: Range, flags: number): number {
    // NOT INDEXED makes SQLite start from the few missing records, because the range may contain a million records.
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${currentCondition(range)} AND flags & ? = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    const values = [...currentParameters(this.resource, range), flags, flags, this.resource];
    return this.mirror.selectValue<number>(select, ...values) ?? 0;
  }
}
