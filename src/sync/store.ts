import type { Reporter } from "../lib/reporter.js";
import { type Mirror, type Run, saveRun } from "../mirror/index.js";
import {
  type Complaint,
  complaintText,
  openRecords,
  type Readings,
  type RecordStore,
} from "../records/index.js";
import type { Resource } from "../resources/types.js";

/**
 * Opens a resource's records for writing. New, changed and removed rows are counted in the run's row. A field of an
 * unexpected type is warned about once; a new attribute needs no action, and is a note.
 */
export function openStore(
  { mirror, reporter }: { mirror: Mirror; reporter: Reporter },
  resource: Resource,
  row: Run,
  readings: Readings,
): RecordStore {
  const complain = (complaint: Complaint) =>
    reporter[complaint.kind === "attribute" ? "note" : "warn"](complaintText(complaint, resource));
  const store = openRecords(mirror, resource, { runId: row.run_id, ...readings, complain });
  return {
    write(records, options) {
      const written = store.write(records, options);
      row.rows_new += written.added;
      row.rows_changed += written.changed;
      saveRun(mirror, row);
      return written;
    },
    remove(ids, at) {
      const removed = store.remove(ids, at);
      row.rows_removed += removed;
      saveRun(mirror, row);
      return removed;
    },
  };
}
