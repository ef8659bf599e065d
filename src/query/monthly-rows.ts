import { type Mirror, readInfo } from "../store/database.js";
import { lastGood, lastRun } from "../store/runs.js";
import { quote } from "../store/table-sql.js";
import { findTypedTables } from "./as-of.js";
import { type ReadableTable, syncingResource } from "./readable-tables.js";
import { readStatement, selectStatement } from "./select.js";

export type MonthlyRows = ReturnType<typeof openMonthlyRows>;

/** Prepares a table for reading with the month of each row (UTC) behind its columns. Call it inside `withReadTransaction`. */
export function openMonthlyRows(mirror: Mirror, table: ReadableTable) {
  const { name, date } = table;
  const partitionColumns = date ? ["month"] : [];
  const columns = table.columns.filter((one) => !one.isComputed && !partitionColumns.includes(one.name));
  const at = table.columns.some((one) => one.name === "month") ? "month" : date?.sql;
  const month = date ? `iif(${at} GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]*', substr(${at}, 1, 7), '')` : "''";
  const values = [...columns.map((one) => `t.${quote(one.name)}`), month];
  /** All rows, or those of a month; `""`: those without one. */
  const rows = (one?: string) => {
    const where = one === undefined ? undefined : `${month} = '${one}'`;
    return readStatement(mirror, selectStatement({ table, where }), values);
  };
  return { name, columns, partitionColumns, mirrorState: readMirrorState(mirror, name), rows };
}

/** Returns the mirror's brand, the newest run of the resources of a table, and the time through which all are proven. */
function readMirrorState(mirror: Mirror, table: string) {
  const names = findTypedTables(mirror, table).map(({ resource }) => syncingResource(resource).name);
  const runs = names.flatMap((name) => lastRun(mirror, name) ?? []);
  const run = Math.max(0, ...runs.map(({ run_id }) => run_id));
  const through = names.map((name) => lastGood(mirror, name)?.started_at ?? "").sort()[0] || null;
  const verified = through !== null && runs.every((one) => one.verified && one.error === null);
  return { brand: readInfo(mirror, "brand_id"), run, verified, through };
}
