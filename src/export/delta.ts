import { hash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError, MirrorBusy } from "../errors.js";
import type { MirrorState, MonthlyRows } from "../query/monthly-rows.js";
import { createFolder, pathExists } from "../util/files.js";
import { parseJson } from "../util/json-value.js";
import { errorCode } from "../util/system-errors.js";
import { formatCount, pluralize } from "../util/text.js";
import { readVersion } from "../version.js";
import { linkExclusive, syncFolder } from "./durable-files.js";
import { type ColumnType, findTypes, readDigest, writeParquetFile } from "./parquet.js";
import { openFileSink, writeAll } from "./sinks.js";

/** The highest versions of the Delta protocol that this program can read and write. */
const readerVersion = 1;
const writerVersion = 2;

/** The members of a log line that this program reads. Times are milliseconds since 1970. */
interface Action {
  /** `mirror` is this program's own member. */
  commitInfo?: { mirror?: MirrorState & { rows: number } };
  protocol?: { minReaderVersion: number; minWriterVersion: number };
  metaData?: { id: string; schemaString: string };
  add?: { path: string; partitionValues: { month?: string | null } };
  remove?: { path: string; deletionTimestamp: number };
}

/** A Delta table as its log describes it. */
export interface DeltaLog {
  folder: string;
  /** The name of the mirror's table. */
  table: string;
  /** The newest version; -1 for a table that does not exist. */
  version: number;
  /** The state of the mirror at the newest version. */
  mirror: (MirrorState & { rows: number }) | undefined;
  metaData: Action["metaData"];
  /** The current file of each month; `""` for rows without a month. */
  files: ReadonlyMap<string, string>;
  /** The times at which files of older versions were removed, by path. */
  removedFiles: ReadonlyMap<string, number>;
}

/** Reads the log of a table. @throws ConfigurationError if it is damaged, from another program, or of a newer protocol */
export function readDeltaLog(folder: string): DeltaLog {
  const path = join(folder, "_delta_log");
  const names = pathExists(path) ? readdirSync(path).filter((name) => /^\d{20}\.json$/.test(name)) : [];
  const lines = names.sort().flatMap((name) => readFileSync(join(path, name), "utf8").trim().split("\n"));
  const actions = lines.flatMap((line) => parseJson<Action>(line) ?? []);
  if (actions.length < lines.length) throw rejectDeltaTable(folder, "has a damaged version");
  const isNewer = ({ protocol }: Action) =>
    protocol && (protocol.minReaderVersion > readerVersion || protocol.minWriterVersion > writerVersion);
  if (actions.some(isNewer))
    throw rejectDeltaTable(
      folder,
      `needs a newer protocol than reader ${readerVersion} and writer ${writerVersion}`,
    );
  const mirrorStates = actions.flatMap(({ commitInfo }) => commitInfo?.mirror ?? []);
  const version = Number.parseInt(names.at(-1) ?? "-1", 10);
  if (mirrorStates.length !== version + 1)
    throw rejectDeltaTable(folder, "lacks a version, or has one that another program has written");

  const removals = actions.flatMap(({ remove }) => remove ?? []);
  const removedFiles = new Map(removals.map((remove) => [remove.path, remove.deletionTimestamp]));
  const adds = actions.flatMap(({ add }) => (add && !removedFiles.has(add.path) ? add : []));
  return {
    folder,
    table: basename(folder),
    version,
    mirror: mirrorStates.at(-1),
    metaData: actions.findLast((action) => action.metaData)?.metaData,
    files: new Map(adds.map((add) => [add.partitionValues.month ?? "", add.path])),
    removedFiles,
  };
}

const defaultHint = "choose a different folder with `--delta`; this one was not changed";

/** Returns the error for a Delta table that this program cannot use. */
export function rejectDeltaTable(folder: string, reason: string, hint = defaultHint): ConfigurationError {
  return new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
}

/** The differences between the mirror's table and the newest version of the Delta table. */
export interface MonthComparison {
  types: readonly ColumnType[];
  rows: number;
  /** The digest of each month's rows in the mirror. */
  digests: ReadonlyMap<string, string>;
  schema: { schemaString: string; partitionColumns: readonly string[] };
  isNewSchema: boolean;
  /** The months to write; `""` for rows without a month. All months if the schema is new. */
  differing: string[];
}

/** Reads the mirror's table once and compares each month with the digest in the footer of its file. */
export async function compareMonths(
  { columns, partitionColumns, rows, mirrorState }: MonthlyRows,
  log: DeltaLog,
): Promise<MonthComparison> {
  const { folder, files, metaData, mirror = mirrorState } = log;
  if (mirror.brand !== mirrorState.brand) throw rejectDeltaTable(folder, "belongs to a different brand");
  const digests = new Map<string, string>();
  let count = 0;
  const types = findTypes(columns, rows(), (row) => {
    const month = String(row.at(-1));
    digests.set(month, hash("sha256", (digests.get(month) ?? "") + JSON.stringify(row)));
    count += 1;
  });
  const fields = [...columns.map(({ name }) => name), ...partitionColumns].map((name, index) => {
    return { name, type: types[index]?.delta ?? "string", nullable: true, metadata: {} };
  });
  const schemaString = JSON.stringify({ type: "struct", fields });
  const isNewSchema = schemaString !== metaData?.schemaString;
  const differing: string[] = [];
  for (const month of new Set([...files.keys(), ...digests.keys()].sort())) {
    const digest = await readDigest(join(folder, files.get(month) ?? ""));
    if (isNewSchema || !digest || digest !== digests.get(month)) differing.push(month);
  }
  return { types, rows: count, digests, schema: { schemaString, partitionColumns }, isNewSchema, differing };
}

/**
 * Adds a version with the months that changed, if there are any. Returns a summary of what it wrote.
 * @param log read before the mirror was opened: otherwise an older state of the mirror could follow a newer one
 */
export async function exportDeltaTable(source: MonthlyRows, log: DeltaLog, deps: Deps): Promise<string> {
  const { folder, files, metaData: oldMetaData } = log;
  const comparison = await compareMonths(source, log);
  const { rows, digests, schema, isNewSchema, differing } = comparison;
  if (differing.length === 0 && !isNewSchema) return "nothing has changed";
  const at = deps.clock.now();
  const engineInfo = `brandapi/${readVersion()}`;
  const mirror = { ...source.mirrorState, rows };
  const table = { id: oldMetaData?.id ?? randomUUID(), format: { provider: "parquet", options: {} } };
  const actions: object[] = [{ commitInfo: { timestamp: at, operation: "WRITE", engineInfo, mirror } }];
  if (!oldMetaData)
    actions.push({ protocol: { minReaderVersion: readerVersion, minWriterVersion: writerVersion } });
  if (isNewSchema) actions.push({ metaData: { ...table, ...schema, configuration: {} } });
  createFolder(join(folder, "_delta_log"));

  const adds: { path: string; [member: string]: unknown }[] = [];
  try {
    for (const month of differing) {
      const oldPath = files.get(month);
      const digest = digests.get(month);
      if (oldPath) actions.push({ remove: { path: oldPath, deletionTimestamp: at, dataChange: true } });
      if (!digest) continue;
      const path = join(month && `month=${month}`, `part-${randomUUID()}.parquet`);
      const { size, numRecords } = await writeMonth(
        source,
        month,
        digest,
        comparison.types,
        join(folder, path),
        deps,
      );
      const partitionValues = source.partitionColumns.length > 0 ? { month: month || null } : {};
      const stats = JSON.stringify({ numRecords });
      adds.push({ path, partitionValues, size, stats, modificationTime: at, dataChange: true });
    }
    await syncFolder(folder);
    await commitVersion(log, [...actions, ...adds.map((add) => ({ add }))], deps);
  } catch (error) {
    // No version refers to these files, and they would keep a full disk full.
    for (const { path } of adds) rmSync(join(folder, path), { force: true });
    throw error;
  }
  return `version ${log.version + 1}, ${pluralize(rows, "row", formatCount)}, months written: ${differing.length}`;
}

async function writeMonth(
  source: MonthlyRows,
  month: string,
  digest: string,
  types: readonly ColumnType[],
  path: string,
  deps: Deps,
): Promise<{ size: number; numRecords: number }> {
  let numRecords = 0;
  function* writeData(): Iterable<Uint8Array | string> {
    for (const { data, rows } of writeParquetFile(source, types, source.rows(month), digest)) {
      numRecords += rows;
      yield data;
    }
  }
  createFolder(dirname(path));
  const { bytes } = await writeAll(writeData(), await openFileSink(path, deps));
  return { size: bytes, numRecords };
}

/** Adds a version to the log. @throws MirrorBusy if another export has added it first */
export async function commitVersion(log: DeltaLog, actions: readonly object[], deps: Deps): Promise<void> {
  const path = join(log.folder, "_delta_log", `${String(log.version + 1).padStart(20, "0")}.json`);
  const lines = actions.map((action) => `${JSON.stringify(action)}\n`);
  const link = (from: string, to: string) => linkExclusive(from, to, deps.clock.now());
  await writeAll(lines, await openFileSink(path, deps, link)).catch((cause: Error) => {
    if (!existsSync(path) && errorCode(cause.cause) !== "EEXIST") throw cause;
    throw new MirrorBusy(`Another export added a version first: ${path}`, {
      hint: "run the same command again",
      cause,
    });
  });
}

/** Removes files that no version since a time has used, including those of killed exports. */
export function removeUnusedFiles({ folder, files, removedFiles }: DeltaLog, since: number): void {
  const written =
    /^(_delta_log\/\.\d{20}\.json\..+\.part|(month=[\d-]+\/)?\.?part-[\da-f-]{36}\.parquet[^/]*)$/;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!written.test(name) || [...files.values()].includes(name)) continue;
    const path = join(folder, name);
    const unusedSince = removedFiles.get(name) ?? statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since;
    if (unusedSince < since) rmSync(path, { force: true });
  }
}
