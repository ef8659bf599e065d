import type { Reporter } from "../lib/reporter.js";
import { type Mirror, type Run, saveRun } from "../mirror/index.js";
import { tablesOf } from "../resources/shape.js";
import { asObject, type Json, type Resource } from "../resources/types.js";
import { openChangeLog, type Readings } from "./changes.js";
import { openHostNames } from "./host-names.js";
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
  /**
   * Writes records of a resource with dates, but not the older copies of a record that the API lists more than once: those
   * after the first one with its ID, and those with an older date than the mirrored record.
   */
  writeNewest(values: readonly Json[], options: WriteOptions): { ids: number[]; copies: Copy[] };
  /** Marks records as removed. */
  remove(recordIds: Iterable<number>, at: string): void;
}

/** A copy of a record that was not written, and the ID of the mirrored record. */
export interface Copy {
  id: number;
  value: Json;
}

export interface RecordOptions extends Readings {
  run: Run;
  /** Receives unknown attributes and columns with another name, once in the life of a mirror. */
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
  const names = openHostNames(mirror);

  function remove(id: number, at: string): void {
    const row = table.get(id);
    if (!row || row.removed_at !== null) return;
    log.removed(row, at);
    table.setRemoved(id, at);
    recordId = id;
    writeRows(storedRecord(mirror, { ...row, since_at: at, removed_at: at }), false);
    run.rows_removed += 1;
  }

  function writeAll(values: readonly Json[], options: WriteOptions) {
    readAt = options.readAt;
    const { context = {}, keyPrefix = "", position = 0 } = options;
    const ids: number[] = [];
    const copies: Copy[] = [];
    // All keys, before anything is written.
    const keys = values.map((value, index) => keyPrefix + keyOf(resource, value, position + index));
    const around = table.findAround(values);
    const hasCopies = options.newestOnly && new Set(keys).size < keys.length;
    for (const [index, sent] of values.entries()) {
      const key = keys[index] ?? "";
      if (hasCopies && keys.indexOf(key) < index) {
        copies.push({ id: table.find(key)?.record_id ?? 0, value: sent });
        continue;
      }
      const kept = door(sent, resource.name);
      const { id, effect, value, sinceAt } = writeRecord(kept, key, options, around);
      if (effect === "older") copies.push({ id, value: sent });
      else ids.push(id);
      if (effect === "same" || effect === "older") continue;
      if (effect === "added") run.rows_new += 1;
      if (effect === "changed") run.rows_changed += 1;
      recordId = id;
      if (effect !== "added") unexpected.clear(id);
      const object = asObject(value);
      if (effect === "added" || effect === "changed") names.addFrom(object, options.readAt);
      watch(object);
      writeRows({ recordId: id, value: object, context, sinceAt, removedAt: null }, effect === "added");
    }
    saveRun(mirror, run);
    return { ids, copies };
  }

  return {
    write: (values, options) => writeAll(values, options).ids,
    writeNewest: (values, options) => writeAll(values, { ...options, newestOnly: true }),
    remove(recordIds, at) {
      for (const id of recordIds) remove(id, at);
      saveRun(mirror, run);
    },
  };
}
