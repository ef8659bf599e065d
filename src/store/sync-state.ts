import {
  allTime,
  clipRanges,
  clipToCompleteDays,
  mergeRanges,
  startOfDay,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { dayMs } from "../util/timestamps.js";
import {
  type CoveredRange,
  collectFaultyIds,
  copyCoverageToRun,
  type FaultySlice,
  loadCoverage,
  loadFaultySlices,
  type SyncedDates,
  saveCoverage,
  saveFaultySlices,
} from "./coverage.js";
import { type Mirror, parseStoredJson } from "./database.js";
import { type MissingRecord, MissingRecords } from "./missing-records.js";
import { countCurrent, findMirroredDate, isUndated, loadCurrentIds } from "./records.js";
import { decideUpdate, type WrittenReading } from "./state-update.js";

interface StateRow {
  floor_ms: number | null;
  cursor_ms: number | null;
  window_ms: number | null;
  audit_requests: number | null;
  ignored_filters: string;
}

/**
 * A resource's sync state, which is stored between runs. It includes the dates read, the missing records, the daily
 * totals and some of the last run's options.
 */
export class SyncState {
  readonly missing: MissingRecords;
  readonly storedTotals: StoredTotals;

  constructor(
    private readonly mirror: Mirror,
    private readonly resourceName: string,
  ) {
    this.missing = new MissingRecords(mirror, resourceName);
    this.storedTotals = new StoredTotals(mirror, resourceName);
  }

  loadDates(): SyncedDates {
    return { coverage: this.loadCoverage(), faultySlices: this.loadFaultySlices() };
  }

  loadCoverage(): readonly CoveredRange[] {
    return loadCoverage(this.mirror, this.resourceName);
  }

  loadFaultySlices(): readonly FaultySlice[] {
    return loadFaultySlices(this.mirror, this.resourceName);
  }

  loadFaultyIds(): ReadonlySet<number> {
    return collectFaultyIds(this.loadFaultySlices());
  }

  /**
   * Returns the missing records that the API may have removed. Faulty records in faulty slices are excluded: they still
   * exist, even if the API does not return them for their own dates.
   */
  loadRemovableRecords(): MissingRecord[] {
    const faultyIds = this.loadFaultyIds();
    return this.missing.load().filter(({ id }) => !faultyIds.has(id));
  }

  /**
   * Updates the state after a read, as `decideUpdate` describes. Call this after writing the returned records: the
   * change log needs the times at which missing records were last seen, and this method deletes those times.
   * @param apiTotals the API's daily totals, to be stored for days that the run has now read in full
   */
  applyReading(reading: WrittenReading, apiTotals: TotalsByDay | null = null): void {
    const { mirror, resourceName } = this;
    const { dates, missing, notMissing, outdatedTotals } = decideUpdate(this.loadDates(), reading, {
      currentIds: (range) => loadCurrentIds(mirror, resourceName, range),
      dateOf: (id) => findMirroredDate(mirror, id),
      isUndated: (id) => isUndated(mirror, id),
    });
    this.missing.delete(notMissing);
    this.missing.add(missing);
    for (const range of outdatedTotals) this.storedTotals.invalidate(range);
    if (dates === null) return;
    saveCoverage(mirror, resourceName, dates.coverage);
    copyCoverageToRun(mirror, reading.runId, dates.coverage);
    saveFaultySlices(mirror, resourceName, dates.faultySlices);
    if (apiTotals) this.#storeTotals(reading, apiTotals);
  }

  /**
   * Updates the state after a list has been read. If the list is complete, all dates up to the time of the request are
   * covered, and all mirrored records must be in the list, even those whose date is unreadable or in the future.
   */
  applyList(reading: Omit<WrittenReading, "range" | "expectedDates">): void {
    const range = { from: Number.NEGATIVE_INFINITY, to: reading.requestedAt };
    this.applyReading({ ...reading, range, expectedDates: allTime });
  }

  /**
   * Stores the API's totals for the days in a range that the run has read in full. The run may have read a day in
   * several parts, so the run's other covered ranges are considered as well.
   */
  #storeTotals({ range, runId }: WrittenReading, apiTotals: TotalsByDay): void {
    const days = { from: startOfDay(range.from), to: startOfDay(range.to) + dayMs - 1 };
    const readByRun = mergeRanges(this.loadCoverage().filter((covered) => covered.runId === runId));
    for (const part of clipRanges(readByRun, days))
      this.storedTotals.replace(clipToCompleteDays(part), apiTotals);
  }

  /**
   * Returns the oldest date that any run has requested: -Infinity if there is no lower bound, or null before the first
   * run.
   */
  loadFloor(): number | null {
    const row = this.#row();
    return row ? (row.floor_ms ?? Number.NEGATIVE_INFINITY) : null;
  }

  saveFloor(ms: number): void {
    this.mirror.execute("INSERT OR IGNORE INTO sync_state (resource) VALUES (?)", this.resourceName);
    this.#update("floor_ms = ?", Number.isFinite(ms) ? ms : null);
  }

  loadAuditCursor(): number | null {
    return this.#row()?.cursor_ms ?? null;
  }

  saveAuditCursor(to: number): void {
    this.#update("cursor_ms = ?", to);
  }

  /** Returns the names of the status filters that are ignored because their counts were wrong. */
  loadIgnoredFilters(): ReadonlySet<string> {
    return new Set(
      parseStoredJson<string[]>(this.mirror, this.#row()?.ignored_filters ?? "[]", "a list of filters"),
    );
  }

  saveIgnoredFilters(filters: Iterable<string>): void {
    this.#update("ignored_filters = ?", JSON.stringify([...filters]));
  }

  loadLastOptions(): { windowMs: number; auditRequests: number } | null {
    const row = this.#row();
    if (!row || row.window_ms === null || row.audit_requests === null) return null;
    return { windowMs: row.window_ms, auditRequests: row.audit_requests };
  }

  saveLastOptions({ auditRequests, windowMs }: { windowMs: number; auditRequests: number }): void {
    this.#update("window_ms = ?, audit_requests = ?", windowMs, auditRequests);
  }

  /**
   * Counts the current records in a range. Missing records are not counted.
   * @param statusBit counts only the records with this status bit; 0 counts all records
   */
  count(range: TimeRange, statusBit = 0): number {
    return (
      countCurrent(this.mirror, this.resourceName, range, statusBit) - this.missing.count(range, statusBit)
    );
  }

  #row(): StateRow | null {
    return this.mirror.selectRow("SELECT * FROM sync_state WHERE resource = ?", this.resourceName);
  }

  #update(columns: string, ...values: (number | string | null)[]): void {
    const update = `UPDATE sync_state SET ${columns} WHERE resource = ?`;
    const { changes } = this.mirror.execute(update, ...values, this.resourceName);
    if (changes === 0) throw new Error("a resource's first run must save the floor before any other state");
  }
}

export interface DayTotals {
  count: number;
  amounts: readonly number[];
}

/** Totals keyed by day (`2026-01-31`). Days without activity may be absent. */
export type TotalsByDay = ReadonlyMap<string, DayTotals>;

/** The API's daily totals from the last read of each day. They are stored in the `stored_totals` table. */
class StoredTotals {
  constructor(
    private readonly mirror: Mirror,
    private readonly resourceName: string,
  ) {}

  load(): TotalsByDay {
    const select = "SELECT day, totals FROM stored_totals WHERE resource = ?";
    const rows = this.mirror.selectRows<{ day: string; totals: string }>(select, this.resourceName);
    return new Map(
      rows.map(({ day, totals }) => {
        const [count = 0, ...amounts] = parseStoredJson<number[]>(
          this.mirror,
          totals,
          `the totals of ${day}`,
        );
        return [day, { count, amounts }];
      }),
    );
  }

  /**
   * Deletes the totals of all days that overlap a range, because they describe earlier versions of the records. A
   * covered day without totals counts as changed until a run has read the whole day.
   */
  invalidate(range: TimeRange): void {
    this.replace(range, new Map());
  }

  replace({ from, to }: TimeRange, totals: TotalsByDay): void {
    const [first, last] = [Number.isFinite(from) ? utcDay(from) : "", utcDay(to)];
    const remove = "DELETE FROM stored_totals WHERE resource = ? AND day BETWEEN ? AND ?";
    this.mirror.execute(remove, this.resourceName, first, last);
    const insert = "INSERT INTO stored_totals (resource, day, totals) VALUES (?, ?, ?)";
    for (const [day, { count, amounts }] of totals)
      if (day >= first && day <= last)
        this.mirror.execute(insert, this.resourceName, day, JSON.stringify([count, ...amounts]));
  }
}
