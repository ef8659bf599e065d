import type { Range } from "../../util/ranges.js";
import { type Mirror, statement } from "../mirror/database.js";
import { currentCondition, currentParameters } from "../records/current-records.js";
import { type CoveredRange, lastReadAt } from "./coverage.js";

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
    return this.#prepared(select).all(this.resource) as MissingRecord[];
  }

  /**
   * Adds the records that a read did not return, and stores when they were last returned.
   * @param before the coverage before this read
   */
  add(ids: Iterable<number>, before: readonly CoveredRange[] = []): void {
    const insert = this.#prepared("INSERT OR IGNORE INTO missing VALUES (?, ?, ?)");
    const find = this.#prepared(
      "SELECT dated_at AS dated, since_at AS since FROM records WHERE record_id = ?",
    );
    for (const id of ids) {
      const { dated, since } = find.get(id) as { dated: number | null; since: string };
      // The coverage may not include the date of a record that was read individually.
      insert.run(this.resource, id, lastReadAt(before, dated) ?? since);
    }
  }

  delete(returned: Iterable<number>): void {
    const any = this.#prepared("SELECT 1 FROM missing WHERE resource = ? LIMIT 1").get(this.resource);
    const remove = this.#prepared("DELETE FROM missing WHERE resource = ? AND record_id = ?");
    if (any !== undefined) for (const id of returned) remove.run(this.resource, id);
  }

  has(id: number): boolean {
    const find = this.#prepared("SELECT 1 FROM missing WHERE resource = ? AND record_id = ?");
    return find.get(this.resource, id) !== undefined;
  }

  /**
   * Returns the time at which a missing record was last returned (ISO 8601), or null if that time is unknown
   * or the record is not missing.
   */
  lastSeen(id: number): string | null {
    const find = this.#prepared("SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?");
    return (find.pluck().get(this.resource, id) as string | null | undefined) ?? null;
  }

  /** Counts the missing records in a range that match all of these `filterFlags`. */
  count(range: Range, flags: number): number {
    // NOT INDEXED makes SQLite start from the few missing records, because the range may contain a million
    // records.
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${currentCondition(range)} AND flags & ? = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    const values = [...currentParameters(this.resource, range), flags, flags, this.resource];
    return this.#prepared(select).pluck().get(values) as number;
  }

  #prepared(sql: string) {
    return statement(this.mirror, sql);
  }
}
