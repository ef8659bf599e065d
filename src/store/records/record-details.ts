import type { Json } from "../../util/json-value.js";
import { type Mirror, statement } from "../mirror/database.js";

/** Returns the latest list item for a record, or null if the resource does not merge details. */
export function readListItem(mirror: Mirror, recordId: number): Json {
  const select = statement(mirror, "SELECT list_json FROM records WHERE record_id = ?").pluck();
  const text = select.get(recordId) as string | null;
  return text === null ? null : (JSON.parse(text) as Json);
}

/**
 * Stores the time at which a record's details were read, for details that are stored as separate records.
 * @param at an ISO 8601 timestamp
 */
export function markDetailsRead(mirror: Mirror, recordId: number, at: string): void {
  statement(mirror, "UPDATE records SET detailed_at = ?, outdated = 0 WHERE record_id = ?").run(at, recordId);
}

export function markDetailsOutdated(mirror: Mirror, recordId: number): void {
  statement(mirror, "UPDATE records SET outdated = 1 WHERE record_id = ?").run(recordId);
}

/**
 * Groups a details resource's current records by their parent record's key.
 * @param parent the context field that contains this key
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
