import type { TimeRange } from "../util/time-ranges.js";
import type { Mirror } from "./database.js";
import { whereCurrent } from "./records.js";
import type { MissingId } from "./state-update.js";

/** A current record that the API did not return when its date was last read. */
export interface MissingRecord {
  id: number;
  date: number | null;
}

/** A resource's missing records. They are removed once the API's counts match the mirror's counts without them. */
export class MissingRecords {
  constructor(
    private readonly mirror: Mirror,
    private readonly resourceName: string,
  ) {}

  load(): MissingRecord[] {
    const select = `SELECT record_id AS id, dated_ms AS date FROM missing AS m JOIN records AS r USING (record_id)
      WHERE m.resource = ? AND r.removed_at IS NULL`;
    return this.mirror.selectRows(select, this.resourceName);
  }

  /** Marks records as missing, and stores when the API last returned each of them. */
  add(records: Iterable<MissingId>): void {
    const insert = `INSERT OR IGNORE INTO missing (resource, record_id, last_seen_at)
      SELECT ?, record_id, coalesce(?, since_at) FROM records WHERE record_id = ?`;
    for (const { id, lastSeenAt } of records) this.mirror.execute(insert, this.resourceName, lastSeenAt, id);
  }

  delete(returned: Iterable<number>): void {
    const remove = "DELETE FROM missing WHERE resource = ? AND record_id IN (SELECT value FROM json_each(?))";
    this.mirror.execute(remove, this.resourceName, JSON.stringify([...returned]));
  }

  has(id: number): boolean {
    const find = "SELECT 1 FROM missing WHERE resource = ? AND record_id = ?";
    return this.mirror.selectValue(find, this.resourceName, id) === 1;
  }

  /**
   * Returns the time (ISO 8601) at which the API last returned a missing record, or null if the record is not missing.
   */
  findLastSeenAt(id: number): string | null {
    const select = "SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?";
    return this.mirror.selectValue(select, this.resourceName, id);
  }

  count(range: TimeRange, statusBit: number): number {
    const { sql, values } = whereCurrent(this.resourceName, range);
    // NOT INDEXED makes SQLite start from the few missing records, because the range may contain a million records.
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${sql} AND (status_bits & ?) = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    return this.mirror.selectValue<number>(select, ...values, statusBit, statusBit, this.resourceName) ?? 0;
  }
}
