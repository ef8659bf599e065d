import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import { detailsOf, type Resource } from "../resources/types.js";
import { views } from "./views/index.js";

export const viewNames: readonly string[] = views.map(({ name }) => name);

/** The program's own tables that are of use outside it, and the time their rows are of. */
export const ownTables: readonly { name: string; about: string; date: string }[] = [
  { name: "changes", about: "what changed in already mirrored records", date: "seen_changed_at" },
  { name: "sync_runs", about: "every run of every resource", date: "started_at" },
  { name: "content_downloads", about: "library files that were fetched", date: "downloaded_at" },
];

/** The typed tables, in the registry's order. */
export function typedTables(): readonly TableShape[] {
  return [...resources, ...details].flatMap((resource) => tablesOf(resource));
}

/** The resource whose sync reads this one: itself, or the one whose details it holds. */
export function syncedBy(resource: Resource): Resource {
  return resources.find((one) => detailsOf(one) === resource) ?? resource;
}

/** The names that this version knows, for help: also those that the mirror does not hold yet. */
export function knownTableNames(): readonly string[] {
  return [...[...typedTables(), ...ownTables].map(({ name }) => name), ...viewNames];
}
