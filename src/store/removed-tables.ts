import { allResources } from "../resources/registry.js";
import { listTableShapes } from "../resources/table-shape.js";
import { type Mirror, readInfo, writeInfo } from "./database.js";
import { withWritableSchema } from "./schema.js";
import { quote, tableName } from "./table-sql.js";

/**
 * Frees the names of the tables for removed records in a mirror from an early version, which does not have these tables.
 * Drops user-defined views that have these names, and renames user-defined tables. The names come from the resource
 * declarations, so this step cannot be one of the migrations in `schema.ts`.
 * @returns a message for each dropped view and renamed table
 */
export function freeRemovedTableNames(mirror: Mirror): string[] {
  if (readInfo(mirror, "removed_tables") !== null) return [];
  writeInfo(mirror, "removed_tables", "separate");
  const find =
    "SELECT name, type, sql FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = ?";
  return allResources.flatMap(listTableShapes).flatMap((shape) => {
    const removedName = tableName(shape, "removed");
    const found = mirror.selectRow<{ name: string; type: string; sql: string }>(find, removedName);
    if (!found) return [];
    const { name, sql, type } = found;
    if (type === "view") {
      mirror.db.exec(`DROP VIEW ${quote(name)}`);
      return `the view \`${name}\` was dropped, because the mirror now has a table with that name: ${sql}`;
    }
    const renamed = `${name}_renamed`;
    withWritableSchema(mirror.db, () =>
      mirror.db.exec(`ALTER TABLE ${quote(name)} RENAME TO ${quote(renamed)}`),
    );
    return `the table \`${name}\` was renamed to \`${renamed}\`, because the mirror now has a table with that name`;
  });
}
