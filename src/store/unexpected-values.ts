import { pluralize } from "../util/text.js";
import { type Mirror, statement } from "./database.js";
import { numberAsText, type SchemaIssue } from "./values.js";

/** A column with values of an unexpected type, and how many current records have them. */
export interface UnexpectedColumn {
  table: string;
  column: string;
  /** The type of the values: `string`, `number as text`, `array`, … */
  found: string;
  records: number;
}

/** Stores which records have values of an unexpected type, whenever their rows are written. */
export function openUnexpectedValues({ db }: Mirror) {
  const insert = db.prepare("INSERT OR IGNORE INTO unexpected_values VALUES (?, ?, ?, ?)");
  const remove = db.prepare("DELETE FROM unexpected_values WHERE record_id = ?");
  return {
    add(recordId: number, { table, column, found }: Extract<SchemaIssue, { kind: "type" }>): void {
      insert.run(recordId, table, column, found);
    },
    clear: (recordId: number) => void remove.run(recordId),
  };
}

/** Forgets the values of all records of a resource: their rows are about to be written again. */
export function clearUnexpectedValues({ db }: Mirror, resource: string): void {
  const records = "SELECT record_id FROM records WHERE resource = ?";
  db.prepare(`DELETE FROM unexpected_values WHERE record_id IN (${records})`).run(resource);
}

/** Returns the columns of a resource's tables that have values of an unexpected type in current records. */
export function readUnexpectedColumns(mirror: Mirror, resource: string): UnexpectedColumn[] {
  const select = statement(
    mirror,
    `SELECT table_name AS "table", column_name AS "column", found, count(*) AS records
     FROM unexpected_values AS u JOIN records AS r USING (record_id)
     WHERE r.resource = ? AND r.removed_at IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );
  return select.all(resource) as UnexpectedColumn[];
}

/** Returns how many current records of a resource have values of an unexpected type. */
export function countUnexpectedRecords(mirror: Mirror, resource: string): number {
  const select = statement(
    mirror,
    `SELECT count(DISTINCT record_id) FROM unexpected_values JOIN records AS r USING (record_id)
     WHERE r.resource = ? AND r.removed_at IS NULL`,
  );
  return select.pluck().get(resource) as number;
}

/** Returns a warning about the current records of a resource with values of an unexpected type; null if there are none. */
export function unexpectedWarning(mirror: Mirror, resource: string): string | null {
  const columns = readUnexpectedColumns(mirror, resource);
  if (columns.length === 0) return null;
  const records = pluralize(countUnexpectedRecords(mirror, resource), "record");
  const parts = columns.slice(0, maxNamedColumns).map(unexpectedText);
  if (columns.length > maxNamedColumns) parts.push(`${columns.length - maxNamedColumns} more`);
  return `${resource}: unexpected types in ${records}: ${parts.join(", ")}; JSON exports have them as the API sent them`;
}

const maxNamedColumns = 10;

/** Returns for example `3 text values in orders.total_amount (null in the column)`. */
export function unexpectedText({ table, column, found, records }: UnexpectedColumn): string {
  const place = `${table}.${column}`;
  if (found === numberAsText) return `${pluralize(records, "text number")} in ${place} (read as numbers)`;
  return `${pluralize(records, nouns.get(found) ?? found)} in ${place} (null in the column)`;
}

/** The types that have another name in messages. */
const nouns: ReadonlyMap<string, string> = new Map([
  ["string", "text value"],
  ["array", "list"],
  ["not an object", "item without fields"],
]);
