import {
  createTable,
  type Mirror,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
} from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { Values } from "./cells.js";
import type { StoredRecord } from "./stored-record.js";
import { openRows } from "./table-rows.js";
import type { Complain } from "./values.js";

/**
 * Prepares a table, and creates it if it is missing. A temporary one has the columns of the mirror's, and discovers
 * none.
 * @param main the resource's main table, from which children take their parent's columns
 */
export function openTable(
  mirror: Mirror,
  schema: Schema,
  shape: TableShape,
  main: TableShape,
  complain: Complain,
) {
  const { db } = mirror;
  const table = `${schema}.${quote(shape.name)}`;
  const rows = openRows(mirror, shape, main, schema === "main", complain);
  createIfMissing(mirror, shape, rows.columns(), schema);
  let insert = prepareInsert();
  const remove = shape.list ? db.prepare(`DELETE FROM ${table} WHERE row_id BETWEEN ? AND ?`) : null;

  function prepareInsert() {
    const names = rows.names();
    const places = names.map(() => "?").join(", ");
    const columns = names.map(quote).join(", ");
    const statement = db.prepare(`INSERT OR REPLACE INTO ${table} (${columns}) VALUES (${places})`);
    return { statement, width: names.length };
  }

  function put(values: Values): void {
    // A row may have brought a new column.
    if (values.length !== insert.width) insert = prepareInsert();
    insert.statement.run(values);
  }

  return {
    /** Writes a record's row of the main table. @returns its values, for the rows of its children */
    writeMain(record: StoredRecord): Readonly<Values> {
      const values = rows.main(record);
      put(values);
      return values;
    },
    writeItems: (record: StoredRecord, parent: Readonly<Values>) => rows.items(record, parent, put),
    removeItems({ recordId }: StoredRecord): void {
      const first = recordId * positionsPerRecord;
      remove?.run(first, first + positionsPerRecord - 1);
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
