import { type ApiRecord, isMerged, type Json, type Resource } from "../resources/types.js";
import type { ChangeLog } from "./changes.js";
import { withDetails } from "./details.js";
import type { Recognition } from "./recognition.js";
import {
  contextText,
  datedAt,
  datedOf,
  type RecordRow,
  type RecordTable,
  type RecordText,
} from "./record-table.js";
import type { WriteOptions } from "./records.js";
import { sameJson, sameRecord } from "./same.js";
import type { StoredRecord } from "./stored-record.js";
import type { watchMembers } from "./unknown-members.js";
import { asObject } from "./values.js";

/** What writing one record did; `id` is its record in the mirror. */
export interface Effect {
  id: number;
  added: 0 | 1;
  changed: 0 | 1;
  /** The record as it is now, where its rows are to be made anew. */
  stored: StoredRecord | null;
}

/** What a record goes through. */
interface Stations {
  table: RecordTable;
  log: ChangeLog;
  recognition: Recognition | undefined;
  watch: ReturnType<typeof watchMembers>;
}

/** Writes one record after the other, without its rows: a new one, or over what the mirror holds under its key. */
export function openRecordWriter(
  resource: Resource,
  { table, log, recognition, watch }: Stations,
): (record: ApiRecord, keyOfIt: () => string, options: WriteOptions) => Effect {
  const isDetailed = isMerged(resource);
  /** New records come in runs: after one, the next is inserted without being looked for first. */
  let lastWasNew = true;

  /** What was recognised, and has not changed since, is there as it is. */
  function asHeld({ held }: ApiRecord, { context, isDetail, touch }: WriteOptions): Effect | null {
    if (!held || context || isDetail || touch || !recognition?.isStill(held)) return null;
    lastWasNew = false;
    return { id: held.id, added: 0, changed: 0, stored: null };
  }

  function write(sent: ApiRecord, key: string, options: WriteOptions): Effect {
    const row = lastWasNew ? undefined : table.find(key);
    const added = row ? null : insert(sent, key, options);
    if (added) return added;
    const there = row ?? table.find(key);
    if (!there) throw new Error(`a record is there and is not: ${resource.name} ${key}`);
    return update(there, sent, options);
  }

  /** @returns null when there is one of this key already */
  function insert(sent: ApiRecord, key: string, options: WriteOptions): Effect | null {
    const { readAt: sinceAt, context } = options;
    const { json, plain } = sent;
    const value = asObject(sent.value);
    const dated = datedOf(resource, sent);
    const listJson = isDetailed && !options.isDetail ? json : null;
    const detailedAt = options.isDetail ? sinceAt : null;
    const id = table.add(key, { json, value, listJson, detailedAt, outdated: 0, context, dated, sinceAt });
    lastWasNew = id !== null;
    if (id === null) return null;
    watch(value);
    const stored = { recordId: id, json, plain, value, context: context ?? {}, sinceAt, removedAt: null };
    log.added(key, dated, sinceAt);
    return { id, added: 1, changed: 0, stored };
  }

  function update(row: RecordRow, sent: ApiRecord, options: WriteOptions): Effect {
    const { readAt, context, isDetail, touch } = options;
    const isList = isDetailed && !isDetail;
    const id = row.record_id;
    const unchanged: Effect = { id, added: 0, changed: 0, stored: null };
    if (isList && row.list_json === sent.json && row.removed_at === null) return unchanged;
    const record = isList && row.detailed_at !== null ? withDetails(sent, row.list_json, row.json) : sent;
    const listJson = isList ? sent.json : row.list_json;
    const detailedAt = isDetail ? readAt : row.detailed_at;
    const before = row.json === record.json ? record.value : (JSON.parse(row.json) as Json);
    const isThere = row.removed_at === null && row.context === contextText(context);
    const isEqual = isThere && sameJson(before, record.value);
    const outdatedBy = (isSame: boolean) => (isDetail || detailedAt === null ? 0 : isSame ? row.outdated : 1);
    if (isEqual && !touch) {
      const outdated = outdatedBy(true);
      if (row.list_json !== listJson || isDetail) table.setRead(id, { listJson, detailedAt, outdated });
      return unchanged;
    }
    recognition?.forget(id);
    const { json } = record;
    const value = asObject(record.value);
    const dated = datedAt(resource, value);
    watch(value);
    // What says the same keeps its time, and only its text is new.
    const isSame = isEqual || (isThere && sameRecord(before, record.value, resource));
    const sinceAt = isSame && !touch ? row.since_at : readAt;
    const isCompleted = !isSame && isDetail === true && row.detailed_at === null;
    const isChange = !isSame && !isCompleted;
    if (isCompleted) log.completed(row, readAt);
    if (isChange) log.changed({ row, before, after: record.value, json, dated, isDetail, at: readAt });
    const outdated = outdatedBy(isSame);
    const text: RecordText = { json, value, listJson, detailedAt, outdated, context, dated, sinceAt };
    table.replace(id, text);
    const stored = { recordId: id, json, value, context: context ?? {}, sinceAt, removedAt: null };
    return { id, added: 0, changed: isChange ? 1 : 0, stored };
  }

  return (record, keyOfIt, options) => asHeld(record, options) ?? write(record, keyOfIt(), options);
}
