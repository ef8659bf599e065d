import { startOfSecond } from "../lib/ranges.js";
import { asObject, isMerged, type Json, type JsonObject, type Resource } from "../resources/types.js";
import type { ChangeLog } from "./changes.js";
import { datedOf, type Known, type RecordRow, type RecordTable, type RecordText } from "./record-table.js";
import { sameRecord } from "./same.js";

export interface WriteOptions {
  /** When the answer was asked for, ISO 8601. */
  readAt: string;
  /** The parameters of the request, such as a month, for columns whose values the record does not carry. */
  context?: JsonObject;
  /** The place of the first record in the whole list: the key of records without an id. */
  position?: number;
  /** Stands before every key: the key of the record that these are part of. */
  keyPrefix?: string;
  /** True if the records are details of a list's records. Otherwise they are the list's: known details stay. */
  isDetail?: boolean;
  /** True if unchanged records too are marked as read now. */
  touch?: boolean;
  /** True if a record is not written over a mirrored one with a newer date. */
  newestOnly?: boolean;
}

/** The effect of writing a record. `rows`: only its rows differ now; `same`: nothing does; `older`: it was not written. */
export type Effect = "same" | "rows" | "added" | "changed" | "older";

/**
 * Writes a record without its rows: as a new one, or over the mirror's record of the same key.
 * @param around the mirror's records of the dates of its answer, by key
 */
export type WriteRecord = (
  sent: Json,
  key: string,
  options: WriteOptions,
  around: Map<string, Known>,
) => { id: number; effect: Effect; value: Json; sinceAt: string };

export function openRecordWriter(resource: Resource, table: RecordTable, log: ChangeLog): WriteRecord {
  const isDetailed = isMerged(resource);

  /** Returns a row's text after an answer. @param before the row as it was */
  function textOf(
    before: Omit<RecordText, "json" | "context">,
    json: string,
    sentJson: string,
    { context, isDetail, readAt }: WriteOptions,
  ): RecordText {
    return {
      json,
      list_json: isDetailed && !isDetail ? sentJson : before.list_json,
      detailed_at: isDetail ? readAt : before.detailed_at,
      outdated: isDetail ? 0 : before.outdated,
      context: context ? JSON.stringify(context) : null,
      since_at: before.since_at,
    };
  }

  function insert(sent: Json, json: string, key: string, options: WriteOptions): number | null {
    const { readAt } = options;
    const unread = { list_json: null, detailed_at: null, outdated: 0, since_at: readAt } as const;
    const id = table.add(key, textOf(unread, json, json, options), sent);
    if (id !== null) log.added(key, sent, readAt);
    return id;
  }

  function update(
    row: RecordRow,
    sent: Json,
    sentJson: string,
    options: WriteOptions,
  ): ReturnType<WriteRecord> {
    const { isDetail = false, readAt, touch = false } = options;
    const id = row.record_id;
    const value = isDetailed && !isDetail ? listed(row, sent) : sent;
    const json = value === sent ? sentJson : JSON.stringify(value);
    const before = row.json === json ? value : (JSON.parse(row.json) as Json);
    const text = textOf(row, json, sentJson, options);
    const result = (effect: Effect) => ({ id, effect, value, sinceAt: text.since_at });
    if (options.newestOnly && isOlder(resource, sent, row)) return result("older");
    const isThere = row.removed_at === null && row.context === text.context;
    const isSame = isThere && sameRecord(before, value, resource);
    if (!isSame && !isDetail && row.detailed_at !== null) text.outdated = 1;
    if (!isSame || touch) text.since_at = readAt;
    const isEqual = isSame && !touch && row.json === json;
    if (!isEqual || isDetail || text.list_json !== row.list_json) table.replace(id, text, value);
    if (isSame) return result(isEqual ? "same" : "rows");
    // With its first details a record has not changed: until now the mirror knew less of it.
    const isCompleted = isDetail && row.detailed_at === null;
    if (isCompleted) log.completed(row, readAt);
    else log.changed({ row, before, after: value, isDetail, at: readAt });
    return result(isCompleted ? "rows" : "changed");
  }

  return (sent, key, options, around) => {
    const json = JSON.stringify(sent);
    const known = around.get(key);
    if (known?.json === json) return { id: known.id, effect: "same", value: sent, sinceAt: options.readAt };
    // An answer may show a record twice.
    around.delete(key);
    const added = insert(sent, json, key, options);
    if (added !== null) return { id: added, effect: "added", value: sent, sinceAt: options.readAt };
    const row = table.find(key);
    if (!row) throw new Error(`record neither added nor found: ${resource.name} ${key}`);
    return update(row, sent, json, options);
  };
}

/** True if a record is dated before the second of the mirrored one. */
function isOlder(resource: Resource, sent: Json, { dated_at, removed_at }: RecordRow): boolean {
  const dated = datedOf(resource, sent);
  return dated !== null && dated_at !== null && removed_at === null && dated < startOfSecond(dated_at);
}

/**
 * Returns a list's record with the members that only its details have: the API's latest word on each. A member that the
 * list had before and has no more is gone.
 */
function listed(row: RecordRow, sent: Json): Json {
  if (row.detailed_at === null) return sent;
  const before = row.list_json === null ? {} : asObject(JSON.parse(row.list_json));
  const whole = Object.entries(asObject(JSON.parse(row.json)));
  const kept = whole.filter(([member]) => !Object.hasOwn(before, member));
  return { ...Object.fromEntries(kept), ...asObject(sent) };
}
