import { type Covered, lastRead, type Range } from "../lib/ranges.js";
import { type Mirror, statement } from "../mirror/index.js";
import { parameters, present } from "./counting.js";

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
  note(ids: Iterable<number>, before: readonly Covered[]): void {
    const note = this.#prepared("INSERT OR IGNORE INTO missing VALUES (?, ?, ?)");
    const find = this.#prepared(
      "SELECT dated_at AS dated, since_at AS since FROM records WHERE record_id = ?",
    );
    for (const id of ids) {
      const { dated, since } = find.get(id) as { dated: number | null; since: string };
      // A record may have been shown by an answer that covered no dates.
      note.run(this.resource, id, lastRead(before, dated) ?? since);
    }
  }

  /** Forgets the records that a reading showed. */
  forget(shown: Iterable<number>): void {
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
    const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${present(range)} AND flags & ? = ?
      AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
    const values = [...parameters(this.resource, range), flags, flags, this.resource];
    return this.#prepared(select).pluck().get(values) as number;
  }

  #prepared(sql: string) {
    return statement(this.mirror, sql);
  }
}
