import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../errors.js";
import { pathExists } from "../util/files.js";
import { parseJson } from "../util/json-value.js";
import { brandColumn, type MirrorState } from "./monthly-rows.js";
import type { StoredDates } from "./read-dates.js";

/** The versions of the Delta protocol that this program reads and writes. */
export const protocol = { minReaderVersion: 1, minWriterVersion: 2 };

/** An action in the Delta protocol. Times are in milliseconds since the Unix epoch. */
export interface Action {
  /** This program adds `mirror`, which is not part of the Delta protocol. */
  commitInfo?: { timestamp: number; mirror?: ExportedState; [member: string]: unknown };
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

export interface DataFile {
  path: string;
  partitionValues: { brand_id?: string; month?: string | null };
  size: number;
  modificationTime: number;
  dataChange: boolean;
  /** The file's statistics: a JSON object with a `numRecords` key. */
  stats: string;
}

/** The state of a brand's mirror when the brand was exported to the table. */
interface ExportedState extends MirrorState {
  rows: number;
  /** Undefined if version 0.1.0 exported the brand. */
  dates?: StoredDates;
}

/** The state of a brand's mirror when the brand was last exported to the table. */
export interface BrandState extends ExportedState {
  /** The newest version that an export of this brand has added. */
  version: number;
}

export function brandFolder(brand: string | null): string {
  return partitionFolder(brandColumn, brand ?? "");
}

/** Returns the name of a partition's folder. Readers ignore this name and take the partition's values from the log. */
export function partitionFolder(column: string, value: string): string {
  return `${column}=${value.replace(/[^\w-]/g, "_")}`;
}

export function listLog(folder: string): string[] {
  const path = logPath(folder);
  return pathExists(path) ? readdirSync(path).sort() : [];
}

export function logPath(folder: string, name = ""): string {
  return join(folder, "_delta_log", name);
}

export function versionName(version: number): string {
  return String(version).padStart(20, "0");
}

/** Returns the versions that have a file with the given extension, in ascending order. */
export function parseVersions(
  names: readonly string[],
  extension: ".json" | ".checkpoint.parquet",
): number[] {
  return names
    .filter((name) => /^\d{20}\./.test(name) && name.slice(20) === extension)
    .map((name) => Number.parseInt(name, 10));
}

export function readLogVersion(folder: string, version: number): Action[] {
  const text = readFileSync(logPath(folder, `${versionName(version)}.json`), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const action = parseJson<Action>(line);
      if (!action) throw createDeltaTableError(folder, "has a damaged version");
      return action;
    });
}

const defaultHint = "choose a different folder with `--delta`; this one has not been changed";

export function createDeltaTableError(
  folder: string,
  reason: string,
  hint = defaultHint,
): ConfigurationError {
  return new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
}
