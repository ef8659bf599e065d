import { createRequire } from "node:module";
import { join } from "node:path";
import { hasManyBrands, readDeltaLog } from "../../src/delta/log.js";
import { askDuckDb } from "../support/duckdb.js";

export interface LakeReader {
  name: string;
  /** True if the engine can read an older version of a table. */
  readsVersions: boolean;
  /**
   * Runs SQL in which `TABLE` is a placeholder for the table, and returns the rows as text.
   * @param version the version to read; by default, the newest
   */
  query(table: string, sql: string, version?: number): Promise<string[][]>;
}

/**
 * Opens ClickHouse, which reads Delta tables with delta-kernel, if the `CHDB` environment variable names a
 * `node_modules` folder that contains the `chdb` package. Otherwise, opens DuckDB, which reads the files listed by
 * `readDeltaLog`.
 */
export function openLakeReader(folder: string): LakeReader {
  const modules = process.env.CHDB;
  if (modules === undefined) return duckDbReader;
  // ClickHouse reads only files below the working directory.
  process.chdir(folder);
  const chdb = createRequire(join(modules, "x.js"))("chdb") as { query(sql: string, format: string): string };
  return {
    name: "ClickHouse",
    readsVersions: true,
    async query(table, sql, version) {
      const settings = version === undefined ? "" : ` SETTINGS delta_lake_snapshot_version = ${version}`;
      const text = chdb.query(
        sql.replace("TABLE", `deltaLakeLocal('${table}')`) + settings,
        "JSONCompactEachRow",
      );
      return text.split("\n").flatMap((line) => (line === "" ? [] : [toText(JSON.parse(line) as unknown[])]));
    },
  };
}

const duckDbReader: LakeReader = {
  name: "DuckDB",
  readsVersions: false,
  async query(table, sql) {
    const log = await readDeltaLog(table);
    const files = [...log.files.values()].map(({ partitionValues: { brand_id = "", month }, path }) => {
      const brand = hasManyBrands(log) ? `, '${brand_id}' AS brand_id` : "";
      const partition = month === undefined ? "" : `, ${month === null ? "NULL" : `'${month}'`} AS month`;
      return `SELECT *${brand}${partition} FROM read_parquet('${join(table, path)}', hive_partitioning = false)`;
    });
    const rows = await askDuckDb(sql.replace("TABLE", `(${files.join(" UNION ALL BY NAME ")})`));
    return rows.map((row) => toText(Object.values(row)));
  },
};

/** Engines represent large integers differently, so values are compared as text. */
export function toText(values: readonly unknown[]): string[] {
  return values.map((value) => (value === null ? "" : String(value)));
}
