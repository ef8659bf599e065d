import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Deps } from "../../deps.js";
import { MirrorBusy } from "../../errors.js";
import { brandColumn, type MonthlyRows } from "../../query/monthly-rows.js";
import type { Row } from "../../query/rows.js";
import { createFolder } from "../../util/files.js";
import { formatCount, pluralize } from "../../util/text.js";
import { readVersion as readProgramVersion } from "../../version.js";
import { syncFolder } from "../durable-files.js";
import type { Chunk } from "../formats.js";
import { openParquetFile, ParquetEncoder, typeOfDelta, writeParquetFile } from "../parquet.js";
import { openFileSink, writeAll } from "../sinks.js";
import { compareWithMirror, type Field, findRetyped, type TableComparison } from "./compare.js";
import { commitVersion, type DeltaLog, readDeltaLog } from "./log.js";
import {
  type Action,
  type DataFile,
  logPath,
  partitionFolder,
  protocol,
  rejectDeltaTable,
} from "./log-files.js";

/** How often an export starts over because another brand has changed the schema of the table. */
const maxAttempts = 10;

/**
 * Adds a version with the months that changed, if there are any. Returns a summary of what it wrote.
 * @param log read before the mirror was opened: otherwise an older state of the mirror could follow a newer one
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

/** Returns undefined if the schema of the table was changed in the meantime. */
async function tryExport(source: MonthlyRows, log: DeltaLog, deps: Deps): Promise<string | undefined> {
  const { folder, metaData } = log;
  const comparison = await compareWithMirror(source, log);
  const { differing, fields, files, oldFields, rows } = comparison;
  const schemaString = JSON.stringify({ type: "struct", fields });
  if (differing.length === 0 && schemaString === metaData?.schemaString) return "nothing has changed";

  const at = deps.clock.now();
  const { mirrorState, partitionColumns } = source;
  const commitInfo = {
    timestamp: at,
    operation: "WRITE",
    engineInfo: `brandapi/${readProgramVersion()}`,
    mirror: { ...mirrorState, rows },
  };
  const actions: Action[] = [{ commitInfo }];
  if (!metaData) actions.push({ protocol });
  if (schemaString !== metaData?.schemaString) {
    const id = metaData?.id ?? randomUUID();
    const format = { provider: "parquet", options: {} };
    actions.push({ metaData: { id, format, schemaString, partitionColumns, configuration: {} } });
  }
  createFolder(logPath(folder));

  const retyped = new Set(findRetyped(oldFields, fields));
  const ownPaths = new Set([...files.values()].map(({ path }) => path));
  const others = retyped.size > 0 ? [...log.files.values()].filter(({ path }) => !ownPaths.has(path)) : [];
  const written: DataFile[] = [];
  let version: number | undefined;
  try {
    const removed = differing.flatMap((month) => files.get(month) ?? []);
    for (const month of differing)
      if (comparison.digests.has(month))
        written.push(await writeMonth(source, month, comparison, log, at, deps));
    for (const file of others) {
      const converted = await convertFile(file, retyped, comparison, log, at, deps);
      if (!converted) continue;
      removed.push(file);
      written.push(converted);
    }
    for (const { path } of removed)
      actions.push({ remove: { path, deletionTimestamp: at, dataChange: true } });
    for (const add of written) actions.push({ add });
    await syncFolder(folder);
    const manyBrands = partitionColumns.includes(brandColumn);
    version = await commitVersion(log, actions, { brand: mirrorState.brand, manyBrands }, deps);
  } finally {
    // No version refers to these files, and they would keep a full disk full.
    if (version === undefined) for (const { path } of written) rmSync(join(folder, path), { force: true });
  }
  if (version === undefined) return undefined;
  return `version ${version}, ${pluralize(rows, "row", formatCount)}, months written: ${differing.length}`;
}

/** Writes the file of a month. */
async function writeMonth(
  source: MonthlyRows,
  month: string,
  { columns, digests, types }: TableComparison,
  { folder }: DeltaLog,
  at: number,
  deps: Deps,
): Promise<DataFile> {
  const { mirrorState, name, partitionColumns } = source;
  const partitionValues = Object.fromEntries(
    partitionColumns.map((column) => [column, column === brandColumn ? mirrorState.brand : month || null]),
  );
  const path = createFilePath(partitionValues);
  const encode = () => writeParquetFile({ name, columns }, types, source.rows(month), digests.get(month));
  const stored = await writeFile(encode, join(folder, path), deps);
  return { path, partitionValues, ...stored, modificationTime: at, dataChange: true };
}

/**
 * Writes a file of another brand with the new types of its columns, because all files of a Delta table have the same types. Its
 * footer has no digest, so the next export of that brand writes the file from the mirror.
 * @returns undefined if the file has none of these columns
 */
async function convertFile(
  { partitionValues, path: oldPath }: DataFile,
  retyped: ReadonlySet<string>,
  { fields, oldFields }: TableComparison,
  { folder, table }: DeltaLog,
  at: number,
  deps: Deps,
): Promise<DataFile | undefined> {
  const file = await openParquetFile(join(folder, oldPath)).catch(() => {
    throw rejectDeltaTable(
      folder,
      `has a missing or damaged file, ${oldPath}`,
      "export the brand of this file again",
    );
  });
  if (!file.columns.some((name) => retyped.has(name))) return undefined;
  const typesIn = (list: readonly Field[]) => {
    const typeNames = new Map(list.map(({ name, type }) => [name, type]));
    return file.columns.map((name) => typeOfDelta(typeNames.get(name) ?? "string"));
  };
  const oldTypes = typesIn(oldFields);
  const encoder = new ParquetEncoder(
    table,
    file.columns.map((name) => ({ name })),
    typesIn(fields),
  );
  async function* convertRows(): AsyncIterable<Chunk> {
    for await (const group of file.rowGroups())
      yield* encoder.add(
        group.map(
          (stored): Row =>
            oldTypes.map((type, index) => {
              const value = stored[index] ?? null;
              return value === null ? null : type.revert(value);
            }),
        ),
      );
    yield encoder.finish();
  }
  const path = createFilePath(partitionValues);
  const stored = await writeFile(convertRows, join(folder, path), deps);
  return { path, partitionValues, ...stored, modificationTime: at, dataChange: true };
}

/** Returns a path that is never used again. */
function createFilePath(partitionValues: DataFile["partitionValues"]): string {
  const folders = Object.entries(partitionValues).flatMap(([column, value]) =>
    value ? partitionFolder(column, value) : [],
  );
  return [...folders, `part-${randomUUID()}.parquet`].join("/");
}

/**
 * Writes a Parquet file and returns what the log has to know about it.
 * @param encode called when the file is open, because an unread SQLite statement would block the connection
 */
async function writeFile(
  encode: () => Iterable<Chunk> | AsyncIterable<Chunk>,
  path: string,
  deps: Deps,
): Promise<Pick<DataFile, "size" | "stats">> {
  let numRecords = 0;
  async function* writeData(): AsyncIterable<Uint8Array | string> {
    for await (const { data, rows } of encode()) {
      numRecords += rows;
      yield data;
    }
  }
  createFolder(dirname(path));
  const { bytes } = await writeAll(writeData(), await openFileSink(path, deps));
  return { size: bytes, stats: JSON.stringify({ numRecords }) };
}
