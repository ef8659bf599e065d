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

/** New columns of one table that are reported one by one. */
const mostColumnsReported = 10;

/** Opens a resource's records for writing. New, changed and removed rows are counted in the run's row. */
export function openStore(
  { mirror, reporter }: { mirror: Mirror; reporter: Reporter },
  resource: Resource,
  row: Run,
  readings: Readings,
): RecordStore {
  const store = openRecords(mirror, resource, {
    runId: row.run_id,
    ...readings,
    complain: complainer(reporter, resource),
  });
  return {
    ...store,
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

/** Warns once about each field of an unexpected type; a new attribute needs no action, and is a note. */
function complainer(reporter: Reporter, resource: Resource): (complaint: Complaint) => void {
  let columns = 0;
  return (complaint) => {
    if (complaint.kind === "column") columns += 1;
    if (complaint.kind !== "column" || columns <= mostColumnsReported)
      reporter[complaint.kind === "attribute" ? "note" : "warn"](complaintText(complaint, resource));
    else if (columns === mostColumnsReported + 1)
      reporter.warn(`${complaint.table}: more new columns: \`brandapi tables ${complaint.table}\` lists all`);
  };
}
