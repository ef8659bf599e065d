import type { Mirror } from "../mirror/index.js";
import { isMerged, type Json, type Resource } from "../resources/types.js";
import { openDoor } from "./keep-out.js";
import { sameRecord } from "./same.js";

/** Prepares comparing records of the API with the mirror's; of a resource with details, with the list's records. */
export function openComparison(mirror: Mirror, resource: Resource) {
  const json = isMerged(resource) ? "coalesce(list_json, json)" : "json";
  const door = openDoor(mirror);
  const find = mirror.db
    .prepare(`SELECT ${json} FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL`)
    .pluck();
  return (value: Json, key: string): "same" | "changed" | "absent" => {
    const stored = find.get(resource.name, key) as string | undefined;
    if (stored === undefined) return "absent";
    return sameRecord(JSON.parse(stored) as Json, door(value, resource.name), resource) ? "same" : "changed";
  };
}
