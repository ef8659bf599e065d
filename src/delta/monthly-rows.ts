import { loadRows, type Row } from "../query/open-rows.js";
import { type ReadableTable, shapesReadBy } from "../query/readable-tables.js";
import { syncingResource } from "../resources/registry.js";
import type { Column } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { loadOwner } from "../store/owner.js";
import { findLastRun, findLastVerifiedUpToDateSync } from "../store/runs.js";
import { quote } from "../store/table-sql.js";
import { loadReadDates, type ReadDates } from "./read-dates.js";

/** A table that is partitioned by month for a Delta export. */
export interface MonthlyRows {
  name: string;
  columns: readonly Column[];
  /** `brand_id` if the table can contain several brands, followed by `month` if rows have a date. */
  partitionColumns: readonly string[];
  manyBrands: boolean;
  mirrorState: MirrorState;
  readDates: readonly ReadDates[];
  /**
   * Yields the rows for one month, or for all months if `month` is omitted. `""` selects the rows without a month. The
   * last value in each row is its month in UTC.
   */
  batches(month?: string): Iterable<Row[]>;
}

/** The partition column for the brand's ID. It replaces any table column with the same name. */
export const brandColumn = "brand_id";

/** The state of the mirror at the time of an export. The field names are part of the file format. */
export interface MirrorState {
  brand: string | null;
  /** The ID of the newest run for any of the table's resources. */
  run: number;
  /** True if the newest run for each of the table's resources was verified. */
  verified: boolean;
  /** The time up to which all of the table's resources are verified. */
  through: string | null;
}

/**
 * Opens a table for reading by month. Must be called inside `withReadTransaction`.
 * @param options.manyBrands true for a Delta table with a brand column
 */
export function openMonthlyRows(
  mirror: Mirror,
  table: ReadableTable,
  { manyBrands = false }: { manyBrands?: boolean } = {},
): MonthlyRows {
  const { name, date } = table;
  const partitionColumns = [...(manyBrands ? [brandColumn] : []), ...(date ? ["month"] : [])];
  const columns = table.columns.filter(
    (column) => !column.isOmittedByDefault && !partitionColumns.includes(column.name.toLowerCase()),
  );
  const dateSql = table.columns.some((column) => column.name === "month") ? "month" : date?.sql;
  const monthSql = date
    ? `iif(${dateSql} GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]*', substr(${dateSql}, 1, 7), '')`
    : "''";
  const values = [...columns.map((column) => `t.${quote(column.name)}`), monthSql];
  return {
    name,
    columns,
    partitionColumns,
    manyBrands,
    mirrorState: loadMirrorState(mirror, name),
    readDates: loadReadDates(mirror, name),
    batches(month) {
      const where = month === undefined ? undefined : `${monthSql} = '${month}'`;
      return loadRows({ mirror, table, where }, values);
    },
  };
}

function loadMirrorState(mirror: Mirror, table: string): MirrorState {
  const names = shapesReadBy(table).map(({ resource }) => syncingResource(resource).name);
  const runs = names.flatMap((name) => findLastRun(mirror, name) ?? []);
  const runId = Math.max(0, ...runs.map(({ run_id }) => run_id));
  const through =
    names.map((name) => findLastVerifiedUpToDateSync(mirror, name)?.started_at ?? "").sort()[0] || null;
  const verified = through !== null && runs.every((one) => one.verified && one.error === null);
  return { brand: loadOwner(mirror)?.id ?? null, run: runId, verified, through };
}
