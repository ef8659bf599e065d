import type { Mirror } from "../mirror/index.js";
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
  /** When its details were last read, ISO 8601; null before the first time. */
  detailedAt: string | null;
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
    detailedAt: detailed_at,
    json,
    value: JSON.parse(json) as Json,
    pending: detailed_at === null || detailed_at < since_at,
  }));
}

/** Notes when details were read that are kept beside a record. */
export function noteDetailed({ db }: Mirror, id: number, at: string): void {
  db.prepare("UPDATE records SET detailed_at = ? WHERE record_id = ?").run(at, id);
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

/** The present records of a resource whose keys end like this. */
export function* presentValues(
  { db }: Mirror,
  resource: string,
  ending: string,
): Iterable<{ key: string; value: Json }> {
  const select = db.prepare(
    "SELECT key, json FROM records WHERE resource = ? AND removed_at IS NULL AND substr(key, -length(?)) = ?",
  );
  for (const { key, json } of select.all(resource, ending, ending) as { key: string; json: string }[])
    yield { key, value: JSON.parse(json) as Json };
}
