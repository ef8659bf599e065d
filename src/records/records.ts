import type { Mirror } from "../mirror/index.js";
import type { ApiRecord, JsonObject, Recognise, Resource } from "../resources/types.js";
import { openChangeLog, type Readings } from "./changes.js";
import { isRepeat, keyOf, keysOf } from "./keys.js";
import { openNotices } from "./notices.js";
import { openProjection } from "./projection.js";
import { openRecognition } from "./recognition.js";
import { openRecordTable } from "./record-table.js";
import { openRecordWriter } from "./record-writer.js";
import { watchMembers } from "./unknown-members.js";
import type { Complaint } from "./values.js";

/** What writing some records did. `ids` names each one's record in the mirror, in the order given. */
export interface Written {
  ids: number[];
  added: number;
  changed: number;
}

export interface WriteOptions {
  /** When the answer was asked for, ISO 8601. */
  readAt: string;
  /** What was asked for, for columns that the record does not carry. */
  context?: JsonObject;
  /** The position of the first record in the whole list: the key of records that have none. */
  position?: number;
  /** Stands before every key: what the records are part of. */
  keyPrefix?: string;
  /** The records are all of one answer: where several have the same id, each of them is a record. */
  isAnswer?: boolean;
  /** The records are details of what a list has shown before. Others are the list's: details already known stay. */
  isDetail?: boolean;
  /** Says of unchanged records too that they were read now. */
  touch?: boolean;
}

/** Characters of records that are written in one part of the work. A page of 100 orders has 100,000. */
const textPerPart = 200_000;

/** The records of one resource: the truth, with its projection and its history. */
export interface RecordStore {
  /** Tells which records of an answer need not be parsed, where there are any. */
  recognise: Recognise | undefined;
  /**
   * Looks whether each record has its key, before any is written.
   * @throws UnexpectedAnswer when a documented record lacks its id
   */
  checkKeys(records: readonly ApiRecord[]): void;
  /** Writes whole records. Call it inside a transaction that holds a whole page. */
  write(records: readonly ApiRecord[], options: WriteOptions): Generator<void, Written>;
  /** Marks records as removed; those that are already stay as they are. @returns how many were marked */
  remove(recordIds: Iterable<number>, at: string): Generator<void, number>;
  keyOf(record: ApiRecord, position: number): string;
}

export interface RecordOptions extends Readings {
  runId: number;
  /** Hears of what is not as declared, and of members unknown to this version: of each once in the life of a mirror. */
  complain(complaint: Complaint): void;
}

/** Opens a resource's records for writing. */
export function openRecords(mirror: Mirror, resource: Resource, options: RecordOptions): RecordStore {
  let readAt = "";
  const notices = openNotices(mirror);
  const tell = (complaint: Complaint) => {
    if (notices.isNew(complaint, readAt)) options.complain(complaint);
  };
  const table = openRecordTable(mirror, resource);
  const projection = openProjection(mirror, resource, tell);
  const log = openChangeLog(mirror, resource, options);
  const recognition = openRecognition(mirror, resource);
  const watch = watchMembers(resource, tell);
  const writeOne = openRecordWriter(resource, { table, log, recognition, watch });

  function remove(recordId: number, at: string): boolean {
    const row = table.get(recordId);
    if (!row || row.removed_at !== null) return false;
    recognition?.forget(recordId);
    log.removed(row, at);
    table.setRemoved(recordId, at);
    projection.setRemoved(recordId, at);
    return true;
  }

  return {
    recognise: recognition?.recognise,
    checkKeys(records) {
      for (const record of records) if (!record.held) keyOf(resource, record, 0);
    },
    keyOf: (record, position) => keyOf(resource, record, position),
    *write(records, options) {
      const written: Written = { ids: [], added: 0, changed: 0 };
      readAt = options.readAt;
      const { isAnswer, keyPrefix = "", position = 0 } = options;
      const keys = isAnswer ? keysOf(resource, records) : undefined;
      if (keys?.some((key) => isRepeat(key))) tell({ kind: "repeat", table: resource.table });
      let text = 0;
      for (const [index, record] of records.entries()) {
        const key = () => `${keyPrefix}${keys?.[index] ?? keyOf(resource, record, position + index)}`;
        const { id, added, changed, stored } = writeOne(record, key, options);
        if (stored) for (let part = 0; !projection.write(stored, part, added === 0); part += 1) yield;
        written.ids.push(id);
        written.added += added;
        written.changed += changed;
        text += record.json.length;
        if (text < textPerPart) continue;
        yield;
        text = 0;
      }
      return written;
    },
    *remove(recordIds, at) {
      let removed = 0;
      for (const recordId of recordIds) {
        if (remove(recordId, at)) removed += 1;
        yield;
      }
      return removed;
    },
  };
}
