import type { Range } from "../../util/ranges.js";
import { formatInstant, formatInstantOrNull } from "../../util/times.js";
import { type Mirror, statement } from "../mirror/database.js";

/**
 * A range of dates that was read by page number because the API returned records with unreadable dates or
 * dates outside the range.
 */
export interface MarkedSlice extends Range {
  readAt: number;
  runId: number;
  /** The `record_id`s of the records with unreadable dates or dates outside the range. */
  recordIds: readonly number[];
  /** The problem with the first of these records. */
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

export function writeMarkedSlices(mirror: Mirror, resource: string, slices: readonly MarkedSlice[]): void {
  statement(mirror, "DELETE FROM marked_slices WHERE resource = ?").run(resource);
  const insert = statement(mirror, "INSERT INTO marked_slices VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const { from, to, readAt, runId, recordIds, fault } of slices) {
    const range = [formatInstantOrNull(from), formatInstant(to), formatInstant(readAt)];
    insert.run(resource, ...range, runId, JSON.stringify(recordIds), fault);
  }
}
