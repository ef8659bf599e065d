import { asObject, type Json } from "../util/json-value.js";
import { formatInstant } from "../util/timestamps.js";
import type { Mirror } from "./database.js";
import { parseStoredRecord, type RecordRow } from "./records.js";

/**
 * Merges a list item with the stored details. Drops fields that were in the previous list item but are missing from
 * the new one.
 */
export function mergeListItem(mirror: Mirror, row: RecordRow, item: Json): Json {
  if (row.detailed_at === null) return item;
  const parse = (json: string) => asObject(parseStoredRecord(mirror, row.record_id, json));
  const earlierItem = row.list_json === null ? {} : parse(row.list_json);
  const members = Object.entries(parse(row.json));
  const detailMembers = members.filter(([member]) => !Object.hasOwn(earlierItem, member));
  return { ...Object.fromEntries(detailMembers), ...asObject(item) };
}

export function readListItem(mirror: Mirror, recordId: number): Json {
  const select = "SELECT list_json FROM records WHERE record_id = ?";
  const text = mirror.selectValue<string | null>(select, recordId);
  return text ? parseStoredRecord(mirror, recordId, text) : null;
}

/**
 * Stores when a record's details were read. The details are either merged into the record or stored as separate
 * records.
 * @param readAt the time of the request, in milliseconds since the Unix epoch
 */
export function markDetailsRead(mirror: Mirror, recordId: number, readAt: number): void {
  const update = "UPDATE records SET detailed_at = ?, outdated = 0 WHERE record_id = ?";
  mirror.run(update, formatInstant(readAt), recordId);
}

export function markDetailsOutdated(mirror: Mirror, recordId: number): void {
  mirror.run("UPDATE records SET outdated = 1 WHERE record_id = ?", recordId);
}

/**
 * Returns the IDs of all current details, grouped by the key of the record they belong to.
 * @param parent the field in `context` with the key of that record
 */
export function readDetailIds(mirror: Mirror, resource: string, parent: string): Map<string, number[]> {
  const details = new Map<string, number[]>();
  const select = `SELECT record_id AS id, json_extract(context, ?) AS parentKey
    FROM records WHERE resource = ? AND removed_at IS NULL`;
  const rows = mirror.selectRows<{ id: number; parentKey: string }>(select, `$.${parent}`, resource);
  for (const { id, parentKey } of rows) details.set(parentKey, [...(details.get(parentKey) ?? []), id]);
  return details;
}
