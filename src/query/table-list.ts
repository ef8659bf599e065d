import { type Mirror, wasRead } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { typedTablesBelow } from "./as-of.js";
import { knownTableNames, syncedBy } from "./names.js";
import { openSource } from "./select.js";
import { describeTable, type ReadableColumn } from "./tables.js";
import { views } from "./views/index.js";

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

/** Queries to begin with, of tables that hold more than what counts; by default the first five rows. */
const examples: Readonly<Record<string, string>> = {
  orders: `SELECT month, currency, count(*) AS orders, round(sum(total_amount), 2) AS gross
FROM orders WHERE removed_at IS NULL AND is_cancelled IS NOT 1 GROUP BY month, currency ORDER BY month DESC`,
  order_line_items: `SELECT i.sku, i.title, o.currency, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS worth
FROM order_line_items i JOIN orders o ON o.id = i.order_id
WHERE o.removed_at IS NULL AND o.is_cancelled IS NOT 1
GROUP BY i.sku, i.title, o.currency ORDER BY sold DESC LIMIT 10`,
};

/** Returns all tables and views, helpers too with `all`. The rows of a view are not counted, because some take long. */
export function listFacts(mirror: Mirror, { all }: { all: boolean }): TableFacts[] {
  const isHelper = (name: string) => views.some((view) => view.name === name && view.isHelper);
  const names = knownTableNames().filter((name) => all || !isHelper(name));
  return names.map((name) => readFacts(mirror, name, !views.some((view) => view.name === name)));
}

/** Returns one table or view; by default its rows are counted. */
export function readFacts(mirror: Mirror, name: string, isCounted = true): TableFacts {
  const table = describeTable(mirror, name);
  const view = views.find((one) => one.name === name);
  const isRead = table.shape === null || wasSynced(mirror, table.shape.resource);
  return {
    name,
    kind: view ? "view" : "table",
    about: table.about,
    rows:
      isCounted && isRead ? (openSource(mirror, { table, includeRemoved: false }).count?.() ?? null) : null,
    columns: table.columns.map(({ name: column, type, about }) => ({ name: column, type, about })),
    example: view?.example ?? examples[name] ?? `SELECT * FROM ${name} LIMIT 5`,
  };
}

/** True if a resource was ever read, if only in part, by itself or with the one that it is the details of. */
export function wasSynced(mirror: Mirror, resource: Resource): boolean {
  return wasRead(mirror, resource.name, syncedBy(resource).name);
}

/** Returns those of these tables that were never read, and the resource to sync; a view if all its tables are. */
export function neverRead(mirror: Mirror, names: readonly string[]): { name: string; resource: string }[] {
  const isUnread = (shape: TableShape) => !wasSynced(mirror, shape.resource);
  return names.flatMap((name) => {
    const shapes = typedTablesBelow(mirror, name);
    const [first] = shapes;
    return first && shapes.every(isUnread) ? [{ name, resource: syncedBy(first.resource).name }] : [];
  });
}
