import { utc } from "../lib/utc.js";
import { lastGood, lastRun, type Mirror, positionsPerRecord, quote, readInfo } from "../mirror/index.js";
import { standOn } from "./as-of.js";
import { syncedBy, typedTables } from "./names.js";
import { readRows } from "./select-read.js";
import { selectSql } from "./select-sql.js";
import type { ReadableTable } from "./tables.js";

export type ByMonth = ReturnType<typeof openByMonth>;

/** Prepares a table for reading with the month of each row (UTC) behind its columns. Call it inside `withSnapshot`. */
export function openByMonth(mirror: Mirror, table: ReadableTable) {
  const columns = table.columns.filter(({ name, isComputed }) => name !== "month" && !isComputed);
  const month = monthSql(table);
  const sql = selectSql({ table, includeRemoved: false });
  const values = [...columns.map(({ name }) => `t.${quote(name)}`), month];
  const of = (one: string) => ({ ...sql, from: `${sql.from} WHERE ${month} = '${one}'` });
  /** All rows, or those of a month; `""`: those without one. */
  const rows = (one?: string) => readRows(mirror, one === undefined ? sql : of(one), values);
  return { name: table.name, columns, partitionColumns: table.date ? ["month"] : [], rows };
}

/** Returns the month of a row of `t`: that of its date, which can be its parent's; `''`: none. */
function monthSql({ date, name }: ReadableTable): string {
  if (date === null) return "''";
  const own = `substr(${date.letters === null ? utc(quote(date.name)) : quote(date.name)}, 1, 7)`;
  const parent = `FROM ${quote(date.table)} WHERE record_id = t.row_id / ${positionsPerRecord}`;
  const month = date.table === name ? own : `(SELECT ${own} ${parent})`;
  return `iif(${month} GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]', ${month}, '')`;
}

/** Returns whose a mirror is, the newest run of all that a table is made of, and through when all of it is proven. */
export function readStanding(mirror: Mirror, table: string) {
  const shapes = typedTables().filter(({ name }) => standOn([table]).has(name));
  const names = shapes.map(({ resource }) => syncedBy(resource).name);
  const runs = names.flatMap((name) => lastRun(mirror, name) ?? []);
  const run = Math.max(0, ...runs.map(({ run_id }) => run_id));
  const through = names.map((name) => lastGood(mirror, name)?.started_at ?? "").sort()[0] || null;
  const verified = through !== null && runs.every((one) => one.verified && one.error === null);
  return { brand: readInfo(mirror, "brand_id"), run, verified, through };
}
