import { UnexpectedAnswer } from "../errors.js";
import { Exact, hasInexactNumbers, parseExact } from "../exact.js";
import type { ApiRecord, JsonObject, Resource } from "../resources/types.js";
import { parseTimestamp } from "../times.js";
import { type ChangeLog, openChangeLog } from "./changes.js";
import { withDetails } from "./details.js";
import { sameJson } from "./diff.js";
import { openNotices } from "./notices.js";
import type { Mirror } from "./open.js";
import { openProjection } from "./projection.js";
import { watchMembers } from "./unknown-members.js";
import { type Complaint, valueAt } from "./values.js";

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
  /** The records are a list's form of what has details too: details already known stay. */
  isList?: boolean;
  /** The records are details of what a list has shown before. */
  isDetail?: boolean;
  /** Says of unchanged records too that they were read now. */
  touch?: boolean;
}

/** The records of one resource: the truth, with its projection and its history. */
export interface RecordStore {
  /** Writes whole records. Call it inside a transaction that holds a whole page. */
  write(records: readonly ApiRecord[], options: WriteOptions): Written;
  /** Marks records as removed; those that are already stay as they are. @returns how many were marked */
  remove(recordIds: Iterable<number>, at: string): number;
  keyOf(record: ApiRecord, position: number): string;
}

interface Row {
  record_id: number;
  json: string;
  list_json: string | null;
  detailed_at: string | null;
  context: string | null;
  since_at: string;
  removed_at: string | null;
}

/**
 * Opens a resource's records for writing.
 * @param complain hears of fields whose type is not the declared one and of members unknown to this version: of each
 * once in the life of a mirror
 */
export function openRecords(
  mirror: Mirror,
  resource: Resource,
  runId: number,
  complain: (complaint: Complaint) => void,
): RecordStore {
  const { db } = mirror;
  const find = db.prepare(
    "SELECT record_id, json, list_json, detailed_at, context, since_at, removed_at FROM records WHERE resource = ? AND key = ?",
  );
  const add = db.prepare(
    "INSERT INTO records (resource, key, json, list_json, detailed_at, context, dated_at, flags, since_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
    if (notices.isNew(complaint, readAt)) complain(complaint);
  };
  const projection = openProjection(mirror, resource, tell);
  const watch = watchMembers(resource, tell);
  const log: ChangeLog = openChangeLog(mirror, resource, runId);

  function writeOne(
    sent: ApiRecord,
    position: number,
    options: WriteOptions,
  ): { id: number; added: number; changed: number } {
    const key = `${options.keyPrefix ?? ""}${keyOf(resource, sent, position)}`;
    const row = find.get(resource.name, key) as Row | undefined;
    const context = options.context ? JSON.stringify(options.context) : null;
    if (row && options.isList && row.list_json === sent.json && row.removed_at === null)
      return { id: row.record_id, added: 0, changed: 0 };
    const record = row && options.isList && row.detailed_at !== null ? withDetails(sent, row.json) : sent;
    const listJson = options.isList ? sent.json : (row?.list_json ?? null);
    const detailedAt = options.isDetail ? options.readAt : (row?.detailed_at ?? null);
    const isSame =
      row !== undefined &&
      row.removed_at === null &&
      row.context === context &&
      (row.json === record.json || sameJson(JSON.parse(row.json), record.value));
    if (isSame && !options.touch) {
      if (row.list_json !== listJson || row.detailed_at !== detailedAt)
        setForms.run(listJson, detailedAt, row.record_id);
      return { id: row.record_id, added: 0, changed: 0 };
    }
    const value = asObject(record.value);
    const dated = datedAt(resource, value);
    const flags = flagsOf(resource, value);
    watch(value);
    const stored = {
      json: record.json,
      value,
      context: options.context ?? {},
      sinceAt: options.readAt,
      removedAt: null,
    };
    if (!row) {
      const { lastInsertRowid } = add.run(
        resource.name,
        key,
        record.json,
        listJson,
        detailedAt,
        context,
        dated,
        flags,
        options.readAt,
      );
      const recordId = Number(lastInsertRowid);
      projection.write({ ...stored, recordId }, false);
      log.added(key, dated, options.readAt);
      return { id: recordId, added: 1, changed: 0 };
    }
    const recordId = row.record_id;
    // Details that are read for the first time complete a record: nothing has changed.
    const isChange = !isSame && !(options.isDetail && row.detailed_at === null);
    if (isChange)
      log.changed({
        recordId,
        key,
        before: JSON.parse(row.json),
        row,
        after: record.value,
        dated,
        at: options.readAt,
      });
    replace.run(record.json, listJson, detailedAt, context, dated, flags, options.readAt, recordId);
    projection.write({ ...stored, recordId }, true);
    return { id: recordId, added: 0, changed: isChange ? 1 : 0 };
  }

  return {
    keyOf: (record, position) => keyOf(resource, record, position),
    write(records, options) {
      const written: Written = { ids: [], added: 0, changed: 0 };
      readAt = options.readAt;
      records.forEach((record, index) => {
        const one = writeOne(record, (options.position ?? 0) + index, options);
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
        log.removed(row.key, row, recordId, row.dated_at, at);
        setRemoved.run(at, at, recordId);
        projection.setRemoved(recordId, at);
        removed += 1;
      }
      return removed;
    },
  };
}

/**
 * A record's key in the mirror.
 * @throws UnexpectedAnswer when a documented record lacks its id
 */
export function keyOf(resource: Resource, record: ApiRecord, position: number): string {
  const parts = resource.key.map((path) => keyPart(record, path.split(".")));
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts.join("/");
  if (resource.key.length > 0 && resource.pagination === "documented")
    throw new UnexpectedAnswer(`A record of ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the API answered with something that is not its documented shape: report it to the platform",
    });
  return `#${position}`;
}

function keyPart(record: ApiRecord, path: readonly string[]): string | undefined {
  const value = valueAt(record.value, path);
  if (typeof value === "string") return value;
  if (typeof value !== "number") return undefined;
  const exact = hasInexactNumbers(record.json) ? valueAt(parseExact(record.json), path) : undefined;
  return exact instanceof Exact ? exact.literal : String(value);
}

/** The instant that ranges go by, in milliseconds; null where the resource has none or it cannot be read. */
function datedAt(resource: Resource, value: JsonObject): number | null {
  const { strategy } = resource;
  if (strategy.kind !== "window" && strategy.kind !== "increment") return null;
  const text = value[strategy.date];
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

/** A bit for each filter that the API would select this record by. */
function flagsOf({ strategy }: Resource, value: JsonObject): number {
  if (strategy.kind !== "window") return 0;
  return strategy.counts.reduce(
    (flags, { member }, bit) => (value[member] === true ? flags | (1 << bit) : flags),
    0,
  );
}

function asObject(value: ApiRecord["value"]): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
