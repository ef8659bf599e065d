import type { Reporter } from "../lib/reporter.js";
import { type Mirror, type Run, saveRun } from "../mirror/index.js";
import { tablesOf } from "../resources/shape.js";
import { asObject, type Json, type Resource } from "../resources/types.js";
import { openChangeLog, type Readings } from "./changes.js";
import { openDoor } from "./keep-out.js";
import { keyOf } from "./keys.js";
import { openNotices } from "./notices.js";
import { openTables } from "./projection.js";
import { openRecordTable } from "./record-table.js";
import { openRecordWriter, type WriteOptions } from "./record-writer.js";
import { storedRecord } from "./stored-record.js";
import { openUnexpectedValues } from "./unexpected-values.js";
import { watchMembers } from "./unknown-members.js";
import type { Complaint } from "./values.js";

/**
 * The records of one resource: the truth, with its projection and its history. Call both in a transaction. New, changed and
 * removed records are counted in the run's row.
 */
export interface RecordStore {
  /**
   * Writes whole records.
   * @returns their record ids, in the order given
   * @throws UnexpectedAnswer before anything is written, if a record's id is missing or inexact
   */
  write(values: readonly Json[], options: WriteOptions): number[];
  /** Marks records as removed. */
  remove(recordIds: Iterable<number>, at: string): void;
}

export interface RecordOptions extends Readings {
  run: Run;
  /** Is given what is not as declared: each thing once in the life of a mirror. */
  reporter: Pick<Reporter, "note" | "warn">;
}

/** Opens a resource's records for writing. */
export function openRecords(
  mirror: Mirror,
  resource: Resource,
  { run, reporter, ...readings }: RecordOptions,
): RecordStore {
  let readAt = "";
  let recordId = 0;
  const notice = openNotices(mirror, resource, reporter, () => readAt);
  const unexpected = openUnexpectedValues(mirror);
  const complain = (complaint: Complaint) =>
    complaint.kind === "type" ? unexpected.add(recordId, complaint) : notice(complaint);
  const door = openDoor(mirror);
  const table = openRecordTable(mirror, resource);
  const log = openChangeLog(mirror, resource, { runId: run.run_id, ...readings });
  const writeRecord = openRecordWriter(resource, table, log);
  const writeRows = openTables(mirror, tablesOf(resource), complain);
  const watch = watchMembers(resource, complain);

  function remove(id: number, at: string): void {
    const row = table.get(id);
    if (!row || row.removed_at !== null) return;
    log.removed(row, at);
    table.setRemoved(id, at);
    recordId = id;
    writeRows(storedRecord(mirror, { ...row, since_at: at, removed_at: at }), false);
    run.rows_removed += 1;
  }

  return {
    write(values, options) {
      readAt = options.readAt;
      const { context = {}, keyPrefix = "", position = 0 } = options;
      // All keys, before anything is written.
      const keys = values.map((value, index) => keyPrefix + keyOf(resource, value, position + index));
      const around = table.findAround(values);
      const ids = values.map((sent, index) => {
        const kept = door(sent, resource.name);
        const { id, effect, value, sinceAt } = writeRecord(kept, keys[index] ?? "", options, around);
        if (effect === "same") return id;
        if (effect === "added") run.rows_new += 1;
        if (effect === "changed") run.rows_changed += 1;
        recordId = id;
        if (effect !== "added") unexpected.clear(id);
        const object = asObject(value);
        watch(object);
        writeRows({ recordId: id, value: object, context, sinceAt, removedAt: null }, effect === "added");
        return id;
      });
      saveRun(mirror, run);
      return ids;
    },
    remove(recordIds, at) {
      for (const id of recordIds) remove(id, at);
      saveRun(mirror, run);
    },
  };
}
