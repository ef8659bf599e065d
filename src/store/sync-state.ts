import {
  allTime,
  clipRanges,
  clipToCompleteDays,
  containsInstant,
  mergeRanges,
  overlaps,
  startOfDay,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { dayMs } from "../util/timestamps.js";
import {
  addCoverage,
  type CoveredRange,
  type FaultySlice,
  findLastReadAt,
  readCoverage,
  readFaultySlices,
  withoutRange,
  writeCoverage,
  writeFaultySlices,
  writeRunCoverage,
} from "./coverage.js";
import { type Mirror, parseStoredJson } from "./database.js";
import { countCurrent, currentCondition, currentParameters, readCurrentIds } from "./records.js";

/** The records that the API returned for a range that was read completely. */
interface CompleteReading {
  runId: number;
  range: TimeRange;
  ids: ReadonlySet<number>;
  requestedAt: number;
}

/** The records that the API returned for a range with faulty records. */
interface FaultyReading {
  runId: number;
  range: TimeRange;
  faultyIds: readonly number[];
  /** All returned records, or null if the range was not read completely. */
  ids: ReadonlySet<number> | null;
  fault: string;
  requestedAt: number;
}

interface StateRow {
  floor_ms: number | null;
  cursor_ms: number | null;
  window_ms: number | null;
  audit_requests: number | null;
  distrusted: string;
}

/**
 * The sync state of a resource that is stored between runs: the dates read, the missing records and some options. A
 * date is either covered, in a faulty slice, or unread. Methods that write must be called in a transaction. The
 * coverage and the faulty slices are cached in memory, where a rollback does not undo changes, so a run must end if its
 * transaction fails.
 */
export class SyncState {
  readonly missing: MissingRecords;
  readonly storedTotals: StoredTotals;
  #coverage: readonly CoveredRange[];
  #faultySlices: readonly FaultySlice[];

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {
    this.#coverage = readCoverage(mirror, resource);
    this.#faultySlices = readFaultySlices(mirror, resource);
    this.missing = new MissingRecords(mirror, resource);
    this.storedTotals = new StoredTotals(mirror, resource);
  }

  coverage(): readonly CoveredRange[] {
    return this.#coverage;
  }

  faultySlices(): readonly FaultySlice[] {
    return this.#faultySlices;
  }

  /** Returns the faulty records in all faulty slices. */
  faultyIds(): ReadonlySet<number> {
    return new Set(this.#faultySlices.flatMap(({ recordIds }) => recordIds));
  }

  /**
   * Returns the missing records that the API may have removed. Faulty records in faulty slices are excluded: they still
   * exist, even if the API does not return them for their own dates.
   */
  removableRecords(): MissingRecord[] {
    const faultyIds = this.faultyIds();
    return this.missing.all().filter(({ id }) => !faultyIds.has(id));
  }

  isCovered(dated: number | null): boolean {
    return dated !== null && this.#coverage.some((range) => containsInstant(range, dated));
  }

  /**
   * Adds a range to the coverage. Mirrored records in this range that the API did not return are marked as missing.
   * @param apiTotals the API's daily totals; those of each day that the run has now fully read are stored
   */
  coverRange(reading: CompleteReading, apiTotals: TotalsByDay | null = null): void {
    const { range, runId } = reading;
    const absentCount = this.#addCoverage(reading, range);
    if (absentCount > 0) this.storedTotals.invalidate(range);
    if (!apiTotals) return;
    const days = { from: startOfDay(range.from), to: startOfDay(range.to) + dayMs - 1 };
    const readByRun = mergeRanges(this.#coverage.filter((covered) => covered.runId === runId));
    for (const part of clipRanges(readByRun, days))
      this.storedTotals.replace(clipToCompleteDays(part), apiTotals);
  }

  /**
   * Marks all dates up to the time of the request as covered, after a complete list has been read. Mirrored records
   * that are not in the list are marked as missing, even if their date is unreadable or in the future.
   */
  coverAll(reading: Omit<CompleteReading, "range">): void {
    const range = { from: Number.NEGATIVE_INFINITY, to: reading.requestedAt };
    this.#addCoverage({ ...reading, range }, allTime);
  }

  /**
   * @param requested the range in which mirrored records that the API did not return are marked as missing
   * @returns the number of records that the API did not return
   */
  #addCoverage({ ids, range, requestedAt, runId }: CompleteReading, requested: TimeRange): number {
    const current = readCurrentIds(this.mirror, this.resource, requested);
    const absent = current.filter((id) => !ids.has(id));
    this.missing.add(absent, this.#coverage);
    const covered = { ...range, readAt: requestedAt, runId };
    this.#replace(runId, addCoverage(this.#coverage, covered), withoutRange(this.#faultySlices, range), ids);
    return absent.length;
  }

  /**
   * Marks a range that contains faulty records. The new slice replaces the slices that it overlaps. If the range was
   * not read completely, their undated records remain faulty records, so that they are not marked as missing.
   */
  addFaultySlice({ runId, range, faultyIds, ids, fault, requestedAt }: FaultyReading): void {
    const replaced = ids ? [] : this.#faultySlices.filter((slice) => overlaps(slice, range));
    const undated = replaced.flatMap((slice) => slice.recordIds).filter((id) => this.#isUndated(id));
    const slice = {
      ...range,
      readAt: requestedAt,
      runId,
      recordIds: [...new Set([...faultyIds, ...undated])],
      fault,
    };
    const marked = [...withoutRange(this.#faultySlices, range), slice];
    this.#replace(runId, withoutRange(this.#coverage, range), marked, ids ?? new Set());
  }

  /**
   * Stores the new coverage and faulty slices. Undated records that are no longer in a faulty slice are marked as
   * missing, unless the API has just returned them (`returned`).
   */
  #replace(
    runId: number,
    coverage: readonly CoveredRange[],
    marked: readonly FaultySlice[],
    returned: ReadonlySet<number>,
  ): void {
    const { mirror, resource } = this;
    const before = this.faultyIds();
    this.#coverage = coverage;
    this.#faultySlices = [...marked].sort((a, b) => a.from - b.from);
    writeCoverage(mirror, resource, this.#coverage);
    writeRunCoverage(mirror, runId, this.#coverage);
    writeFaultySlices(mirror, resource, this.#faultySlices);
    const after = this.faultyIds();
    const unmarked = [...before].filter((id) => !after.has(id) && !returned.has(id) && this.#isUndated(id));
    this.missing.add(unmarked);
  }

  #isUndated(id: number): boolean {
    const find = "SELECT 1 FROM records WHERE record_id = ? AND dated_at IS NULL AND removed_at IS NULL";
    return this.mirror.selectValue(find, id) === 1;
  }

  /**
   * Returns the oldest date that any run has requested: -Infinity if there is no lower bound, or null before the first
   * run.
   */
  floor(): number | null {
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

  distrusted(): ReadonlySet<string> {
    return new Set(
      parseStoredJson<string[]>(this.mirror, this.#row()?.distrusted ?? "[]", "a list of filters"),
    );
  }

  setDistrusted(filters: Iterable<string>): void {
    this.#set("distrusted = ?", JSON.stringify([...filters]));
  }

  lastOptions(): { windowMs: number; audit: number } | null {
    const row = this.#row();
    if (!row || row.window_ms === null || row.audit_requests === null) return null;
    return { windowMs: row.window_ms, audit: row.audit_requests };
  }

  setLastOptions({ windowMs, audit }: { windowMs: number; audit: number }): void {
    this.#set("window_ms = ?, audit_requests = ?", windowMs, audit);
  }

  /** Counts the current records in a range that match all the given flags. Missing records are not counted. */
  count(range: TimeRange, flags = 0): number {
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

/** Totals by day (`2026-01-31`). Days without activity may be absent. */
export type TotalsByDay = ReadonlyMap<string, DayTotals>;

/** The API's daily totals, as they were when each day was last read. They are stored in the table `day_figures`. */
class StoredTotals {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  all(): TotalsByDay {
    const select = "SELECT day, figures FROM day_figures WHERE resource = ?";
    const rows = this.mirror.selectRows<{ day: string; figures: string }>(select, this.resource);
    return new Map(
      rows.map(({ day, figures }) => {
        const [count = 0, ...amounts] = parseStoredJson<number[]>(
          this.mirror,
          figures,
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
    const remove = "DELETE FROM day_figures WHERE resource = ? AND day BETWEEN ? AND ?";
    this.mirror.run(remove, this.resource, first, last);
    const insert = "INSERT INTO day_figures (resource, day, figures) VALUES (?, ?, ?)";
    for (const [day, { count, amounts }] of totals)
      if (day >= first && day <= last)
        this.mirror.run(insert, this.resource, day, JSON.stringify([count, ...amounts]));
  }
}

/** A current record that the API did not return when its date was last read. */
interface MissingRecord {
  id: number;
  dated: number | null;
}

/** A resource's missing records. They are removed once the API's counts match the mirror's counts without them. */
class MissingRecords {
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
   * Adds records that the API did not return, with the time at which each was last returned.
   * @param before the coverage before this read
   */
  add(ids: Iterable<number>, before: readonly CoveredRange[] = []): void {
    const find = "SELECT dated_at AS dated, since_at AS since FROM records WHERE record_id = ?";
    const insert = "INSERT OR IGNORE INTO missing (resource, record_id, last_seen_at) VALUES (?, ?, ?)";
    for (const id of ids) {
      const record = this.mirror.selectRow<{ dated: number | null; since: string }>(find, id);
      if (!record) continue;
      // If a record was read individually, its date is not necessarily covered.
      const lastSeenAt = findLastReadAt(before, record.dated) ?? record.since;
      this.mirror.run(insert, this.resource, id, lastSeenAt);
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

  count(range: TimeRange, flags: number): number {
    // NOT INDEXED makes SQLite start from the missing records, because the range may contain a million records.
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${currentCondition(range)} AND flags & ? = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    const values = [...currentParameters(this.resource, range), flags, flags, this.resource];
    return this.mirror.selectValue<number>(select, ...values) ?? 0;
  }
}
