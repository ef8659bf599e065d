import { createIndexes, type Mirror, type Schema } from "../mirror/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import type { StoredRecord } from "./stored-record.js";
import { openTable } from "./table-writer.js";
import type { Complain } from "./values.js";

/** Writes a record's rows. @param isNew true if it has no rows yet */
export type WriteRows = (record: StoredRecord, isNew: boolean) => void;

/**
 * Prepares typed tables of one resource, the main one first, and creates those that are missing. In `temp` they are this
 * connection's own, and lie over those of the same name.
 */
export function openTables(
  mirror: Mirror,
  shapes: readonly TableShape[],
  complain: Complain = () => {},
  schema: Schema = "main",
): WriteRows {
  const [first, ...others] = shapes;
  if (!first) throw new Error("no table to write");
  const main = openTable(mirror, schema, first, first, complain);
  const children = others.map((shape) => openTable(mirror, schema, shape, first, complain));
  return (record, isNew) => {
    if (!isNew) for (const table of [main, ...children]) table.removeRows(record);
    const parent = main.writeMain(record);
    for (const child of children) child.writeItems(record, parent);
  };
}

/** Creates the indexes of a resource's tables: after the first read, because sorted building is far cheaper. */
export function indexProjection(mirror: Mirror, resource: Resource): void {
  for (const statement of tablesOf(resource).flatMap(createIndexes)) mirror.db.exec(statement);
}
