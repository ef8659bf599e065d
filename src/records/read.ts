import type { Mirror } from "../mirror/mirror.js";
import type { ApiRecord, Json } from "../resources/types.js";
import { valueAt } from "./values.js";

/** A member of every present record of a resource, as text, each value once. */
export function presentKeys(mirror: Mirror, resource: string, path: string): string[] {
  const rows = mirror.db
    .prepare("SELECT json FROM records WHERE resource = ? AND removed_at IS NULL ORDER BY record_id")
    .pluck()
    .all(resource) as string[];
  const values = rows.map((json) => valueAt(JSON.parse(json) as Json, path.split(".")));
  return [...new Set(values.filter((value) => typeof value === "string"))];
}

/** A record whose details may be read. */
export interface Detailed extends ApiRecord {
  id: number;
  key: string;
  /** When this version of it was first read, ISO 8601. */
  changedAt: string;
  /** Whether the list's record came or changed since its details were read. */
  pending: boolean;
}

/** The present records of a resource that has details. */
export function readDetailed(mirror: Mirror, resource: string): Detailed[] {
  const rows = mirror.db
    .prepare(
      "SELECT record_id, key, json, detailed_at, since_at FROM records WHERE resource = ? AND removed_at IS NULL ORDER BY record_id",
    )
    .all(resource) as {
    record_id: number;
    key: string;
    json: string;
    detailed_at: string | null;
    since_at: string;
  }[];
  return rows.map(({ record_id, key, json, detailed_at, since_at }) => ({
    id: record_id,
    key,
    changedAt: since_at,
    json,
    value: JSON.parse(json) as Json,
    pending: detailed_at === null || detailed_at < since_at,
  }));
}

/** The present records that are details of others, and whose: the text under `parent` in what was asked for. */
export function presentDetails(mirror: Mirror, resource: string, parent: string): Map<number, string> {
  const rows = mirror.db
    .prepare(
      "SELECT record_id, json_extract(context, ?) FROM records WHERE resource = ? AND removed_at IS NULL",
    )
    .raw()
    .all(`$.${parent}`, resource) as [number, string][];
  return new Map(rows);
}

/** Whether a record is there and not removed. */
export function isPresent(mirror: Mirror, resource: string, key: string): boolean {
  const find = mirror.db.prepare(
    "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  return find.get(resource, key) !== undefined;
}
