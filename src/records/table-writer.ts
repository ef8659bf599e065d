import {
  createTable,
  type Mirror,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
} from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { StoredRecord } from "./stored-record.js";
import { openRows, type Values } from "./table-rows.js";
import type { Complaint } from "./values.js";

/** Writes the rows of one table. */
export interface TableWriter {
  /** Writes a record's row of the main table. @returns its values, for the rows of its children */
  writeMain(record: StoredRecord): Readonly<Values>;
  /** Writes a part of the rows of a record's list. @returns whether it was the last */
  writeItems(record: StoredRecord, parent: Readonly<Values>, part: number): boolean;
  /** Takes away the rows of a record's list. */
  removeItems(record: StoredRecord): void;
}

/**
 * Prepares a table, creating it where it is missing. A temporary one has the columns of the mirror's, and discovers
 * none.
 * @param main the resource's main table, which children take their parent's columns from
 */
export function openTable(
  mirror: Mirror,
  schema: Schema,
  shape: TableShape,
  main: TableShape,
  complain: (complaint: Complaint) => void,
): TableWriter {
  const { db } = mirror;
  const table = `${schema}.${quote(shape.name)}`;
  const rows = openRows(mirror, shape, main, schema === "main", complain);
  createIfMissing(mirror, shape, rows.columns(), schema);
  let insert = prepareInsert();
  const removeItems = shape.list
    ? db.prepare(`DELETE FROM ${table} WHERE row_id BETWEEN ? AND ?`)
    : undefined;

  function prepareInsert() {
    const names = rows.names();
    const places = names.map(() => "?").join(", ");
    const statement = db.prepare(
      `INSERT OR REPLACE INTO ${table} (${names.map(quote).join(", ")}) VALUES (${places})`,
    );
    return { statement, width: names.length };
  }

  function put(values: Values): void {
    // A row can bring a new column, and so need another statement.
    if (values.length !== insert.width) insert = prepareInsert();
    insert.statement.run(values);
  }

  return {
    writeMain(record) {
      const values = rows.main(record);
      put(values);
      return values;
    },
    writeItems: (record, parent, part) => rows.items(record, parent, part, put),
    removeItems({ recordId }) {
      const first = recordId * positionsPerRecord;
      removeItems?.run(first, first + positionsPerRecord - 1);
    },
  };
}

export function createIfMissing(
  { db }: Mirror,
  shape: TableShape,
  columns: readonly StoredColumn[],
  schema: Schema = "main",
): void {
  const find = db.prepare(`SELECT 1 FROM ${schema}.sqlite_master WHERE type = 'table' AND name = ?`);
  if (find.get(shape.name) === undefined) db.exec(createTable(shape, columns, schema));
}
