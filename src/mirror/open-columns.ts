import type { TableShape } from "../resources/shape.js";
import type { JsonObject, ScalarType } from "../resources/types.js";
import type { Mirror } from "./mirror.js";
import { quote, type StoredColumn } from "./schema.js";

/** The columns of a table: those declared, and those discovered where the document shows no fields. */
export interface OpenColumns {
  all(): readonly StoredColumn[];
  /** Adds columns for scalars seen for the first time; whether there were any. */
  discover(item: JsonObject): boolean;
}

/** Names that people can write in SQL without quotes; anything else stays in the record only. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const atMost = 300;
const technical = ["synced_at", "removed_at", "record_id", "row_id"];

export function openColumns(mirror: Mirror, shape: TableShape): OpenColumns {
  const { db } = mirror;
  const declared = shape.columns.map((column): StoredColumn => ({ ...column, open: false }));
  const discovered = shape.open ? readDiscovered(mirror, shape.name) : [];
  const taken = new Set([...declared, ...discovered].map(({ name }) => name.toLowerCase()).concat(technical));

  function add(name: string, path: readonly string[], type: ScalarType): void {
    const exists = (db.pragma(`table_info(${quote(shape.name)})`) as { name: string }[]).some(
      (column) => column.name === name,
    );
    if (!exists) db.exec(`ALTER TABLE ${quote(shape.name)} ADD COLUMN ${quote(name)}`);
    db.prepare("INSERT OR REPLACE INTO open_columns VALUES (?, ?, ?, ?, ?)").run(
      shape.name,
      name,
      discovered.length,
      JSON.stringify(path),
      type,
    );
    discovered.push(openColumn(name, path, type));
    taken.add(name.toLowerCase());
  }

  function scan(object: JsonObject, path: readonly string[]): boolean {
    let found = false;
    for (const [member, value] of Object.entries(object)) {
      const at = [...path, member];
      const name = at.join("_");
      if (typeof value === "object") {
        if (value !== null && !Array.isArray(value) && path.length < 2) found = scan(value, at) || found;
      } else if (!taken.has(name.toLowerCase()) && plainName.test(name) && discovered.length < atMost) {
        add(name, at, typeof value === "boolean" ? "boolean" : typeof value === "number" ? "number" : "text");
        found = true;
      }
    }
    return found;
  }

  return { all: () => [...declared, ...discovered], discover: (item) => scan(item, []) };
}

/** Forgets discovered columns that this version declares by now. */
export function dropDeclared(mirror: Mirror, shape: TableShape): void {
  const drop = mirror.db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const { name } of shape.columns) drop.run(shape.name, name.toLowerCase());
}

export function readDiscovered(mirror: Mirror, table: string): StoredColumn[] {
  const rows = mirror.db
    .prepare("SELECT name, path, type FROM open_columns WHERE table_name = ? ORDER BY position")
    .all(table) as { name: string; path: string; type: ScalarType }[];
  return rows.map((row) => openColumn(row.name, JSON.parse(row.path) as string[], row.type));
}

function openColumn(name: string, path: readonly string[], type: ScalarType): StoredColumn {
  return { name, path, type, about: "seen in the API's answers", from: "record", open: true };
}
