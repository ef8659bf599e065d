import { existsSync, statSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Deps } from "../deps.js";
import { MirrorBusy } from "../errors.js";
import { writeToFile } from "../export/write-output.js";
import { readTextFile } from "../util/files.js";
import { errorCode } from "../util/system-errors.js";
import { readNewestCheckpoint } from "./checkpoint.js";
import {
  type Action,
  type BrandState,
  createDeltaTableError,
  type DataFile,
  listLog,
  logPath,
  type MetaData,
  parseVersions,
  protocol,
  readLogVersion,
  versionName,
} from "./log-files.js";
import { brandColumn } from "./monthly-rows.js";

/** The state of a Delta table, as recorded in its log. */
export interface DeltaLog {
  folder: string;
  /** The table's name in the mirror. */
  table: string;
  /** The newest version, or -1 if the table does not exist. */
  version: number;
  /** The version of the newest checkpoint, or -1 if there is none. */
  checkpointVersion: number;
  metaData: MetaData | undefined;
  /** The state of each brand's mirror at its last export, keyed by brand ID and ordered by version. */
  brands: Map<string | null, BrandState>;
  /** The data files in the newest version, keyed by path. */
  files: Map<string, DataFile>;
  /** The removal times of the files that only older versions use, keyed by path. */
  removedFiles: Map<string, number>;
}

export function hasManyBrands({ metaData }: DeltaLog): boolean {
  return metaData?.partitionColumns.includes(brandColumn) === true;
}

/** Returns a brand's data files, keyed by month. The key `""` stands for rows without a month. */
export function filesOfBrand(log: DeltaLog, brand: string | null): Map<string, DataFile> {
  const ofBrand = [...log.files.values()].filter(
    ({ partitionValues }) => !hasManyBrands(log) || partitionValues.brand_id === brand,
  );
  return new Map(ofBrand.map((file) => [file.partitionValues.month ?? "", file]));
}

/**
 * Reads a table's log, starting with the newest checkpoint.
 * @throws ConfigurationError if the log is damaged, was written by another program, or uses a newer protocol
 */
export async function readDeltaLog(folder: string): Promise<DeltaLog> {
  const names = listLog(folder);
  const checkpoint = await readNewestCheckpoint(folder, names);
  const checkpointVersion = checkpoint?.version ?? -1;
  const log: DeltaLog = {
    folder,
    table: basename(folder),
    version: checkpointVersion,
    checkpointVersion,
    metaData: undefined,
    brands: new Map(checkpoint?.brands.map((state) => [state.brand, state])),
    files: new Map(),
    removedFiles: new Map(),
  };
  applyActions(log, checkpoint?.actions ?? []);
  for (const version of parseVersions(names, ".json")) {
    if (version <= checkpointVersion) continue;
    const actions = readLogVersion(folder, version);
    const mirror = actions.find(({ commitInfo }) => commitInfo)?.commitInfo?.mirror;
    if (!mirror || version !== log.version + 1)
      throw createDeltaTableError(
        folder,
        "is missing a version, or contains a version that another program wrote",
      );
    log.version = version;
    applyActions(log, actions);
    log.brands.delete(mirror.brand);
    log.brands.set(mirror.brand, { ...mirror, version });
  }
  return log;
}

function applyActions(log: DeltaLog, actions: readonly Action[]): void {
  for (const { add, metaData, protocol: needed, remove } of actions) {
    if (
      needed &&
      (needed.minReaderVersion > protocol.minReaderVersion ||
        needed.minWriterVersion > protocol.minWriterVersion)
    )
      throw createDeltaTableError(
        log.folder,
        `requires a newer protocol version (supported: reader version ${protocol.minReaderVersion}, writer version ${protocol.minWriterVersion})`,
      );
    if (metaData) log.metaData = metaData;
    if (remove) {
      log.files.delete(remove.path);
      log.removedFiles.set(remove.path, remove.deletionTimestamp);
    }
    if (add) log.files.set(add.path, add);
  }
}

/**
 * The maximum number of waits for another process that is creating the same version, and the length of each wait in
 * milliseconds.
 */
const [maxWaits, waitMs] = [100, 50];

/**
 * Adds a version to the log. In a multi-brand table, if another brand's export has already used the version number,
 * tries the next number.
 * @returns the new version's number, or undefined if the schema has changed, so that the actions no longer apply
 * @throws MirrorBusy if an export of the same brand, or any export to a single-brand table, has added the version first
 */
export async function commitVersion(
  log: DeltaLog,
  actions: readonly Action[],
  { brand, manyBrands }: { brand: string | null; manyBrands: boolean },
  deps: Deps,
): Promise<number | undefined> {
  const changesSchema = actions.some(({ metaData }) => metaData);
  let waits = 0;
  for (let version = log.version + 1; ; ) {
    const cause = await addVersion(log.folder, version, actions, deps);
    if (!cause) return version;
    const path = logPath(log.folder, `${versionName(version)}.json`);
    const busy = new MirrorBusy(`Another export added this version first: ${path}`, {
      hint: "run the same command again",
      cause,
    });
    if (!manyBrands) throw busy;
    if (existsSync(path)) {
      const added = readLogVersion(log.folder, version);
      if (added.some(({ commitInfo }) => commitInfo?.mirror?.brand === brand)) throw busy;
      if (changesSchema || added.some(({ metaData }) => metaData)) return undefined;
      version += 1;
    } else {
      if (waits === maxWaits) throw busy;
      waits += 1;
      await deps.clock.sleep(waitMs, deps.signal);
    }
  }
}

/**
 * Creates a version's file. Returns an error if another process has created the file or is about to create it. If the
 * file exists, its contents are compared before an error is returned, because a network file system may report that a
 * file already exists even though this process has just created it.
 */
async function addVersion(
  folder: string,
  version: number,
  actions: readonly Action[],
  deps: Deps,
): Promise<Error | null> {
  const path = logPath(folder, `${versionName(version)}.json`);
  const data = actions.map((action) => `${JSON.stringify(action)}\n`).join("");
  const publish = (from: string, to: string) => linkExclusive(from, to, deps.clock.now());
  try {
    await writeToFile([{ data }], path, deps, { publish });
    return null;
  } catch (error) {
    const isTaken = error instanceof Error && (existsSync(path) || errorCode(error.cause) === "EEXIST");
    if (!isTaken) throw error;
    const isOwn = existsSync(path) && readTextFile(path) === data;
    return isOwn ? null : error;
  }
}

/** The error codes that `link` reports on file systems that do not support hard links, such as exFAT. */
const noLinkSupportCodes = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);
/** The maximum age of a lock file. An older lock file was left behind by a killed process. */
const maxLockAgeMs = 60_000;

/**
 * Publishes a temporary file at a path that must not exist yet. If two processes try this at the same time, only one
 * succeeds. The caller deletes the temporary file if it remains.
 * @param now milliseconds since the Unix epoch
 * @throws EEXIST if the path exists or another process is about to create it
 */
async function linkExclusive(from: string, to: string, now: number): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!noLinkSupportCodes.has(errorCode(error))) throw error;
    await renameExclusive(from, to, now);
  }
}

/**
 * Renames a file if nothing exists at the target path. A lock file keeps other processes from creating the target in
 * the meantime.
 */
async function renameExclusive(from: string, to: string, now: number): Promise<void> {
  const lockPath = join(dirname(to), `.${basename(to)}.claim.part`);
  const ageMs = now - (statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN);
  if (ageMs > maxLockAgeMs) await rm(lockPath, { force: true });
  await (await open(lockPath, "wx")).close();
  try {
    if (existsSync(to))
      throw Object.assign(new Error(`EEXIST: file already exists, ${to}`), { code: "EEXIST" });
    await rename(from, to);
  } finally {
    await rm(lockPath, { force: true });
  }
}
