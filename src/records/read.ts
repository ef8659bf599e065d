import { type Mirror, statement } from "../mirror/index.js";
import type { Json } from "../resources/types.js";
import type { RecordRow } from "./record-table.js";

/** A present record. */
export interface Present {
  id: number;
  key: string;
  value: Json;
  /** When its details were last read, ISO 8601; null before the first time. */
  detailedAt: string | null;
  /** True if the list has shown another record since. */
  isOutdated: boolean;
}

/**
 * Returns the present records of a resource in the order in which they came, one at a time: each may be large, and the
 * caller may write in between.
 * @param ending only those whose keys end in it
 */
export function* presentRecords(mirror: Mirror, resource: string, ending = ""): Generator<Present> {
  const ids = statement(
    mirror,
    `SELECT record_id FROM records WHERE resource = @resource AND removed_at IS NULL
       AND (@ending = '' OR substr(key, -length(@ending)) = @ending) ORDER BY record_id`,
  );
  const get = statement(mirror, "SELECT key, json, detailed_at, outdated FROM records WHERE record_id = ?");
  for (const id of ids.pluck().all({ resource, ending }) as number[]) {
    const row = get.get(id) as Pick<RecordRow, "key" | "json" | "detailed_at" | "outdated"> | undefined;
    if (!row) continue;
    const { key, json, detailed_at: detailedAt, outdated } = row;
    yield { id, key, value: JSON.parse(json) as Json, detailedAt, isOutdated: outdated === 1 };
  }
}

/** Returns what the list last said of a record with details; null for others. */
export function listedRecord(mirror: Mirror, id: number): Json {
  const select = statement(mirror, "SELECT list_json FROM records WHERE record_id = ?").pluck();
  const text = select.get(id) as string | null;
  return text === null ? null : (JSON.parse(text) as Json);
}

/** Notes when details were read that are kept beside a record. */
export function noteDetailed(mirror: Mirror, id: number, at: string): void {
  statement(mirror, "UPDATE records SET detailed_at = ?, outdated = 0 WHERE record_id = ?").run(at, id);
}

/** Notes that a record's details are no longer those that were read. */
export function noteOutdated(mirror: Mirror, id: number): void {
  statement(mirror, "UPDATE records SET outdated = 1 WHERE record_id = ?").run(id);
}

/** Returns the present records that are details of others, by the text under `parent` in what was asked for. */
export function presentDetails(mirror: Mirror, resource: string, parent: string): Map<string, number[]> {
  const details = new Map<string, number[]>();
  const select = statement(
    mirror,
    "SELECT record_id, json_extract(context, ?) FROM records WHERE resource = ? AND removed_at IS NULL",
  );
  for (const [id, of] of select.raw().all(`$.${parent}`, resource) as [number, string][])
    details.set(of, [...(details.get(of) ?? []), id]);
  return details;
}

/** True if a record is there and not removed. */
export function isPresent(mirror: Mirror, resource: string, key: string): boolean {
  const find = "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL";
  return statement(mirror, find).get(resource, key) !== undefined;
}
