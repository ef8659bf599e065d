import { tableName } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import { detailsOf, type Resource } from "../resources/types.js";
import { views } from "./views/index.js";

/** The tables that the program writes for itself and people read, too. `date`: the time that a row is of. */
export const ownTables = [
  { name: "changes", about: "what changed in known records", date: "seen_changed_at", key: ["change_id"] },
  { name: "sync_runs", about: "every sync, proof and `forget`", date: "started_at", key: ["run_id"] },
  { name: "content_downloads", about: "fetched library files", date: "downloaded_at", key: ["source", "id"] },
];

export type OwnTable = (typeof ownTables)[number];

/** The typed tables, in the registry's order. */
export function typedTables(): readonly TableShape[] {
  return [...resources, ...details].flatMap((resource) => tablesOf(resource));
}

/** The resource whose sync reads this one: itself, or the one whose details it holds. */
export function syncedBy(resource: Resource): Resource {
  return resources.find((one) => detailsOf(one) === resource) ?? resource;
}

/** Returns the names of the tables that hold removed records. */
export function removedTableNames(): readonly string[] {
  return typedTables().map((shape) => tableName(shape, "removed"));
}

/** The names of all tables and views. */
export function knownTableNames(): readonly string[] {
  return [...[...typedTables(), ...ownTables, ...views].map(({ name }) => name), ...removedTableNames()];
}
