import type { Mirror } from "../mirror/mirror.js";
import type { Json } from "../resources/types.js";
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
