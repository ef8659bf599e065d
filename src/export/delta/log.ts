import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { link, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Deps } from "../../deps.js";
import { ConfigurationError, MirrorBusy } from "../../errors.js";
import type { Standing } from "../../query/index.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { writeAll } from "../sink.js";

/** What is read of the actions that make up a version, a line each. Times are milliseconds since 1970. */
interface Action {
  commitInfo?: { engineInfo?: string; userMetadata: string };
  protocol?: { minReaderVersion: number; minWriterVersion: number };
  metaData?: { id: string; schemaString: string };
  /** A file of a month's rows, or of all rows of a table without months. */
  add?: { path: string; partitionValues: { month?: string | null }; tags: { digest: string } };
  remove?: { path: string; deletionTimestamp: number };
}

/** What a version says of the mirror: its `userMetadata`, which other programs show. */
export type Proof = Standing & { rows: number };

/** A Delta table as its log has it. */
export interface Log {
  folder: string;
  /** The newest; -1: there is none. */
  version: number;
  proof?: Proof;
  metaData?: Action["metaData"];
  /** The file of each month. */
  files: Map<string, NonNullable<Action["add"]>>;
  /** When each file of older versions was removed. */
  removed: Map<string, number>;
}

/** Logs have no checkpoint, because a year of nights is read in milliseconds. */
const mostVersions = 20_000;

/**
 * Reads the log of a table.
 * @param brand the mirror's; undefined: any
 * @throws ConfigurationError if it was not written by this program for this brand, or needs a newer protocol
 */
export function readLog(folder: string, brand?: string | null): Log {
  const log: Log = { folder, version: -1, files: new Map(), removed: new Map() };
  const path = join(folder, "_delta_log");
  const names = existsSync(path) ? readdirSync(path).filter((name) => /^\d{20}\.json$/.test(name)) : [];
  const refuseIf = (isWrong: boolean, reason: string) => {
    const hint = "name a different folder with `--delta`; nothing was changed in this one";
    if (isWrong) throw new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
  };
  refuseIf(names.length > mostVersions, `has more than ${mostVersions} versions`);
  for (const [version, name] of names.sort().entries()) {
    const actions = name === nameOf(version) ? readActions(join(path, name)) : [];
    const info = actions.find(({ commitInfo }) => commitInfo)?.commitInfo;
    const isOwn = info?.engineInfo?.startsWith("brandapi/") ?? false;
    refuseIf(!isOwn, `has no version ${version} that \`brandapi\` has written`);
    const proof = JSON.parse(info?.userMetadata ?? "") as Proof;
    refuseIf(brand !== undefined && proof.brand !== brand, "belongs to a different brand");
    Object.assign(log, { version, proof });
    for (const { protocol, metaData, add, remove } of actions) {
      const needed = [protocol?.minReaderVersion ?? 1, protocol?.minWriterVersion ?? 2] as const;
      refuseIf(needed[0] > 1 || needed[1] > 2, "needs a newer protocol than reader 1 and writer 2");
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
  const lines = readFileSync(path, "utf8").trim().split("\n");
  try {
    return lines.map((line) => JSON.parse(line) as Action);
  } catch {
    return [];
  }
}

/**
 * Adds a version to a log. Its file is linked into its place when it is whole, so that of two exports at once one fails.
 * @throws MirrorBusy if the version is there already
 */
export async function commit(
  log: Log,
  actions: readonly object[],
  deps: Pick<Deps, "random">,
): Promise<void> {
  const folder = join(log.folder, "_delta_log");
  const path = join(folder, nameOf(log.version + 1));
  const temporary = join(folder, `.${randomUUID()}.json`);
  const data = actions.map((action) => `${JSON.stringify(action)}\n`).join("");
  await writeAll([{ data, rows: 0 }], await openFileSink(temporary, deps));
  try {
    await link(temporary, path);
  } catch (cause) {
    if (!existsSync(path)) throw cause;
    const hint = "run the same command again";
    throw new MirrorBusy(`Another export has just written a version: ${log.folder}`, { hint, cause });
  } finally {
    await rm(temporary);
  }
  await syncFolder(folder);
}

function nameOf(version: number): string {
  return `${String(version).padStart(20, "0")}.json`;
}

const own = /^((month=[\d-]+\/)?\.?part-|_delta_log\/\.)[^/]+$/;

/** Removes files that no version since a time has named, such as those that a killed export left. */
export function cleanUp({ folder, files, removed }: Log, since: number): void {
  const named = new Set([...files.values()].map(({ path }) => path));
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!own.test(name) || named.has(name)) continue;
    const path = join(folder, name);
    const unusedSince = removed.get(name) ?? statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since;
    if (unusedSince < since) rmSync(path, { force: true });
  }
}
