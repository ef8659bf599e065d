import { freeName } from "../lib/free-name.js";
import { type Mirror, quote, type StoredColumn } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { JsonObject, ScalarType } from "../resources/types.js";
import type { Complaint } from "./values.js";

/** The columns of a table: those declared, and those discovered where the document shows no fields. */
export interface OpenColumns {
  all(): readonly StoredColumn[];
  /** Adds columns for scalars seen for the first time; whether there were any. */
  discover(item: JsonObject, context: JsonObject): boolean;
}

const atMost = 300;
const longest = 63;
/** The type of a column that has held yes or no and other values too. */
export const mixed: ScalarType = "json";
const technical = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * Opens a table's columns. A name that SQL takes without quotes is kept, what else it holds becomes `_`; where another
 * column has it already, whatever its case, it ends in `_2`, `_3` and so on, in the order in which they were seen.
 * @param complain hears of names that were changed, of columns whose values are of several types, and, once, that
 * something is in the records only
 */
export function openColumns(
  mirror: Mirror,
  shape: TableShape,
  complain: (complaint: Complaint) => void = () => {},
): OpenColumns {
  const { db } = mirror;
  const declared = shape.columns.map((column): StoredColumn => ({ ...column, open: false }));
  const discovered = shape.open ? readDiscovered(mirror, shape.name) : [];
  const taken = new Set([...declared, ...discovered].map(({ name }) => name.toLowerCase()).concat(technical));
  const known = newMember();
  for (const column of [...declared, ...discovered])
    if (column.from === "record")
      column.path.reduce((holder, name) => memberOf(holder, name), known).column = column;

  let isNoneTold = false;

  function complainOfNone(path: readonly string[]): void {
    if (!isNoneTold) complain({ kind: "column", table: shape.name, path: path.join("."), name: null });
    isNoneTold = true;
  }

  function add(path: readonly string[], type: ScalarType): StoredColumn | null {
    const name = discovered.length < atMost && path.every(canBeRead) ? nameOf(path) : null;
    const at = path.join(".");
    if (name !== path.join("_")) complain({ kind: "column", table: shape.name, path: at, name });
    if (name === null) return null;
    const there = db.pragma(`table_info(${quote(shape.name)})`) as { name: string }[];
    if (!there.some((column) => column.name.toLowerCase() === name.toLowerCase()))
      db.exec(`ALTER TABLE ${quote(shape.name)} ADD COLUMN ${quote(name)}`);
    db.prepare("INSERT OR REPLACE INTO open_columns VALUES (?, ?, ?, ?, ?)").run(
      shape.name,
      name,
      discovered.length,
      JSON.stringify(path),
      type,
    );
    const column = openColumn(name, path, type);
    discovered.push(column);
    taken.add(name.toLowerCase());
    return column;
  }

  function nameOf(path: readonly string[]): string {
    const plain = path
      .join("_")
      .replaceAll(/[^A-Za-z0-9_]/g, "_")
      .replace(/^(?![A-Za-z_])/, "_");
    return freeName(plain, taken, longest);
  }

  /** A 1 could be yes or a number by now: only the record tells. */
  function mix(column: StoredColumn): void {
    db.prepare("UPDATE open_columns SET type = ? WHERE table_name = ? AND name = ?").run(
      mixed,
      shape.name,
      column.name,
    );
    column.type = mixed;
  }

  /** @param holder what is known of the object's members; undefined: nothing, and there is room for no more */
  function scan(
    object: JsonObject,
    holder: Member | undefined,
    path: readonly string[],
    context: JsonObject,
  ): boolean {
    let found = false;
    for (const [member, value] of Object.entries(object)) {
      if (value === null || Array.isArray(value)) continue;
      // Where there are so many, all that is new is in the records only: that is said, and not remembered of each.
      const isFull = discovered.length >= atMost;
      const one = holder && (isFull ? holder.members.get(member) : memberOf(holder, member));
      if (typeof value === "object") {
        if (path.length < deepest) found = scan(value, one, [...path, member], {}) || found;
        else complainOfNone([...path, member]);
        continue;
      }
      // What was asked for has a column already; that the record says so too is nothing new.
      if (Object.hasOwn(context, member) && String(context[member]) === String(value)) continue;
      const type = typeof value === "string" ? "text" : typeof value;
      const column = one?.column;
      if (!one) complainOfNone([...path, member]);
      else if (column === undefined) {
        one.column = add([...path, member], type as ScalarType);
        found = true;
      } else if (
        column?.open &&
        column.type !== mixed &&
        (column.type === "boolean") !== (type === "boolean")
      )
        mix(column);
    }
    return found;
  }

  return {
    all: () => [...declared, ...discovered],
    discover: (item, context) => scan(item, known, [], context),
  };
}

const deepest = 2;

/** What is known of a member, and of those below it. */
interface Member {
  /** Undefined: none was sought yet. Null: it is in the records only. */
  column: StoredColumn | null | undefined;
  members: Map<string, Member>;
}

function newMember(): Member {
  return { column: undefined, members: new Map() };
}

function memberOf({ members }: Member, name: string): Member {
  const there = members.get(name) ?? newMember();
  members.set(name, there);
  return there;
}

/** Whether SQLite can find a member by its name in a record's text. */
function canBeRead(member: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they stand in the text as escapes.
  return member.isWellFormed() && !/["\\\u0000-\u001f]/.test(member);
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
