import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { link, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError, MirrorBusy } from "../../errors.js";
import type { readStanding } from "../../query/index.js";
import { syncFolder } from "../file-sink.js";

/** A line of a version, as far as it is read. Times are milliseconds since 1970. */
interface Action {
  /** `mirror`: what a version says of the mirror. Only this program writes it. */
  commitInfo?: { mirror?: ReturnType<typeof readStanding> & { rows: number } };
  protocol?: { minReaderVersion: number; minWriterVersion: number };
  metaData?: { id: string; schemaString: string };
  add?: { path: string; partitionValues: { month?: string | null } };
  remove?: { path: string; deletionTimestamp: number };
}

/** A table's newest version (-1: none): the file of each month, and when each file of older versions was removed. */
export type Log = ReturnType<typeof readLog>;

/**
 * Reads the log of a brand's table (undefined: any brand's). Without checkpoints a year of nights is read in milliseconds.
 * @throws ConfigurationError if it was not written by this program for this brand, or needs a newer protocol
 */
export function readLog(folder: string, brand?: string | null) {
  const path = join(folder, "_delta_log");
  const names = existsSync(path) ? readdirSync(path).filter((name) => /^\d{20}\.json$/.test(name)) : [];
  const lines = names.sort().flatMap((name) => readFileSync(join(path, name), "utf8").trim().split("\n"));
  const refuseIf = (isWrong: boolean, reason: string) => {
    const hint = "name a different folder with `--delta`; nothing was changed in this one";
    if (isWrong) throw new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
  };
  refuseIf(!lines.every((line) => line.endsWith("}}")), "has a damaged version");
  const actions = lines.map((line) => JSON.parse(line) as Action);
  const own = actions.flatMap(({ commitInfo }) => commitInfo?.mirror ?? []);
  const isNewer = actions.some(({ protocol: p }) => p && (p.minReaderVersion > 1 || p.minWriterVersion > 2));
  refuseIf(isNewer, "needs a newer protocol than reader 1 and writer 2");
  refuseIf(own.length !== names.length, "has a version that something else has written");
  refuseIf(brand !== undefined && own.some((one) => one.brand !== brand), "belongs to a different brand");
  const removes = actions.flatMap(({ remove }) => remove ?? []);
  const removed = new Map(removes.map((remove) => [remove.path, remove.deletionTimestamp]));
  const adds = actions.flatMap(({ add }) => (add && !removed.has(add.path) ? add : []));
  const files = new Map(adds.map((add) => [add.partitionValues.month ?? "", add.path]));
  const metaData = actions.findLast((action) => action.metaData)?.metaData;
  return { folder, version: names.length - 1, mirror: own.at(-1), metaData, files, removed };
}

/**
 * Adds a version to a log. Its file is linked into its place when it is whole, so that of two exports at once one fails.
 * @throws MirrorBusy if the version is there already
 */
export async function commit({ folder, version }: Log, actions: readonly object[]): Promise<void> {
  const path = join(folder, "_delta_log", `${String(version + 1).padStart(20, "0")}.json`);
  const temporary = join(folder, "_delta_log", `.${randomUUID()}.json`);
  const text = actions.map((action) => `${JSON.stringify(action)}\n`).join("");
  await writeFile(temporary, text, { flush: true });
  const linked = link(temporary, path).finally(() => rm(temporary));
  await linked.catch((cause: Error) => {
    if (!existsSync(path)) throw cause;
    const hint = "run the same command again";
    throw new MirrorBusy(`Another export has just written a version: ${folder}`, { hint, cause });
  });
  await syncFolder(join(folder, "_delta_log"));
}

/** Removes files that no version since a time has named, such as those that a killed export left. */
export function cleanUp({ folder, files, removed }: Log, since: number): void {
  const named = [...files.values()];
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/^((month=[\d-]+\/)?\.?part-|_delta_log\/\.)[^/]+$/.test(name) || named.includes(name)) continue;
    const path = join(folder, name);
    const unusedSince = removed.get(name) ?? statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since;
    if (unusedSince < since) rmSync(path, { force: true });
  }
}
