import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Deps } from "../../deps.js";
import { MirrorBusy } from "../../errors.js";
import { readTextFile } from "../../util/files.js";
import { errorCode } from "../../util/system-errors.js";
import { openFileSink, writeAll } from "../sinks.js";
import { readNewestCheckpoint } from "./checkpoint.js";
import { linkExclusive } from "./exclusive-link.js";
import {
  type Action,
  type BrandState,
  type DataFile,
  listLog,
  logPath,
  type MetaData,
  protocol,
  readVersion,
  rejectDeltaTable,
  versionName,
  versionsOf,
} from "./log-files.js";
import { brandColumn } from "./monthly-rows.js";

/** A Delta table, as described by its log. */
export interface DeltaLog {
  folder: string;
  /** The table's name in the mirror. */
  table: string;
  /** The newest version; -1 if the table does not exist. */
  version: number;
  /** The version of the newest checkpoint; -1 if there is none. */
  checkpointVersion: number;
  metaData: MetaData | undefined;
  /** The state of each brand's mirror, keyed by brand ID and ordered by version. */
  brands: Map<string | null, BrandState>;
  /** The newest version's data files, keyed by path. */
  files: Map<string, DataFile>;
  /** The removal times of files that are used only by older versions, keyed by path. */
  removedFiles: Map<string, number>;
}

/** True for a multi-brand table, which is partitioned by brand. */
export function hasManyBrands({ metaData }: DeltaLog): boolean {
  return metaData?.partitionColumns.includes(brandColumn) === true;
}

/** Returns a brand's data files, keyed by month. The key for rows without a month is `""`. */
export function filesOfBrand(log: DeltaLog, brand: string | null): Map<string, DataFile> {
  const ofBrand = [...log.files.values()].filter(
    ({ partitionValues }) => !hasManyBrands(log) || partitionValues.brand_id === brand,
  );
  return new Map(ofBrand.map((file) => [file.partitionValues.month ?? "", file]));
}

/**
 * Reads a table's log: the newest checkpoint and the versions after it.
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
  for (const version of versionsOf(names, ".json")) {
    if (version <= checkpointVersion) continue;
    const actions = readVersion(folder, version);
    const mirror = actions.find(({ commitInfo }) => commitInfo)?.commitInfo?.mirror;
    if (!mirror || version !== log.version + 1)
      throw rejectDeltaTable(folder, "lacks a version, or has one that another program wrote");
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
      throw rejectDeltaTable(
        log.folder,
        `requires a newer protocol than reader ${protocol.minReaderVersion} and writer ${protocol.minWriterVersion}`,
      );
    if (metaData) log.metaData = metaData;
    if (remove) {
      log.files.delete(remove.path);
      log.removedFiles.set(remove.path, remove.deletionTimestamp);
    }
    if (add) log.files.set(add.path, add);
  }
}

/** The maximum number of waits, and the length of each wait, while another process is creating the same version. */
const [maxWaits, waitMs] = [100, 50];

/*
 * Adds a version to the log. In a multi-brand table, tries the next version if another brand committed first.
 * @returns the version, or undefined if the schema has changed, so that the actions no longer apply
 * @throws MirrorBusy if another export of the same brand, or to the same single-brand table, committed first
 */
export async function commitVersion(
  log: DeltaLog,
  actions: readonly Action[],
  { brand, manyBrands }: { brand: string | null; manyBrands: boolean },
  deps: Deps,
): Promise<number | undefined> {
  const changesSchema = actions.some(({ metaData }) => metaData);
  let version = log.version + 1;
  let waits = 0;
  while (true) {
    const cause = await addVersion(log.folder, version, actions, deps);
    if (!cause) return version;
    const path = logPath(log.folder, `${versionName(version)}.json`);
    const busy = new MirrorBusy(`Another export added a version first: ${path}`, {
      hint: "run the same command again",
      cause,
    });
    if (!existsSync(path)) {
      waits += 1;
      if (waits > maxWaits || !manyBrands) throw busy;
      await deps.clock.sleep(waitMs, deps.signal);
      continue;
    }
    const added = readVersion(log.folder, version);
    if (added.some(({ commitInfo }) => commitInfo?.mirror?.brand === brand)) throw busy;
    if (changesSchema || added.some(({ metaData }) => metaData)) return undefined;
    if (!manyBrands) throw busy;
    version += 1;
  }
}

/**
 * Creates a version's file. Returns an error if another process has created the file or is about to. A network file
 * system may report that the file already exists even though it was this process that created it.
 */
async function addVersion(
  folder: string,
  version: number,
  actions: readonly Action[],
  deps: Deps,
): Promise<Error | null> {
  const path = logPath(folder, `${versionName(version)}.json`);
  const lines = actions.map((action) => `${JSON.stringify(action)}\n`);
  const link = (from: string, to: string) => linkExclusive(from, to, deps.clock.now());
  try {
    await writeAll(lines, await openFileSink(path, deps, link));
    return null;
  } catch (error) {
    const isTaken = error instanceof Error && (existsSync(path) || errorCode(error.cause) === "EEXIST");
    if (!isTaken) throw error;
    const isOwn = existsSync(path) && readTextFile(path) === lines.join("");
    return isOwn ? null : error;
  }
}
