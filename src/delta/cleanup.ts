import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Deps } from "../deps.js";
import { pathExists, readTextFile } from "../util/files.js";
import { parseJson } from "../util/json-value.js";
import { writeCheckpoint } from "./checkpoint.js";
import { type DeltaLog, hasManyBrands, readDeltaLog } from "./log.js";
import { brandFolder, listLog, logPath, parseVersions, readLogVersion, versionName } from "./log-files.js";

const checkpointInterval = 50;

/**
 * Cleans up a table after an export. Deletes the brand's unused files and old versions of the table, and writes a
 * checkpoint if one is due.
 * @param options.cutoffMs milliseconds since the Unix epoch; newer versions stay readable
 */
export async function cleanUpTable(
  folder: string,
  { brand, cutoffMs }: { brand: string | null; cutoffMs: number },
  deps: Deps,
): Promise<void> {
  const log = await readDeltaLog(folder);
  removeUnusedFiles(log, brand, cutoffMs);
  if (log.version - log.checkpointVersion >= checkpointInterval) await writeCheckpoint(log, cutoffMs, deps);
  removeOldVersions(folder, cutoffMs);
}

/** Matches the paths of data files and temporary files that this program writes, relative to the table's folder. */
const ownFile =
  /^(_delta_log\/\..+\.part|(brand_id=[\w-]+\/)?(month=[\d-]+\/)?\.?part-[\da-f-]{36}\.parquet[^/]*)$/;

/**
 * Deletes the brand's files that no version has used since `cutoffMs`, including files that killed exports left
 * behind.
 */
function removeUnusedFiles(log: DeltaLog, brand: string | null, cutoffMs: number): void {
  const { files, folder, removedFiles } = log;
  const subfolders = hasManyBrands(log) ? ["_delta_log/", `${brandFolder(brand)}/`] : [""];
  for (const subfolder of subfolders) {
    if (!pathExists(join(folder, subfolder))) continue;
    for (const name of readdirSync(join(folder, subfolder), { recursive: true, encoding: "utf8" })) {
      const path = subfolder + name.replaceAll("\\", "/");
      if (!ownFile.test(path) || files.has(path)) continue;
      const { mtimeMs = cutoffMs } = statSync(join(folder, path), { throwIfNoEntry: false }) ?? {};
      if ((removedFiles.get(path) ?? mtimeMs) < cutoffMs) rmSync(join(folder, path), { force: true });
    }
  }
}

/**
 * Deletes the versions before the newest checkpoint that is older than `cutoffMs` (Delta protocol, "Metadata Cleanup").
 */
function removeOldVersions(folder: string, cutoffMs: number): void {
  const names = listLog(folder);
  if (!names.includes("_last_checkpoint")) return;
  const pointer = parseJson<{ version: number }>(readTextFile(logPath(folder, "_last_checkpoint")));
  const oldest = parseVersions(names, ".checkpoint.parquet").findLast(
    (version) => version <= (pointer?.version ?? -1) && wasWrittenBefore(folder, version, cutoffMs),
  );
  if (oldest === undefined) return;
  for (const name of names)
    if (/^\d{20}\./.test(name) && Number.parseInt(name, 10) < oldest)
      rmSync(logPath(folder, name), { force: true });
}

/** Returns false if a concurrent export has just deleted the version. */
function wasWrittenBefore(folder: string, version: number, cutoffMs: number): boolean {
  if (!pathExists(logPath(folder, `${versionName(version)}.json`))) return false;
  return readLogVersion(folder, version).some(
    ({ commitInfo }) => commitInfo && commitInfo.timestamp <= cutoffMs,
  );
}
