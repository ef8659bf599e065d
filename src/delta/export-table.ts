import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Deps } from "../deps.js";
import { MirrorBusy } from "../errors.js";
import type { Chunk } from "../export/formats.js";
import { type ColumnType, encodeParquet, ParquetEncoder, typeOfDelta } from "../export/parquet.js";
import { syncFolder, writeToFile } from "../export/write-output.js";
import type { Row } from "../query/open-rows.js";
import { createFolder } from "../util/files.js";
import { pluralize } from "../util/format-text.js";
import { allTime, clipRanges, monthRange, subtractRanges } from "../util/time-ranges.js";
import { readVersion as readProgramVersion } from "../version.js";
import { compareWithMirror, type DeltaComparison, type DeltaField, listRetypedColumns } from "./compare.js";
import { commitVersion, type DeltaLog, readDeltaLog } from "./log.js";
import {
  type Action,
  createDeltaTableError,
  type DataFile,
  logPath,
  partitionFolder,
  protocol,
} from "./log-files.js";
import { brandColumn, type MonthlyRows } from "./monthly-rows.js";
import { digestKey, openParquetFile } from "./parquet-file.js";
import { parseStoredDates, toStoredDates } from "./read-dates.js";

/** The maximum number of attempts if exports of other brands keep changing the schema. */
const maxAttempts = 10;

/**
 * Adds a version with the changed months to a Delta table. Returns a summary.
 * @param log the table's log, which must have been read before the mirror was opened, so that the mirror cannot be
 * older than the log
 * @throws ConfigurationError, MirrorBusy
 */
export async function exportDeltaTable(source: MonthlyRows, log: DeltaLog, deps: Deps): Promise<string> {
  const { brand } = source.mirrorState;
  const ownVersion = log.brands.get(brand)?.version;
  let newestLog = log;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const summary = await tryExport(source, newestLog, deps);
    if (summary !== undefined) return summary;
    newestLog = await readDeltaLog(log.folder);
    if (newestLog.brands.get(brand)?.version !== ownVersion) break;
  }
  throw new MirrorBusy(`Other exports keep changing the Delta table: ${log.folder}`, {
    hint: "run the same command again",
  });
}

interface FileContext {
  folder: string;
  nowMs: number;
  deps: Deps;
}

/**
 * Makes one attempt to export. Returns undefined if another brand's export has changed the schema since the log was
 * read.
 */
async function tryExport(source: MonthlyRows, log: DeltaLog, deps: Deps): Promise<string | undefined> {
  const { folder } = log;
  const comparison = await compareWithMirror(source, log);
  const { differing, files, months } = comparison;
  const rows = [...months.values()].reduce((sum, month) => sum + month.rows, 0);
  const schemaActions = createSchemaActions(source, log, comparison);
  if (differing.length === 0 && schemaActions.length === 0) return "nothing has changed";
  refuseUnreadMonths(source, log, comparison);

  const nowMs = deps.clock.now();
  const context = { folder, nowMs, deps };
  const removed = differing.flatMap((month) => files.get(month) ?? []);
  const added: DataFile[] = [];
  let version: number | undefined;
  createFolder(logPath(folder));
  try {
    for (const month of differing)
      if (months.has(month)) added.push(await writeMonth(source, month, comparison, context));
    for (const file of filesOfOthers(log, comparison)) {
      const converted = await convertFile(file, log.table, comparison, context);
      if (!converted) continue;
      removed.push(file);
      added.push(converted);
    }
    await syncParentFolders(folder, added);
    const actions = [
      createCommitInfo(source, rows, nowMs),
      ...schemaActions,
      ...removed.map(({ path }) => ({ remove: { path, deletionTimestamp: nowMs, dataChange: true } })),
      ...added.map((add) => ({ add })),
    ];
    const { manyBrands, mirrorState } = source;
    version = await commitVersion(log, actions, { brand: mirrorState.brand, manyBrands }, deps);
  } finally {
    // Delete the new files. On a full disk, they would make the next export fail as well.
    if (version === undefined) for (const { path } of added) rmSync(join(folder, path), { force: true });
  }
  if (version === undefined) return undefined;
  return `version ${version}, ${pluralize(rows, "row")}, months written: ${differing.length}`;
}

/**
 * Refuses to remove or replace rows with dates that an earlier export's mirror had read, but this mirror has not.
 * @throws ConfigurationError
 */
function refuseUnreadMonths(
  { mirrorState, readDates }: MonthlyRows,
  { brands, folder }: DeltaLog,
  { differing, files, months }: DeltaComparison,
): void {
  const stored = brands.get(mirrorState.brand)?.dates;
  for (const month of differing.filter((each) => files.has(each))) {
    const range = month === "" ? allTime : monthRange(month);
    // Version 0.1.0 did not store the dates. In its tables, only months that would disappear are considered unread.
    const disappears = month !== "" && !months.has(month);
    for (const { floor, ranges, readableUntil, resource } of readDates) {
      const exported = stored ? parseStoredDates(stored, resource) : disappears ? [allTime] : [];
      const readable = { from: range.from, to: Math.min(range.to, readableUntil) };
      const [unread] = subtractRanges(clipRanges(exported, readable), ranges);
      if (!unread) continue;
      const full = floor !== null && unread.from < floor ? " --full" : "";
      throw createDeltaTableError(
        folder,
        `contains data${month && ` for ${month}`} that the mirror has not read`,
        `run \`brandapi sync ${resource}${full}\`, or choose a different folder with \`--delta\``,
      );
    }
  }
}

function createSchemaActions(
  { partitionColumns }: MonthlyRows,
  { metaData }: DeltaLog,
  { fields }: DeltaComparison,
): Action[] {
  const schemaString = JSON.stringify({ type: "struct", fields });
  if (schemaString === metaData?.schemaString) return [];
  const id = metaData?.id ?? randomUUID();
  const format = { provider: "parquet", options: {} };
  const schema = { metaData: { id, format, schemaString, partitionColumns, configuration: {} } };
  return metaData ? [schema] : [{ protocol }, schema];
}

function createCommitInfo({ mirrorState, readDates }: MonthlyRows, rows: number, nowMs: number): Action {
  const engineInfo = `brandapi/${readProgramVersion()}`;
  const mirror = { ...mirrorState, rows, dates: toStoredDates(readDates) };
  return { commitInfo: { timestamp: nowMs, operation: "WRITE", engineInfo, mirror } };
}

/** Flushes the parents of the partition folders to disk, so that new partition folders survive a power failure. */
async function syncParentFolders(folder: string, files: readonly DataFile[]): Promise<void> {
  const parents = new Set(files.map(({ path }) => dirname(join(folder, dirname(path)))));
  for (const parent of new Set([folder, ...parents])) await syncFolder(parent);
}

async function writeMonth(
  source: MonthlyRows,
  month: string,
  { columns, months, types }: DeltaComparison,
  context: FileContext,
): Promise<DataFile> {
  const { mirrorState, name, partitionColumns } = source;
  const partitionValues = Object.fromEntries(
    partitionColumns.map((column) => [column, column === brandColumn ? mirrorState.brand : month || null]),
  );
  const { rows, digest } = months.get(month) ?? { rows: 0, digest: "" };
  const footer = [{ key: digestKey, value: digest }];
  const encode = () => encodeParquet({ name, columns }, types, source.batches(month), footer);
  const stats = JSON.stringify({ numRecords: rows });
  return await writeFile({ partitionValues, stats }, encode, context);
}

/** Returns other brands' files that must be converted because a column's type changes. */
function filesOfOthers(log: DeltaLog, { fields, files, oldFields }: DeltaComparison): DataFile[] {
  if (listRetypedColumns(oldFields, fields).length === 0) return [];
  const ownPaths = new Set([...files.values()].map(({ path }) => path));
  return [...log.files.values()].filter(({ path }) => !ownPaths.has(path));
}

/**
 * Rewrites another brand's file, because a column must have the same type in all files of a Delta table. The new file
 * has no digest, so the next export of that brand replaces it.
 * @returns undefined if no column in the file changes its type
 */
async function convertFile(
  { partitionValues, path, stats }: DataFile,
  table: string,
  { fields, oldFields }: DeltaComparison,
  context: FileContext,
): Promise<DataFile | undefined> {
  const { folder } = context;
  const file = await openParquetFile(join(folder, path)).catch(() => {
    const reason = `cannot be updated, because its file ${path} is missing or damaged`;
    throw createDeltaTableError(folder, reason, "re-export the brand that this file belongs to");
  });
  const retyped = new Set(listRetypedColumns(oldFields, fields));
  if (!file.columns.some((name) => retyped.has(name))) return undefined;
  const oldTypes = typesOf(file.columns, oldFields);
  const columns = file.columns.map((name) => ({ name }));
  async function* encode(): AsyncIterable<Chunk> {
    const encoder = new ParquetEncoder(table, columns, typesOf(file.columns, fields));
    for await (const group of file.rowGroups())
      yield* encoder.add(group.map((stored) => revertRow(stored, oldTypes)));
    yield encoder.finish();
  }
  return await writeFile({ partitionValues, stats }, encode, context);
}

function typesOf(columns: readonly string[], fields: readonly DeltaField[]): ColumnType[] {
  const typeNames = new Map(fields.map(({ name, type }) => [name, type]));
  return columns.map((name) => typeOfDelta(typeNames.get(name) ?? "string"));
}

function revertRow(stored: readonly unknown[], types: readonly ColumnType[]): Row {
  return types.map((type, index) => {
    const value = stored[index] ?? null;
    return value === null ? null : type.revert(value);
  });
}

/**
 * Writes a Parquet file under a unique name.
 * @param encode called only after the file has been opened, because the SQLite statement that it runs blocks the
 * connection
 */
async function writeFile(
  { partitionValues, stats }: Pick<DataFile, "partitionValues" | "stats">,
  encode: () => Iterable<Chunk> | AsyncIterable<Chunk>,
  { nowMs, deps, folder }: FileContext,
): Promise<DataFile> {
  const folders = Object.entries(partitionValues).flatMap(([column, value]) =>
    value ? partitionFolder(column, value) : [],
  );
  const path = [...folders, `part-${randomUUID()}.parquet`].join("/");
  createFolder(dirname(join(folder, path)));
  const { bytes } = await writeToFile(encode(), join(folder, path), deps);
  return { path, partitionValues, size: bytes, stats, modificationTime: nowMs, dataChange: true };
}
