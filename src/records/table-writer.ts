import {
  createTable,
  idColumn,
  type Mirror,
  type Part,
  parts,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
  tableName,
} from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { Values } from "./cells.js";
import { partOf, type StoredRecord } from "./stored-record.js";
import { openRows } from "./table-rows.js";
import type { Complain } from "./values.js";

/**
 * Prepares both tables of a shape, and creates them if they are missing. Temporary ones have the columns of the mirror's,
 * and discover none.
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
  const rows = openRows(mirror, shape, main, schema === "main", complain);
  createIfMissing(mirror, shape, rows.columns(), schema);
  const inserts = { current: prepareInsert("current"), removed: prepareInsert("removed") };
  const id = idColumn(shape);
  const deletes = parts.map((part) => ({
    part,
    statement: db.prepare(`DELETE FROM ${nameIn(part)} WHERE ${id} BETWEEN ? AND ?`),
  }));

  function nameIn(part: Part): string {
    return `${schema}.${quote(tableName(shape, part))}`;
  }

  function prepareInsert(part: Part) {
    const names = rows.names(part);
    const places = names.map(() => "?").join(", ");
    const columns = names.map(quote).join(", ");
    const statement = db.prepare(`INSERT OR REPLACE INTO ${nameIn(part)} (${columns}) VALUES (${places})`);
    return { statement, width: names.length };
  }

  function put(values: Values, part: Part): void {
    // A row may have brought a new column.
    if (values.length !== inserts[part].width) inserts[part] = prepareInsert(part);
    inserts[part].statement.run(values);
  }

  return {
    /** Writes a record's row of the main table. @returns its values, for the rows of its children */
    writeMain(record: StoredRecord): Readonly<Values> {
      const values = rows.main(record);
      put(values, partOf(record));
      return values;
    },
    writeItems(record: StoredRecord, parent: Readonly<Values>): void {
      const part = partOf(record);
      rows.items(record, parent, (values) => put(values, part));
    },
    /** Deletes the earlier rows of a record. Its row in the main table stays if it is replaced there. */
    removeRows(record: StoredRecord): void {
      const { recordId } = record;
      const first = shape.list ? recordId * positionsPerRecord : recordId;
      const last = shape.list ? first + positionsPerRecord - 1 : recordId;
      for (const { part, statement } of deletes)
        if (shape.list || part !== partOf(record)) statement.run(first, last);
    },
  };
}

/** Creates both tables of a shape if they are missing. */
export function createIfMissing(
  { db }: Mirror,
  shape: TableShape,
  columns: readonly StoredColumn[],
  schema: Schema = "main",
): void {
  const find = db.prepare(`SELECT 1 FROM ${schema}.sqlite_master WHERE type = 'table' AND name = ?`);
  for (const part of parts)
    if (find.get(tableName(shape, part)) === undefined)
      db.exec(createTable(shape, columns, { part, schema }));
}
