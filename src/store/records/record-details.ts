import type { Json } from "../../util/json-value.js";
import { type Mirror, statement } from "../mirror/database.js";

/** When the details of records were read, for resources that are read by list and by record. */

/** Returns a record's item in the list as it was last returned; null if the resource does not merge details. */
export function readListItem(mirror: Mirror, recordId: number): Json {
  const select = statement(mirror, "SELECT list_json FROM records WHERE record_id = ?").pluck();
  const text = select.get(recordId) as string | null;
  return text === null ? null : (JSON.parse(text) as Json);
}

/** Stores when details that are stored as separate records were read. @param at ISO 8601 */
export function markDetailsRead(mirror: Mirror, recordId: number, at: string): void {
  statement(mirror, "UPDATE records SET detailed_at = ?, outdated = 0 WHERE record_id = ?").run(at, recordId);
}

/** Stores that a record's details may have changed since they were read. */
export function markDetailsOutdated(mirror: Mirror, recordId: number): void {
  statement(mirror, "UPDATE records SET outdated = 1 WHERE record_id = ?").run(recordId);
}

/**
 * Returns the IDs of the present records that are details of other records, by the parent's key.
 * @param parent the member of the context that holds the parent's key
 */
export function readDetailIds(mirror: Mirror, resource: string, parent: string): Map<string, number[]> {
  const details = new Map<string, number[]>();
  const select = statement(
    mirror,
    "SELECT record_id, json_extract(context, ?) FROM records WHERE resource = ? AND removed_at IS NULL",
  );
  for (const [id, parentKey] of select.raw().all(`$.${parent}`, resource) as [number, string][])
    details.set(parentKey, [...(details.get(parentKey) ?? []), id]);
  return details;
}
