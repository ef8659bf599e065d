import { type Mirror, wasRead } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { sourcesOf, standOn } from "./as-of.js";
import { exampleFor } from "./examples.js";
import { syncedBy, typedTables } from "./names.js";
import { openSource } from "./select.js";
import { describeTable, isHelper, listTables, type ReadableColumn, type ReadableTable } from "./tables.js";

/** A table or view, as a person asks what it is. */
export interface TableFacts {
  name: string;
  kind: "table" | "view";
  /** What a row is. */
  about: string;
  /** Rows that an export would give; null where its resource was never read, or nobody counted. */
  rows: number | null;
  columns: Pick<ReadableColumn, "name" | "type" | "about">[];
  /** A query to begin with. */
  example: string;
}

/** Returns all tables and views, helpers too with `all`. The rows of a view are not counted, because some take long. */
export function listFacts(mirror: Mirror, { all }: { all: boolean }): TableFacts[] {
  const there = viewsOf(mirror);
  return listTables(mirror)
    .filter((name) => all || !isHelper(name))
    .map((name) => factsOf(mirror, name, there, { countViews: false }));
}

/** One table or view, its rows counted. */
export function readFacts(mirror: Mirror, name: string): TableFacts {
  return factsOf(mirror, name, viewsOf(mirror), { countViews: true });
}

function factsOf(
  mirror: Mirror,
  name: string,
  views: ReadonlySet<string>,
  { countViews }: { countViews: boolean },
): TableFacts {
  const table = describeTable(mirror, name);
  const kind = views.has(name) ? "view" : "table";
  return {
    name,
    kind,
    about: table.about,
    rows: kind === "table" || countViews ? rowsOf(mirror, table) : null,
    columns: table.columns.map(({ name: column, type, about }) => ({ name: column, type, about })),
    example: exampleFor(name),
  };
}

/** Whether a resource was ever read, if only in part, by itself or with the one that it is the details of. */
export function wasSynced(mirror: Mirror, resource: Resource): boolean {
  return wasRead(mirror, resource.name, syncedBy(resource).name);
}

function rowsOf(mirror: Mirror, table: ReadableTable): number | null {
  const resource = table.shape?.resource;
  if (resource && !wasSynced(mirror, resource)) return null;
  return openSource(mirror, { table, includeRemoved: false }).count();
}

function viewsOf({ db }: Mirror): ReadonlySet<string> {
  return new Set(db.prepare("SELECT name FROM sqlite_master WHERE type = 'view'").pluck().all() as string[]);
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
