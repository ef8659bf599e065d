import type { Mirror } from "../mirror/index.js";
import { type ApiRecord, isMerged, type Json, type Resource } from "../resources/types.js";
import { sameRecord } from "./same.js";

/** How a record of the API stands to the mirror's. */
export type Standing = "same" | "changed" | "missing";

/** Compares what the API sends with what the mirror holds under its key; of what has details, with the list's record. */
export function openComparison(
  { db }: Mirror,
  resource: Resource,
): (record: ApiRecord, key: string) => Standing {
  const { name } = resource;
  const json = isMerged(resource) ? "coalesce(list_json, json)" : "json";
  const find = db
    .prepare(`SELECT ${json} FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL`)
    .pluck();
  return (record, key) => {
    const held = find.get(name, key) as string | undefined;
    if (held === undefined) return "missing";
    return held === record.json || sameRecord(JSON.parse(held) as Json, record.value, resource)
      ? "same"
      : "changed";
  };
}
