import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../../errors.js";
import { brandColumn, type MirrorState } from "../../query/monthly-rows.js";
import { pathExists } from "../../util/files.js";
import { parseJson } from "../../util/json-value.js";

/** The versions of the Delta protocol that this program reads and writes. */
export const protocol = { minReaderVersion: 1, minWriterVersion: 2 };

/** An action of the Delta protocol with the members that this program uses. Times are milliseconds since 1970. */
export interface Action {
  /** `mirror` is not part of the Delta protocol. */
  commitInfo?: { timestamp: number; mirror?: MirrorState & { rows: number }; [member: string]: unknown };
  protocol?: typeof protocol;
  metaData?: MetaData;
  add?: DataFile;
  remove?: { path: string; deletionTimestamp: number; dataChange: boolean };
}

export interface MetaData {
  id: string;
  format: { provider: string; options: Record<string, string> };
  schemaString: string;
  partitionColumns: readonly string[];
  configuration: Record<string, string>;
}

/** A data file, as described by the action `add`. */
export interface DataFile {
  /** Relative to the folder of the table. */
  path: string;
  partitionValues: { brand_id?: string; month?: string | null };
  size: number;
  modificationTime: number;
  dataChange: boolean;
  /** JSON with the member `numRecords`. */
  stats: string;
}

/** The state of a brand's mirror when the brand last wrote to the table. */
export interface BrandState extends MirrorState {
  /** The newest version that the brand has written. */
  version: number;
  rows: number;
}

/** Returns the name of a brand's folder in a table of many brands. */
export function brandFolder(brand: string | null): string {
  return partitionFolder(brandColumn, brand ?? "");
}

/** Returns the folder name of a partition. Readers of the table ignore it and take the value from the log. */
export function partitionFolder(column: string, value: string): string {
  return `${column}=${value.replace(/[^\w-]/g, "_")}`;
}

/** Returns the names of the files in the log's folder. */
export function listLog(folder: string): string[] {
  const path = logPath(folder);
  return pathExists(path) ? readdirSync(path).sort() : [];
}

/** Returns the path of a file in the log. */
export function logPath(folder: string, name = ""): string {
  return join(folder, "_delta_log", name);
}

export function versionName(version: number): string {
  return String(version).padStart(20, "0");
}

/** Returns the versions of the files in the log with this extension, in ascending order. */
export function versionsOf(names: readonly string[], extension: ".json" | ".checkpoint.parquet"): number[] {
  return names
    .filter((name) => /^\d{20}\./.test(name) && name.slice(20) === extension)
    .map((name) => Number.parseInt(name, 10));
}

/** Reads the actions of one version. */
export function readVersion(folder: string, version: number): Action[] {
  const text = readFileSync(logPath(folder, `${versionName(version)}.json`), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const action = parseJson<Action>(line);
      if (!action) throw rejectDeltaTable(folder, "has a damaged version");
      return action;
    });
}

const defaultHint = "choose a different folder with `--delta`; this one was not changed";

/** Returns the error for a Delta table that this program cannot use. */
export function rejectDeltaTable(folder: string, reason: string, hint = defaultHint): ConfigurationError {
  return new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
}
