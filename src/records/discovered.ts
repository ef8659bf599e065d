import { type Mirror, parts, quote, type StoredColumn, tableName } from "../mirror/index.js";
import type { ScalarType } from "../resources/fields.js";
import type { TableShape } from "../resources/shape.js";

/** The type of a column that has held booleans and other values. */
export const mixed: ScalarType = "json";

type Discovered = Pick<StoredColumn, "name" | "path" | "type">;

/** Returns a table's discovered columns in the order in which they were seen. */
export function readDiscovered({ db }: Mirror, table: string): StoredColumn[] {
  const rows = db
    .prepare("SELECT name, path, type FROM open_columns WHERE table_name = ? ORDER BY position")
    .all(table) as { name: string; path: string; type: ScalarType }[];
  return rows.map((row) => openColumn({ ...row, path: JSON.parse(row.path) as string[] }));
}

/** Adds a column to both tables of a shape, unless they have it, and notes where its values come from. */
export function saveDiscovered(
  { db }: Mirror,
  table: string,
  found: Discovered,
  position: number,
): StoredColumn {
  for (const part of parts) {
    const name = quote(tableName({ name: table }, part));
    const there = db.pragma(`table_info(${name})`) as { name: string }[];
    if (!there.some((column) => column.name.toLowerCase() === found.name.toLowerCase()))
      db.exec(`ALTER TABLE ${name} ADD COLUMN ${quote(found.name)}`);
  }
  const insert = db.prepare("INSERT OR REPLACE INTO open_columns VALUES (?, ?, ?, ?, ?)");
  insert.run(table, found.name, position, JSON.stringify(found.path), found.type);
  return openColumn(found);
}

export function setMixed({ db }: Mirror, table: string, column: StoredColumn): void {
  db.prepare("UPDATE open_columns SET type = ? WHERE table_name = ? AND name = ?").run(
    mixed,
    table,
    column.name,
  );
  column.type = mixed;
}

/**
 * Names that SQL reads as a value where a person writes them without quotes. SQLite cannot even find a column named `true` or
 * `false` in a subquery, with quotes or without.
 */
export const valueNames = ["true", "false", "null", "current_date", "current_time", "current_timestamp"];

/** Forgets discovered columns that an earlier version gave one of `valueNames`: they are discovered again. */
export function dropValueNames({ db }: Mirror, { name }: TableShape): void {
  const drop = db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const column of valueNames) drop.run(name, column);
}

/** Forgets discovered columns that this version declares. */
export function dropDeclared({ db }: Mirror, shape: TableShape): void {
  const drop = db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const { name } of shape.columns) drop.run(shape.name, name.toLowerCase());
}

/** True if SQLite can find a member by its name in a record's text. */
export function isReadable(member: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they stand in the text as escapes.
  return member.isWellFormed() && !/["\\\u0000-\u001f]/.test(member);
}

function openColumn({ name, path, type }: Discovered): StoredColumn {
  return { name, path, type, about: "seen in the API's answers", from: "record", open: true };
}
