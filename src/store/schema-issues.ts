import type { Field } from "../resources/fields.js";
import type { Resource } from "../resources/resource.js";
import { exportsRawRecords, listTableShapes } from "../resources/table-shape.js";
import { pluralize } from "../util/format-text.js";
import { isObject, type Json, type JsonObject } from "../util/json-value.js";
import type { Reporter } from "../util/reporter.js";
import type { Mirror } from "./database.js";
import type { ParsedRecord } from "./records.js";

/**
 * A mismatch between a record and its resource's columns. It affects only the tables, because the record itself is
 * stored as the API sent it.
 * - type: A value has an unexpected type. Its column contains null instead, unless the value is a string that contains
 * a number.
 * - field: The field is unknown to this version of brandapi.
 * - column: A field's column has a different name than the field. If it has no column at all, `name` is null.
 */
export type SchemaIssue =
  | { kind: "type"; table: string; column: string; found: string }
  | { kind: "field"; table: string; path: string }
  | { kind: "column"; table: string; path: string; name: string | null };

/**
 * The type that is reported for a string that contains a number. In a numeric column, the string is stored as that
 * number.
 */
export const numberAsText = "number as text";

/**
 * Reports schema issues in records. Values with unexpected types are recorded in `unexpected_values`. Unknown
 * fields and renamed columns are reported once per mirror.
 */
export class SchemaIssues {
  readonly #fields: FieldWatch;

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: Resource,
    private readonly reporter?: Pick<Reporter, "note" | "warn">,
  ) {
    this.#fields = new FieldWatch(resource);
  }

  /**
   * Replaces the unexpected values that are stored for a record, and prints notices about unknown fields and renamed
   * columns.
   * @param rowIssues the issues found while the record's rows were written
   * @param options.readAt the time (ISO 8601) of the request
   */
  save(
    { recordId, value }: Pick<ParsedRecord, "recordId" | "value">,
    rowIssues: readonly SchemaIssue[],
    { isNew, readAt }: { isNew: boolean; readAt: string },
  ): void {
    if (!isNew) this.mirror.execute("DELETE FROM unexpected_values WHERE record_id = ?", recordId);
    const insert = `INSERT OR IGNORE INTO unexpected_values (record_id, table_name, column_name, found)
      VALUES (?, ?, ?, ?)`;
    for (const issue of [...this.#fields.findIssues(value), ...rowIssues]) {
      if (issue.kind !== "type") this.#print(issue, readAt);
      else this.mirror.execute(insert, recordId, issue.table, issue.column, issue.found);
    }
  }

  #print(issue: Notice, readAt: string): void {
    if (!this.reporter || !addNotice(this.mirror, noticeKey(issue), readAt)) return;
    // A new field requires no action, so print a note rather than a warning.
    this.reporter[issue.kind === "field" ? "note" : "warn"](describeNotice(issue, this.resource));
  }
}

type Notice = Exclude<SchemaIssue, { kind: "type" }>;

function noticeKey(notice: Notice): string {
  const { kind, table } = notice;
  // Existing mirrors contain notices with the prefix `attribute:`, so it must not change.
  if (kind === "field") return `attribute:${table}.${notice.path}`;
  return `column:${table}.${notice.name === null ? "" : notice.path}`;
}

function describeNotice(notice: Notice, resource: Resource): string {
  const { table, kind } = notice;
  const path = notice.path.slice(0, 120);
  if (kind === "column" && notice.name === null)
    return `${table}: some fields, such as \`${path}\`, have no column; JSON exports include them`;
  if (kind === "column") return `${table}: \`${path}\` is stored in the \`${notice.name}\` column`;
  const place = exportsRawRecords(listTableShapes(resource)[0] ?? null)
    ? "JSON exports"
    : "the mirror's records";
  return `${table}: the API sends a new field \`${path}\`, which is included in ${place}`;
}

/**
 * Remembers that a message has been printed, because some messages are printed only once per mirror.
 * @param at an ISO 8601 timestamp
 * @returns false if the message had already been printed
 */
export function addNotice(mirror: Mirror, subject: string, at: string): boolean {
  return (
    mirror.execute("INSERT OR IGNORE INTO notices (subject, first_at) VALUES (?, ?)", subject, at).changes > 0
  );
}

export interface UnexpectedColumn {
  table: string;
  column: string;
  found: string;
  records: number;
}

export function loadUnexpectedColumns(mirror: Mirror, resourceName: string): UnexpectedColumn[] {
  // CROSS JOIN makes SQLite start from the unexpected values, because there are far fewer of them than records.
  return mirror.selectRows(
    `SELECT table_name AS "table", column_name AS "column", found, count(*) AS records
     FROM unexpected_values AS u CROSS JOIN records AS r USING (record_id)
     WHERE r.resource = ? AND r.removed_at IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    resourceName,
  );
}

export function clearUnexpectedValues(mirror: Mirror, resourceName: string): void {
  const records = "SELECT record_id FROM records WHERE resource = ?";
  mirror.execute(`DELETE FROM unexpected_values WHERE record_id IN (${records})`, resourceName);
}

const maxNamedColumns = 10;

export function describeUnexpectedValues(mirror: Mirror, resourceName: string): string | null {
  const columns = loadUnexpectedColumns(mirror, resourceName);
  if (columns.length === 0) return null;
  const countRecords = `SELECT count(DISTINCT record_id)
    FROM unexpected_values CROSS JOIN records AS r USING (record_id)
    WHERE r.resource = ? AND r.removed_at IS NULL`;
  const records = pluralize(mirror.selectValue<number>(countRecords, resourceName) ?? 0, "record");
  const parts = columns.slice(0, maxNamedColumns).map(describeUnexpectedColumn);
  if (columns.length > maxNamedColumns) parts.push(`${columns.length - maxNamedColumns} more`);
  return `${resourceName}: unexpected types in ${records}: ${parts.join(", ")}; JSON exports contain the original values`;
}

/** Describes a column's unexpected values. Example: `3 text values in orders.total_amount (null in the column)`. */
export function describeUnexpectedColumn({ table, column, found, records }: UnexpectedColumn): string {
  const place = `${table}.${column}`;
  if (found === numberAsText)
    return `${pluralize(records, "number")} sent as text in ${place} (read as numbers)`;
  return `${pluralize(records, nouns.get(found) ?? found)} in ${place} (null in the column)`;
}

const nouns: ReadonlyMap<string, string> = new Map([
  ["string", "text value"],
  ["array", "list"],
  ["not an object", "non-object item"],
]);

/** The maximum number of new fields to report, because the API may send any number of them. */
const maxReportedFields = 100;

/**
 * Finds fields, however deeply nested, that have neither a column nor a child table. Also finds values that should
 * be objects but are not. The API can add fields at any time (see "Versioning", item 2, in the API documentation).
 * Resources without documented fields are not checked.
 */
class FieldWatch {
  readonly #root: KnownObject | null;
  #reported = 0;

  constructor(private readonly resource: Resource) {
    this.#root = resource.discoversColumns
      ? null
      : toKnownObject(resource.fields, { path: "", isList: false });
  }

  /** Returns a record's issues. An unknown field is returned only for the first record that contains it. */
  findIssues(record: JsonObject): readonly SchemaIssue[] {
    const issues: SchemaIssue[] = [];
    if (this.#root) this.#addFieldIssues(record, this.#root, issues);
    return issues;
  }

  #addFieldIssues(value: JsonObject, known: KnownObject, issues: SchemaIssue[]): void {
    for (const name in value) {
      const below = known.fields.get(name);
      if (below === null) continue;
      if (below !== undefined) this.#addValueIssues(value[name] ?? null, below, issues);
      else this.#addUnknownField(name, known, issues);
    }
  }

  #addValueIssues(value: Json, known: KnownObject, issues: SchemaIssue[]): void {
    if (known.isList) {
      // Check only the fields of list items, because `RowBuilder` reports lists and list items that have the wrong
      // type.
      if (Array.isArray(value))
        for (const item of value) if (isObject(item)) this.#addFieldIssues(item, known, issues);
    } else if (isObject(value)) this.#addFieldIssues(value, known, issues);
    else if (value !== null)
      issues.push({ kind: "type", table: this.resource.table, column: known.path, found: jsonType(value) });
  }

  #addUnknownField(name: string, known: KnownObject, issues: SchemaIssue[]): void {
    if (this.#reported >= maxReportedFields) return;
    this.#reported += 1;
    known.fields.set(name, null);
    const path = known.path === "" ? name : `${known.path}.${name}`;
    issues.push({ kind: "field", table: this.resource.table, path });
  }
}

/** The known fields of an object, or of each object in a list. A field that maps to null can have any value. */
interface KnownObject {
  path: string;
  isList: boolean;
  fields: Map<string, KnownObject | null>;
}

function toKnownObject(
  fields: readonly Field[],
  { path, isList }: Pick<KnownObject, "path" | "isList">,
): KnownObject {
  const recordFields = fields.filter((field) => field.kind !== "scalar" || field.source === "record");
  const known = recordFields.map((field): [string, KnownObject | null] => {
    const isUnchecked = field.kind === "scalar" || (field.kind === "list" && field.discoversColumns);
    if (isUnchecked) return [field.name, null];
    const fieldPath = path === "" ? field.name : `${path}.${field.name}`;
    return [field.name, toKnownObject(field.fields, { path: fieldPath, isList: field.kind === "list" })];
  });
  return { path, isList, fields: new Map(known) };
}

export function jsonType(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}
