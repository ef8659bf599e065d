import { type Mirror, wasRead } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { sourcesOf, standOn } from "./as-of.js";
import { exampleFor } from "./examples.js";
import { syncedBy, typedTables } from "./names.js";
import { openSource } from "./select.js";
import { describeTable, isHelper, listTables, type ReadableColumn, type ReadableTable } from "./tables.js";

/** A table or view, as `tables` shows it. */
export interface TableFacts {
  name: string;
  kind: "table" | "view";
  /** One row's meaning. */
  about: string;
  /** Rows that an export would give; null if its resource was never read, or for a view in the list. */
  rows: number | null;
  columns: Pick<ReadableColumn, "name" | "type" | "about">[];
  /** A query to begin with. */
  example: string;
}

/** Returns all tables and views, helpers too with `all`. The rows of a view are not counted, because some take long. */
export function listFacts(mirror: Mirror, { all }: { all: boolean }): TableFacts[] {
  return listTables(mirror)
    .filter((name) => all || !isHelper(name))
    .map((name) => factsOf(mirror, name, isView(mirror, name)));
}

/** Returns one table or view, its rows counted. */
export function readFacts(mirror: Mirror, name: string): TableFacts {
  return factsOf(mirror, name, false);
}

function factsOf(mirror: Mirror, name: string, isUncounted: boolean): TableFacts {
  const table = describeTable(mirror, name);
  return {
    name,
    kind: isView(mirror, name) ? "view" : "table",
    about: table.about,
    rows: isUncounted ? null : rowsOf(mirror, table),
    columns: table.columns.map(({ name: column, type, about }) => ({ name: column, type, about })),
    example: exampleFor(name),
  };
}

function rowsOf(mirror: Mirror, table: ReadableTable): number | null {
  const resource = table.shape?.resource;
  if (resource && !wasSynced(mirror, resource)) return null;
  return openSource(mirror, { table, includeRemoved: false }).count();
}

function isView({ db }: Mirror, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?").get(name) !== undefined;
}

/** True if a resource was ever read, if only in part, by itself or with the one that it is the details of. */
export function wasSynced(mirror: Mirror, resource: Resource): boolean {
  return wasRead(mirror, resource.name, syncedBy(resource).name);
}

/** Returns the tables of a statement that were never read, and the resource to sync; a view if all its tables are. */
export function unreadOf(mirror: Mirror, sql: string): { name: string; resource: string }[] {
  const isUnread = (shape: TableShape) => !wasSynced(mirror, shape.resource);
  return sourcesOf(sql).flatMap((name) => {
    const below = standOn([name]);
    const shapes = typedTables().filter((shape) => below.has(shape.name));
    const [first] = shapes;
    return first && shapes.every(isUnread) ? [{ name, resource: syncedBy(first.resource).name }] : [];
  });
}
