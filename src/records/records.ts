import type { Mirror } from "../mirror/index.js";
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
import { watchMembers } from "./unknown-members.js";
import type { Complain, Complaint } from "./values.js";

/** The effect of writing some records. `ids` are their record ids, in the order given. */
export interface Written {
  ids: number[];
  added: number;
  changed: number;
}

/** The records of one resource: the truth, with its projection and its history. Call both in a transaction. */
export interface RecordStore {
  /**
   * Writes whole records.
   * @throws UnexpectedAnswer before anything is written, if a record's id is missing or inexact
   */
  write(values: readonly Json[], options: WriteOptions): Written;
  /** Marks records as removed. @returns how many were not yet */
  remove(recordIds: Iterable<number>, at: string): number;
}

export interface RecordOptions extends Readings {
  runId: number;
  /** Is given what is not as declared: each thing once in the life of a mirror. */
  complain: Complain;
}

/** Opens a resource's records for writing. */
export function openRecords(mirror: Mirror, resource: Resource, options: RecordOptions): RecordStore {
  let readAt = "";
  const isNew = openNotices(mirror);
  const complain = (complaint: Complaint) => {
    if (isNew(complaint, readAt)) options.complain(complaint);
  };
  const door = openDoor(mirror);
  const table = openRecordTable(mirror, resource);
  const log = openChangeLog(mirror, resource, options);
  const writeRecord = openRecordWriter(resource, table, log);
  const writeRows = openTables(mirror, tablesOf(resource), complain);
  const watch = watchMembers(resource, complain);

  function remove(recordId: number, at: string): boolean {
    const row = table.get(recordId);
    if (!row || row.removed_at !== null) return false;
    log.removed(row, at);
    table.setRemoved(recordId, at);
    writeRows(storedRecord(mirror, { ...row, since_at: at, removed_at: at }), false);
    return true;
  }

  return {
    write(values, options) {
      readAt = options.readAt;
      const { context = {}, keyPrefix = "", position = 0 } = options;
      // All keys, before anything is written.
      const keys = values.map((value, index) => keyPrefix + keyOf(resource, value, position + index));
      const around = table.findAround(values);
      const written: Written = { ids: [], added: 0, changed: 0 };
      for (const [index, sent] of values.entries()) {
        const kept = door(sent, resource.name);
        const { id, effect, value, sinceAt } = writeRecord(kept, keys[index] ?? "", options, around);
        written.ids.push(id);
        if (effect === "same") continue;
        if (effect === "added") written.added += 1;
        if (effect === "changed") written.changed += 1;
        const object = asObject(value);
        watch(object);
        writeRows({ recordId: id, value: object, context, sinceAt, removedAt: null }, effect === "added");
      }
      return written;
    },
    remove(recordIds, at) {
      let removed = 0;
      for (const recordId of recordIds) if (remove(recordId, at)) removed += 1;
      return removed;
    },
  };
}
