import { hasInexactNumbers } from "../lib/exact.js";
import {
  createIndexes,
  lastGood,
  type Mirror,
  quote,
  readInfo,
  type Schema,
  writeInfo,
} from "../mirror/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import type { StoredRecord } from "./stored-record.js";
import { openTable } from "./table-writer.js";
import type { Complaint } from "./values.js";

/** Writes the rows of one resource's tables. */
export interface Projection {
  /**
   * Writes a part of a record's rows, which may be very many; they come one after the other, from 0.
   * @param replaces first takes away those that it had
   * @returns whether it was the last
   */
  write(record: StoredRecord, part: number, replaces?: boolean): boolean;
  setRemoved(recordId: number, removedAt: string | null): void;
}

/** Prepares a resource's typed tables, creating those that are missing. */
export function openProjection(
  mirror: Mirror,
  resource: Resource,
  complain: (complaint: Complaint) => void,
): Projection {
  const setRemoved = mirror.db.prepare(
    `UPDATE ${quote(resource.table)} SET removed_at = ? WHERE record_id = ?`,
  );
  const writeRows = openTables(mirror, "main", tablesOf(resource), complain);
  let inexact = readInfo(mirror, `inexact:${resource.table}`) !== null;
  return {
    write(record, part, replaces) {
      if (!inexact && !record.plain && hasInexactNumbers(record.json)) {
        // From now on exports of these tables look numbers up in the records' text.
        writeInfo(mirror, `inexact:${resource.table}`, "1");
        inexact = true;
      }
      return writeRows(record, part, replaces);
    },
    setRemoved: (recordId, removedAt) => void setRemoved.run(removedAt, recordId),
  };
}

/**
 * Prepares tables of one resource, the main one first. In `temp` they are this connection's own, over those of the
 * same name. What is not as declared was said when the record came: nobody is told of it again.
 */
export function openTables(
  mirror: Mirror,
  schema: Schema,
  shapes: readonly TableShape[],
  complain: (complaint: Complaint) => void = () => {},
): Projection["write"] {
  const [first, ...others] = shapes;
  if (!first) throw new Error("no table to write");
  const main = openTable(mirror, schema, first, first, complain);
  const children = others.map((shape) => openTable(mirror, schema, shape, first, complain));
  return (record, part, replaces) => {
    const parent = main.writeMain(record);
    let isLast = true;
    for (const child of children) {
      if (replaces && part === 0) child.removeItems(record);
      if (!child.writeItems(record, parent, part)) isLast = false;
    }
    return isLast;
  };
}

/** Creates the indexes of a resource's tables: after the first read, since sorted building is far cheaper. */
export function indexProjection(mirror: Mirror, resource: Resource): void {
  for (const statement of indexesOf(resource)) mirror.db.exec(statement);
}

export function indexesOf(resource: Resource): readonly string[] {
  return tablesOf(resource).flatMap(createIndexes);
}

/** Whether a resource that was read to its end lacks an index, which every run makes anew at its end. */
export function withoutIndex(mirror: Mirror, resource: Resource): boolean {
  const there = mirror.db.prepare("SELECT sql FROM sqlite_master WHERE type = 'index'").pluck().all();
  const wanted = tablesOf(resource).flatMap(createIndexes);
  const isThere = (statement: string) => there.includes(statement.replace(" IF NOT EXISTS", ""));
  return lastGood(mirror, resource.name) !== null && !wanted.every(isThere);
}
