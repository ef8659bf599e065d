import { hash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Deps, readVersion } from "../deps.js";
import { ConfigurationError, MirrorBusy } from "../errors.js";
import type { MonthlyRows } from "../query/monthly-rows.js";
import { createFolder, pathExists } from "../util/files.js";
import { parseJson } from "../util/json-value.js";
import { errorCode } from "../util/system-errors.js";
import { findTypes, readDigest, writeParquetFile } from "./parquet.js";
import { linkExclusive, openFileSink, syncFolder, writeAll } from "./sinks.js";

/** A line of a version, as far as it is read. Only this program writes `mirror`. Times are milliseconds since 1970. */
interface Action {
  commitInfo?: { mirror?: MonthlyRows["mirrorState"] & { rows: number } };
  protocol?: { minReaderVersion: number; minWriterVersion: number };
  metaData?: { id: string; schemaString: string };
  add?: { path: string; partitionValues: { month?: string | null } };
  remove?: { path: string; deletionTimestamp: number };
}

/** A table's newest version (-1: none): the file of each month, and when each file of older versions was removed. */
export type DeltaLog = ReturnType<typeof readDeltaLog>;

/** Reads a table's log. @throws ConfigurationError if something else has written it, or it needs a newer protocol */
export function readDeltaLog(folder: string) {
  const path = join(folder, "_delta_log");
  const names = pathExists(path) ? readdirSync(path).filter((name) => /^\d{20}\.json$/.test(name)) : [];
  const lines = names.sort().flatMap((name) => readFileSync(join(path, name), "utf8").trim().split("\n"));
  const actions = lines.flatMap((line) => parseJson<Action>(line) ?? []);
  rejectTable(actions.length < lines.length, folder, "has a damaged version");
  const own = actions.flatMap(({ commitInfo }) => commitInfo?.mirror ?? []);
  const version = Number.parseInt(names.at(-1) ?? "-1", 10);
  const isNewer = actions.some(({ protocol: p }) => p && (p.minReaderVersion > 1 || p.minWriterVersion > 2));
  rejectTable(isNewer, folder, "needs a newer protocol than reader 1 and writer 2");
  rejectTable(
    own.length !== version + 1,
    folder,
    "lacks a version, or has one that something else has written",
  );
  const removed = new Map(actions.map(({ remove }) => [remove?.path, remove?.deletionTimestamp]));
  const adds = actions.flatMap(({ add }) => (add && !removed.has(add.path) ? add : []));
  const files = new Map(adds.map((add) => [add.partitionValues.month ?? "", add.path]));
  const metaData = actions.findLast((action) => action.metaData)?.metaData;
  return { folder, table: basename(folder), version, mirror: own.at(-1), metaData, files, removed };
}

const elsewhere = "name a different folder with `--delta`; nothing was changed in this one";

/** @throws ConfigurationError for a table that is not this program's to change */
export function rejectTable(isWrong: boolean, folder: string, reason: string, hint = elsewhere): void {
  if (isWrong) throw new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
}

/** Adds a version to a log. @throws MirrorBusy if another export was faster */
export async function commitVersion(log: DeltaLog, actions: readonly object[], deps: Deps): Promise<void> {
  const path = join(log.folder, "_delta_log", `${String(log.version + 1).padStart(20, "0")}.json`);
  const lines = actions.map((action) => ({ data: `${JSON.stringify(action)}\n`, rows: 0 }));
  const link = (from: string, to: string) => linkExclusive(from, to, deps.clock.now());
  await writeAll(lines, await openFileSink(path, deps, link)).catch((cause: Error) => {
    if (!existsSync(path) && errorCode(cause.cause) !== "EEXIST") throw cause;
    throw new MirrorBusy(`Another export was faster: ${path}`, { hint: "run the same command again", cause });
  });
}

/** Removes this program's files that no version since a time has named, such as those that a killed export left. */
export function removeUnusedFiles({ folder, files, removed }: DeltaLog, since: number): void {
  const own = /^(_delta_log\/\.\d{20}\.json\..+\.part|(month=[\d-]+\/)?\.?part-[\da-f-]{36}\.parquet[^/]*)$/;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!own.test(name) || [...files.values()].includes(name)) continue;
    const path = join(folder, name);
    const unusedSince = removed.get(name) ?? statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since;
    if (unusedSince < since) rmSync(path, { force: true });
  }
}

/**
 * Reads a table once. Returns its columns' types, its number of rows, the digest of each month's rows, and the months of
 * which the lake's files have a different one; all of them, if the lake's columns are not the table's.
 */
export async function compareMonths(
  { columns, partitionColumns, rows, mirrorState }: MonthlyRows,
  log: DeltaLog,
) {
  const { folder, files, metaData, mirror = mirrorState } = log;
  rejectTable(mirror.brand !== mirrorState.brand, folder, "belongs to a different brand");
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
 * Commits a version with the rows of a table, unless nothing has changed. Returns what was done.
 * @param log read before the mirror's snapshot began: otherwise an older snapshot could follow a newer one
 */
export async function exportDeltaTable(source: MonthlyRows, log: DeltaLog, deps: Deps): Promise<string> {
  const { folder, files, metaData: old } = log;
  const { types, rows, digests, schema, isNewSchema, differing } = await compareMonths(source, log);
  if (differing.length === 0 && !isNewSchema) return "nothing has changed";
  const at = deps.clock.now();
  const engineInfo = `brandapi/${readVersion()}`;
  const table = { id: old?.id ?? randomUUID(), format: { provider: "parquet", options: {} } };
  const actions: object[] = [
    {
      commitInfo: { timestamp: at, operation: "WRITE", engineInfo, mirror: { ...source.mirrorState, rows } },
    },
    ...(old ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]),
    ...(isNewSchema ? [{ metaData: { ...table, ...schema, configuration: {} } }] : []),
  ];
  createFolder(join(folder, "_delta_log"));
  const adds: { add: { path: string; [member: string]: unknown } }[] = [];
  try {
    for (const month of differing) {
      const gone = files.get(month);
      const digest = digests.get(month);
      if (gone) actions.push({ remove: { path: gone, deletionTimestamp: at, dataChange: true } });
      if (!digest) continue;
      const path = join(month && `month=${month}`, `part-${randomUUID()}.parquet`);
      createFolder(dirname(join(folder, path)));
      const chunks = writeParquetFile(source, types, source.rows(month), digest);
      const sink = await openFileSink(join(folder, path), deps);
      const { bytes: size, rows: numRecords } = await writeAll(chunks, sink);
      const partitionValues = source.partitionColumns.length > 0 ? { month: month || null } : {};
      const stats = JSON.stringify({ numRecords });
      adds.push({ add: { path, partitionValues, size, stats, modificationTime: at, dataChange: true } });
    }
    await syncFolder(folder);
    await commitVersion(log, [...actions, ...adds], deps);
  } catch (error) {
    // No version names them. Otherwise a full disk would stay full.
    for (const { add } of adds) rmSync(join(folder, add.path), { force: true });
    throw error;
  }
  return `version ${log.version + 1}, ${rows} rows, months written: ${differing.length}`;
}
