import type { Mirror } from "./database.js";
import { quote } from "./table-sql.js";

/** An index or trigger that a user added to a table or view in the mirror. */
export interface UserObject {
  type: "index" | "trigger";
  name: string;
  /** The table or view to which the index or trigger belongs. Dropping it drops the index or trigger. */
  table: string;
  sql: string;
}

/**
 * Returns the indexes and triggers that users added to these tables and views.
 * @param own the names of the program's indexes
 */
export function readUserObjects(
  { db }: Mirror,
  tables: readonly string[],
  own: readonly string[] = [],
): UserObject[] {
  // Indexes that SQLite creates for constraints have no SQL.
  const select = db.prepare<[string], UserObject>(
    `SELECT type, name, tbl_name AS "table", sql FROM main.sqlite_master
     WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(?)) ORDER BY rowid`,
  );
  return select.all(JSON.stringify(tables)).filter(({ name }) => !own.includes(name));
}

/**
 * Recreates indexes and triggers.
 * @returns a message for each index or trigger that was dropped because SQLite rejected it
 */
export function restoreUserObjects(mirror: Mirror, objects: readonly UserObject[]): string[] {
  return objects.flatMap((object) => {
    const reason = restore(mirror, object);
    if (reason === null) return [];
    return `the ${object.type} \`${object.name}\` that was added to \`${object.table}\` is no longer valid and was dropped (${reason}): ${object.sql}`;
  });
}

/** @returns null if the object was recreated, or the reason if it was not */
function restore({ db }: Mirror, { name, sql, table, type }: UserObject): string | null {
  const find = db.prepare("SELECT 1 FROM main.sqlite_master WHERE type = ? AND name = ?");
  if (find.get(type, name) !== undefined) return null;
  try {
    db.exec(sql);
    // SQLite compiles a trigger only when it first fires, and an invalid trigger would make every later sync
    // fail.
    if (type === "trigger" && find.get("table", table) !== undefined)
      for (const statement of [`INSERT INTO ${quote(table)} DEFAULT VALUES`, `DELETE FROM ${quote(table)}`])
        db.prepare(statement);
    return null;
  } catch (error) {
    db.exec(`DROP ${type} IF EXISTS ${quote(name)}`);
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the views that SQLite cannot read, with the error for each. */
export function findBrokenViews({ db }: Mirror): Map<string, string> {
  const names = db.prepare("SELECT name FROM main.sqlite_master WHERE type = 'view'").pluck();
  const broken = new Map<string, string>();
  for (const name of names.all() as string[])
    try {
      db.prepare(`SELECT * FROM ${quote(name)}`);
    } catch (error) {
      broken.set(name, error instanceof Error ? error.message : String(error));
    }
  return broken;
}

/**
 * Makes names available for new tables: drops users' views and renames users' tables that have these names.
 * @returns a message for each view or table
 */
export function freeTableNames({ db }: Mirror, tables: readonly string[]): string[] {
  const find = db.prepare<[string], { name: string; type: string; sql: string }>(
    "SELECT name, type, sql FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = ?",
  );
  return tables.flatMap((table) => {
    const found = find.get(table);
    if (!found) return [];
    const { name, sql, type } = found;
    if (type === "view") {
      db.exec(`DROP VIEW ${quote(name)}`);
      return `the view \`${name}\` was dropped, because the mirror now has a table with that name: ${sql}`;
    }
    const renamed = `${name}_renamed`;
    db.exec(`ALTER TABLE ${quote(name)} RENAME TO ${quote(renamed)}`);
    return `the table \`${name}\` was renamed to \`${renamed}\`, because the mirror now has a table with that name`;
  });
}
