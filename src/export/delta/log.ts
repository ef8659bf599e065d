import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { link, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Deps } from "../../deps.js";
import { ConfigurationError, MirrorBusy } from "../../errors.js";
import type { Standing } from "../../query/index.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { writeAll } from "../sink.js";

/** What is read of the actions of a version, each a line of its file. Times are in milliseconds. */
interface Action {
  commitInfo?: { timestamp: number; engineInfo?: string; userMetadata: string };
  protocol?: { minReaderVersion: number; minWriterVersion: number };
  metaData?: { id: string; schemaString: string };
  add?: DataFile;
  remove?: { path: string; deletionTimestamp: number };
}

/** A file of the rows of a month, or of a table without months; the digest is theirs. */
interface DataFile {
  path: string;
  partitionValues: { month?: string | null };
  tags: { digest: string };
}

/** What a version says of the mirror, and how many rows it has: its `userMetadata`, which engines show. */
export type Proof = Standing & { rows: number };

/** A Delta table as its log has it. */
export interface Log {
  folder: string;
  /** The newest; -1: there is none. */
  version: number;
  committedAt: number;
  metaData?: Action["metaData"];
  proof?: Proof;
  /** The file of each month; `""`: of rows without one. */
  files: Map<string, DataFile>;
  /** When each file of older versions was removed. */
  removed: Map<string, number>;
}

/** A log is read from its first version; it needs no checkpoint, because a year of nights is read in milliseconds. */
const mostVersions = 20_000;

/**
 * Reads the log of a Delta table.
 * @param brand the mirror's; undefined: any
 * @throws ConfigurationError if it was not written by this program for this brand, or needs a newer protocol
 */
export function readLog(folder: string, brand?: string | null): Log {
  const log: Log = { folder, version: -1, committedAt: 0, files: new Map(), removed: new Map() };
  const path = join(folder, "_delta_log");
  const names = existsSync(path) ? readdirSync(path).filter((name) => /^\d{20}\.json$/.test(name)) : [];
  const refuseIf = (isWrong: boolean, reason: string) => {
    const hint = "name a different folder with `--delta`; nothing was changed in this one";
    if (isWrong) throw new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
  };
  refuseIf(names.length > mostVersions, `has more than ${mostVersions} versions`);
  for (const [version, name] of names.sort().entries()) {
    refuseIf(name !== nameOf(version), `has no version ${version}`);
    const actions = readActions(join(path, name));
    const { commitInfo } = actions.find((action) => action.commitInfo) ?? {};
    const proof = commitInfo?.engineInfo?.startsWith("brandapi/") ? commitInfo.userMetadata : "null";
    Object.assign(log, { version, committedAt: commitInfo?.timestamp, proof: JSON.parse(proof) });
    refuseIf(!log.proof, `has a version ${version} that \`brandapi\` did not write`);
    refuseIf(brand !== undefined && log.proof?.brand !== brand, "belongs to a different brand");
    for (const { protocol, metaData, add, remove } of actions) {
      const isNewer = protocol && (protocol.minReaderVersion > 1 || protocol.minWriterVersion > 2);
      refuseIf(isNewer ?? false, "needs a newer protocol than reader 1 and writer 2");
      if (metaData) log.metaData = metaData;
      if (remove) log.removed.set(remove.path, remove.deletionTimestamp);
      if (add) log.files.set(add.partitionValues.month ?? "", add);
    }
    for (const [month, file] of log.files) if (log.removed.has(file.path)) log.files.delete(month);
  }
  return log;
}

/** Returns none if the file is damaged. */
function readActions(path: string): Action[] {
  try {
    return readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Action);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/**
 * Adds a version to a log. It is linked into its place when it is whole: of two exports at once one fails.
 * @throws MirrorBusy if the version is there already
 */
export async function commit(
  { folder, version }: Log,
  actions: readonly object[],
  deps: Pick<Deps, "random">,
) {
  const name = nameOf(version + 1);
  const path = join(folder, "_delta_log", name);
  const temporary = join(folder, "_delta_log", `.${name}.${randomUUID()}`);
  const data = actions.map((action) => `${JSON.stringify(action)}\n`).join("");
  await writeAll([{ data, rows: 0 }], await openFileSink(temporary, deps));
  try {
    await link(temporary, path);
  } catch (cause) {
    if (!existsSync(path)) throw cause;
    throw new MirrorBusy(`Another export has just written version ${version + 1}: ${folder}`, {
      hint: "run the same command again",
      cause,
    });
  } finally {
    await rm(temporary);
  }
  await syncFolder(join(folder, "_delta_log"));
}

function nameOf(version: number): string {
  return `${String(version).padStart(20, "0")}.json`;
}
