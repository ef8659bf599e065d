import type { Field, ScalarType } from "../resources/fields.js";
import type { Resource } from "../resources/resource.js";
import { exportsRawRecords, type TableShape, tablesOf } from "../resources/table-shape.js";
import { uniqueName } from "../util/files.js";
import { isObject, type Json, type JsonObject } from "../util/json-value.js";
import type { Reporter } from "../util/reporter.js";
import type { Mirror } from "./database.js";
import { quote, recordStates, type TableColumn, tableName } from "./table-sql.js";
import { jsonType, type ReportIssue, type SchemaIssue } from "./values.js";

/** The type of a column that has held booleans and other values. */
export const mixedType: ScalarType = "json";

type Discovered = Pick<TableColumn, "name" | "path" | "type">;

/** Returns a table's discovered columns in the order in which they were seen. */
export function readDiscovered({ db }: Mirror, table: string): TableColumn[] {
  const rows = db
    .prepare("SELECT name, path, type FROM open_columns WHERE table_name = ? ORDER BY position")
    .all(table) as { name: string; path: string; type: ScalarType }[];
  return rows.map((row) => discoveredColumn({ ...row, path: JSON.parse(row.path) as string[] }));
}

/** Adds a column to both tables of a shape, unless they have it, and notes where its values come from. */
export function saveDiscovered(
  { db }: Mirror,
  table: string,
  found: Discovered,
  position: number,
): TableColumn {
  for (const part of recordStates) {
    const name = quote(tableName({ name: table }, part));
    const there = db.pragma(`table_info(${name})`) as { name: string }[];
    if (!there.some((column) => column.name.toLowerCase() === found.name.toLowerCase()))
      db.exec(`ALTER TABLE ${name} ADD COLUMN ${quote(found.name)}`);
  }
  const insert = db.prepare("INSERT OR REPLACE INTO open_columns VALUES (?, ?, ?, ?, ?)");
  insert.run(table, found.name, position, JSON.stringify(found.path), found.type);
  return discoveredColumn(found);
}

export function markMixed({ db }: Mirror, table: string, column: TableColumn): void {
  db.prepare("UPDATE open_columns SET type = ? WHERE table_name = ? AND name = ?").run(
    mixedType,
    table,
    column.name,
  );
  column.type = mixedType;
}

/**
 * Names that SQL reads as a value where a person writes them without quotes. SQLite cannot even find a column named `true` or
 * `false` in a subquery, with quotes or without.
 */
export const sqlValueNames = ["true", "false", "null", "current_date", "current_time", "current_timestamp"];

/** Forgets discovered columns that an earlier version gave one of `valueNames`: they are discovered again. */
export function forgetUnusableNames({ db }: Mirror, { name }: TableShape): void {
  const drop = db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const column of sqlValueNames) drop.run(name, column);
}

/** Forgets discovered columns that this version declares. */
export function forgetDeclaredColumns({ db }: Mirror, shape: TableShape): void {
  const drop = db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const { name } of shape.columns) drop.run(shape.name, name.toLowerCase());
}

/** True if SQLite can find a member by its name in a record's text. */
export function isReadable(member: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they stand in the text as escapes.
  return member.isWellFormed() && !/["\\\u0000-\u001f]/.test(member);
}

function discoveredColumn({ name, path, type }: Discovered): TableColumn {
  return { name, path, type, about: "seen in the API's answers", from: "record", isDiscovered: true };
}

const maxDiscoveredColumns = 300;
const maxNameLength = 63;
/** Members below two objects stay in the records only. */
const maxDepth = 2;
const technical = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * Opens a table's columns: those declared, and those discovered if the API document shows no fields. Characters that SQL
 * takes only in quotes become `_`; a name that is taken (in any case), or that SQL reads as a value, ends in `_2`, `_3` and
 * so on.
 * @param complain is given names that were changed, and members that are in the records only
 */
export function openColumns(mirror: Mirror, shape: TableShape, complain: ReportIssue = () => {}) {
  const declared = shape.columns.map((column): TableColumn => ({ ...column, isDiscovered: false }));
  const discovered = shape.discoversColumns ? readDiscovered(mirror, shape.name) : [];
  const own = [...declared, ...discovered];
  const taken = new Set(own.map(({ name }) => name.toLowerCase()).concat(technical, sqlValueNames));
  /** By path; null: the member is in the records only. */
  const known = new Map<string, TableColumn | null>();
  for (const column of own) if (column.from === "record") known.set(pathKey(column.path), column);

  function complainOfNone(path: readonly string[]): void {
    complain({ kind: "column", table: shape.name, path: path.join("."), name: null });
  }

  function add(path: readonly string[], type: ScalarType): boolean {
    if (discovered.length >= maxDiscoveredColumns || !path.every(isReadable)) {
      complainOfNone(path);
      return false;
    }
    const name = uniqueName(columnName(path), taken, maxNameLength);
    if (name !== path.join("_")) complain({ kind: "column", table: shape.name, path: path.join("."), name });
    const column = saveDiscovered(mirror, shape.name, { name, path, type }, discovered.length);
    discovered.push(column);
    taken.add(name.toLowerCase());
    known.set(pathKey(path), column);
    return true;
  }

  function scan(object: JsonObject, holder: readonly string[], context: JsonObject): boolean {
    let found = false;
    for (const [member, value] of Object.entries(object)) {
      if (value === null || Array.isArray(value)) continue;
      const path = [...holder, member];
      if (typeof value === "object") {
        if (path.length <= maxDepth) found = scan(value, path, {}) || found;
        else complainOfNone(path);
        continue;
      }
      // A parameter of the request has a column already.
      if (Object.hasOwn(context, member) && String(context[member]) === String(value)) continue;
      const column = known.get(pathKey(path));
      const type = typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
      if (!column) found = add(path, type) || found;
      // A 1 could be a number or `true` from then on: only the record tells.
      else if (
        column.isDiscovered &&
        column.type !== mixedType &&
        (column.type === "boolean") !== (type === "boolean")
      )
        markMixed(mirror, shape.name, column);
    }
    return found;
  }

  return {
    all: (): readonly TableColumn[] => [...declared, ...discovered],
    /** Adds columns for scalars seen for the first time. @returns true if there were any */
    discover: (item: JsonObject, context: JsonObject) => scan(item, [], context),
  };
}

function pathKey(path: readonly string[]): string {
  return path.length === 1 ? (path[0] ?? "") : path.join("\u0000");
}

function columnName(path: readonly string[]): string {
  const name = path.join("_").replaceAll(/[^A-Za-z0-9_]/g, "_");
  return name.replace(/^(?![A-Za-z_])/, "_");
}

/** The members of an object that this version knows: each with its own, or null if anything may be below it. */
interface Known {
  /** The path to it, dots between, for messages. */
  path: string;
  isList: boolean;
  members: Map<string, Known | null>;
}

/** An API that makes up names would otherwise be listed without end. */
const maxReportedAttributes = 100;

/**
 * Returns a function that complains of members that no column and no child table has, at any depth (the API document,
 * "Versioning" 2: new attributes can arrive at any time), and of other values in place of an object. It is silent if
 * the document shows no fields at all.
 */
export function openAttributeWatch(resource: Resource, complain: ReportIssue): (record: JsonObject) => void {
  if (resource.discoversColumns) return () => {};
  const { table } = resource;
  const root = compile(resource.fields, "", false);
  let named = 0;

  function look(value: Json, known: Known): void {
    if (known.isList) {
      // Another value in place of a list, or of its item, is noticed when the rows are written.
      if (Array.isArray(value)) for (const item of value) if (isObject(item)) lookInto(item, known);
    } else if (isObject(value)) lookInto(value, known);
    else if (value !== null) complain({ kind: "type", table, column: known.path, found: jsonType(value) });
  }

  function lookInto(value: JsonObject, known: Known): void {
    for (const member in value) {
      const below = known.members.get(member);
      if (below === null) continue;
      if (below !== undefined) look(value[member] ?? null, below);
      else if (named < maxReportedAttributes) {
        named += 1;
        known.members.set(member, null);
        complain({ kind: "attribute", table, path: known.path === "" ? member : `${known.path}.${member}` });
      }
    }
  }

  return (record) => lookInto(record, root);
}

function compile(fields: readonly Field[], path: string, isList: boolean): Known {
  const own = fields.filter((field) => field.kind !== "scalar" || field.from === "record");
  const members = own.map((field): [string, Known | null] => {
    const anything = field.kind === "scalar" || (field.kind === "list" && field.discoversColumns);
    if (anything) return [field.name, null];
    const at = path === "" ? field.name : `${path}.${field.name}`;
    return [field.name, compile(field.fields, at, field.kind === "list")];
  });
  return { path, isList, members: new Map(members) };
}

type MirrorNotice = Exclude<SchemaIssue, { kind: "type" }>;

/**
 * Reports unknown attributes and columns with another name, once in the life of a mirror: the same finding in every record of every night is one
 * warning; a new attribute needs no action, and is a note.
 * @param at when the answer was asked for, ISO 8601
 */
export function openIssueNotices(
  { db }: Mirror,
  resource: Resource,
  reporter: Pick<Reporter, "note" | "warn">,
  at: () => string,
): (complaint: MirrorNotice) => void {
  const insert = db.prepare("INSERT OR IGNORE INTO notices VALUES (?, ?)");
  const known = new Set<string>();
  return (complaint) => {
    const subject = issueSubject(complaint);
    if (known.has(subject)) return;
    known.add(subject);
    if (insert.run(subject, at()).changes === 0) return;
    reporter[complaint.kind === "attribute" ? "note" : "warn"](issueText(complaint, resource));
  };
}

/** Records that a warning is given. Returns false if this mirror has been given it before. @param at ISO 8601 */
export function isFirstNotice({ db }: Mirror, subject: string, at: string): boolean {
  return db.prepare("INSERT OR IGNORE INTO notices VALUES (?, ?)").run(subject, at).changes > 0;
}

function issueSubject(complaint: MirrorNotice): string {
  const { kind, table } = complaint;
  if (kind === "attribute") return `attribute:${table}.${complaint.path}`;
  return `column:${table}.${complaint.name === null ? "" : complaint.path}`;
}

/** Returns the sentence of a complaint. */
function issueText(complaint: MirrorNotice, resource: Resource): string {
  const { table, kind } = complaint;
  const path = complaint.path.slice(0, 120);
  if (kind === "column" && complaint.name === null)
    return `${table}: not every attribute becomes a column (\`${path}\` does not): all are kept in JSON exports`;
  if (kind === "column") return `${table}: the column of \`${path}\` is \`${complaint.name}\``;
  const kept = exportsRawRecords(tablesOf(resource)[0] ?? null) ? "JSON exports" : "the mirror's records";
  return `${table}: the API sends a new attribute \`${path}\`: it is kept in ${kept}`;
}
