import { forgetInfo, type Mirror, readInfo, writeInfo } from "../mirror/index.js";
import type { TableDifference } from "./compare-tables.js";

/** The differences found in a resource's tables, and when; ISO 8601. */
export interface TableNote {
  at: string;
  error: string;
}

/** Returns `25 rows missing, 3 changed, 1 too many`. */
export function differenceText({ missing, changed, extra }: TableDifference): string {
  const parts = [`${missing} missing`, `${changed} changed`, `${extra} too many`];
  const [first = "", ...others] = parts.filter((part) => !part.startsWith("0 "));
  const count = Number.parseInt(first, 10);
  return [first.replace(" ", count === 1 ? " row " : " rows "), ...others].join(", ");
}

/**
 * Notes the differences found in a resource's tables, until none are found: a sync does not look at tables.
 * @param differences empty: the tables match
 */
export function noteTables(
  mirror: Mirror,
  resource: string,
  differences: readonly TableDifference[],
  at: string,
): TableNote | null {
  const found = differences.map((one) => `${one.table}: ${differenceText(one)}`).join("; ");
  const note = differences.length === 0 ? null : { at, error: `tables differ from the records (${found})` };
  mirror.transaction(() => {
    if (note) writeInfo(mirror, `tables:${resource}`, JSON.stringify(note));
    else forgetInfo(mirror, `tables:${resource}`);
  });
  return note;
}

export function readTableNote(mirror: Mirror, resource: string): TableNote | null {
  const text = readInfo(mirror, `tables:${resource}`);
  return text === null ? null : (JSON.parse(text) as TableNote);
}
