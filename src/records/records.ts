import type { Mirror } from "../mirror/mirror.js";
import type { ApiRecord, Json, JsonObject, Recognise, Resource } from "../resources/types.js";
import { type ChangeLog, type Covered, openChangeLog } from "./changes.js";
import { withDetails } from "./details.js";
import { isRepeat, keyOf, keysOf } from "./keys.js";
import { openNotices } from "./notices.js";
import { openProjection } from "./projection.js";
import { openRecognition } from "./recognition.js";
import { asObject, datedAt, flagsOf } from "./record-fields.js";
import { sameJson, sameRecord } from "./same.js";
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
  /** The records are a list's form of what has details too: details already known stay. */
  isList?: boolean;
  /** The records are details of what a list has shown before. */
  isDetail?: boolean;
  /** Says of unchanged records too that they were read now. */
  touch?: boolean;
}

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
  write(records: readonly ApiRecord[], options: WriteOptions): Written;
  /** Marks records as removed; those that are already stay as they are. @returns how many were marked */
  remove(recordIds: Iterable<number>, at: string): number;
  keyOf(record: ApiRecord, position: number): string;
}

type Effect = Omit<Written, "ids"> & { id: number };

interface Row {
  record_id: number;
  json: string;
  list_json: string | null;
  detailed_at: string | null;
  context: string | null;
  since_at: string;
  removed_at: string | null;
}

export interface RecordOptions {
  runId: number;
  /** What was read completely so far: it tells since when a change can have come. */
  coverage: readonly Covered[];
  /** Hears of what is not as declared, and of members unknown to this version: of each once in the life of a mirror. */
  complain(complaint: Complaint): void;
}

/** Opens a resource's records for writing. */
export function openRecords(mirror: Mirror, resource: Resource, options: RecordOptions): RecordStore {
  const { db } = mirror;
  const find = db.prepare(
    "SELECT record_id, json, list_json, detailed_at, context, since_at, removed_at FROM records WHERE resource = ? AND key = ?",
  );
  const add = db.prepare(
    "INSERT INTO records (resource, key, json, list_json, detailed_at, context, dated_at, flags, since_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO NOTHING",
  );
  const replace = db.prepare(
    `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, context = ?, dated_at = ?, flags = ?, since_at = ?, removed_at = NULL
     WHERE record_id = ?`,
  );
  const setForms = db.prepare("UPDATE records SET list_json = ?, detailed_at = ? WHERE record_id = ?");
  const setRemoved = db.prepare("UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?");
  const getById = db.prepare("SELECT * FROM records WHERE record_id = ?");
  const notices = openNotices(mirror);
  let readAt = "";
  const tell = (complaint: Complaint) => {
    if (notices.isNew(complaint, readAt)) options.complain(complaint);
  };
  const projection = openProjection(mirror, resource, tell);
  const watch = watchMembers(resource, tell);
  const recognition = openRecognition(mirror, resource);
  const log: ChangeLog = openChangeLog(mirror, resource, options);

  /** New records come in runs: after one, the next is inserted without being looked for first. */
  let lastWasNew = true;

  /** What was recognised, and has not changed since, is there as it is. */
  function asHeld({ held }: ApiRecord, { context, isDetail, touch }: WriteOptions): Effect | null {
    if (!held || context || isDetail || touch || !recognition?.isStill(held)) return null;
    lastWasNew = false;
    return { id: held.id, added: 0, changed: 0 };
  }

  function writeOne(sent: ApiRecord, ownKey: string, options: WriteOptions): Effect {
    const key = `${options.keyPrefix ?? ""}${ownKey}`;
    if (lastWasNew) {
      const id = insert(sent, key, options);
      if (id !== null) return { id, added: 1, changed: 0 };
    }
    lastWasNew = false;
    const row = find.get(resource.name, key) as Row | undefined;
    if (row) return update(row, sent, key, options);
    const id = insert(sent, key, options);
    if (id === null) throw new Error(`a record is there and is not: ${resource.name} ${key}`);
    return { id, added: 1, changed: 0 };
  }

  /** @returns the new record's id; null when there is one of this key already */
  function insert(record: ApiRecord, key: string, options: WriteOptions): number | null {
    const value = asObject(record.value);
    const dated = datedAt(resource, value);
    const { readAt } = options;
    const done = add.run(
      resource.name,
      key,
      record.json,
      options.isList ? record.json : null,
      options.isDetail ? readAt : null,
      options.context ? JSON.stringify(options.context) : null,
      dated,
      flagsOf(resource, value),
      readAt,
    );
    lastWasNew = done.changes === 1;
    if (!lastWasNew) return null;
    watch(value);
    const recordId = Number(done.lastInsertRowid);
    const context = options.context ?? {};
    const { json, plain } = record;
    projection.write({ recordId, json, plain, value, context, sinceAt: readAt, removedAt: null }, false);
    log.added(key, dated, readAt);
    return recordId;
  }

  function update(row: Row, sent: ApiRecord, key: string, options: WriteOptions): Effect {
    const { readAt } = options;
    const recordId = row.record_id;
    const unchanged: Effect = { id: recordId, added: 0, changed: 0 };
    if (options.isList && row.list_json === sent.json && row.removed_at === null) return unchanged;
    const record = options.isList && row.detailed_at !== null ? withDetails(sent, row.json) : sent;
    const listJson = options.isList ? sent.json : row.list_json;
    const detailedAt = options.isDetail ? readAt : row.detailed_at;
    const context = options.context ? JSON.stringify(options.context) : null;
    const before = row.json === record.json ? record.value : (JSON.parse(row.json) as Json);
    const isThere = row.removed_at === null && row.context === context;
    const isEqual = isThere && sameJson(before, record.value);
    if (isEqual && !options.touch) {
      if (row.list_json !== listJson || row.detailed_at !== detailedAt)
        setForms.run(listJson, detailedAt, recordId);
      return unchanged;
    }
    recognition?.forget(recordId);
    const value = asObject(record.value);
    const dated = datedAt(resource, value);
    watch(value);
    const isSame = isEqual || (isThere && sameRecord(before, record.value, resource));
    // A form that says the same is no other one: it keeps its time, and only its text is new.
    const sinceAt = isSame && !options.touch ? row.since_at : readAt;
    // Details that are read for the first time complete a record: nothing has changed.
    const isChange = !isSame && !(options.isDetail && row.detailed_at === null);
    if (isChange)
      log.changed({
        recordId,
        key,
        before,
        row,
        after: record.value,
        dated,
        at: readAt,
      });
    replace.run(
      record.json,
      listJson,
      detailedAt,
      context,
      dated,
      flagsOf(resource, value),
      sinceAt,
      recordId,
    );
    projection.write(
      {
        recordId,
        json: record.json,
        value,
        context: options.context ?? {},
        sinceAt,
        removedAt: null,
      },
      true,
    );
    return { ...unchanged, changed: isChange ? 1 : 0 };
  }

  return {
    recognise: recognition?.recognise,
    checkKeys(records) {
      for (const record of records) if (!record.held) keyOf(resource, record, 0);
    },
    keyOf: (record, position) => keyOf(resource, record, position),
    write(records, options) {
      const written: Written = { ids: [], added: 0, changed: 0 };
      readAt = options.readAt;
      const keys = options.isAnswer ? keysOf(resource, records) : undefined;
      if (keys?.some((key) => isRepeat(key))) tell({ kind: "repeat", table: resource.table });
      records.forEach((record, index) => {
        const keyHere = () => keys?.[index] ?? keyOf(resource, record, (options.position ?? 0) + index);
        const one = asHeld(record, options) ?? writeOne(record, keyHere(), options);
        written.ids.push(one.id);
        written.added += one.added;
        written.changed += one.changed;
      });
      return written;
    },
    remove(recordIds, at) {
      let removed = 0;
      for (const recordId of recordIds) {
        const row = getById.get(recordId) as (Row & { key: string; dated_at: number | null }) | undefined;
        if (!row || row.removed_at !== null) continue;
        recognition?.forget(recordId);
        log.removed(row.key, row, recordId, row.dated_at, at);
        setRemoved.run(at, at, recordId);
        projection.setRemoved(recordId, at);
        removed += 1;
      }
      return removed;
    },
  };
}
