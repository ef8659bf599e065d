import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Deps } from "../../deps.js";
import { ConfigurationError, MirrorBusy } from "../../errors.js";
import { codeOf } from "../../lib/failures.js";
import { isThere } from "../../lib/is-there.js";
import { parseJson } from "../../lib/parse-json.js";
import type { ByMonth } from "../../query/index.js";
import { linkNew, openFileSink } from "../file-sink.js";
import { writeAll } from "../sink.js";

/** A line of a version, as far as it is read. Only this program writes `mirror`. Times are milliseconds since 1970. */
interface Action {
  commitInfo?: { mirror?: ByMonth["standing"] & { rows: number } };
  protocol?: { minReaderVersion: number; minWriterVersion: number };
  metaData?: { id: string; schemaString: string };
  add?: { path: string; partitionValues: { month?: string | null } };
  remove?: { path: string; deletionTimestamp: number };
}

/** A table's newest version (-1: none): the file of each month, and when each file of older versions was removed. */
export type Log = ReturnType<typeof readLog>;

/** Reads a table's log. @throws ConfigurationError if something else has written it, or it needs a newer protocol */
export function readLog(folder: string) {
  const path = join(folder, "_delta_log");
  const names = isThere(path) ? readdirSync(path).filter((name) => /^\d{20}\.json$/.test(name)) : [];
  const lines = names.sort().flatMap((name) => readFileSync(join(path, name), "utf8").trim().split("\n"));
  const actions = lines.flatMap((line) => parseJson<Action>(line) ?? []);
  refuseIf(actions.length < lines.length, folder, "has a damaged version");
  const own = actions.flatMap(({ commitInfo }) => commitInfo?.mirror ?? []);
  const version = Number.parseInt(names.at(-1) ?? "-1", 10);
  const isNewer = actions.some(({ protocol: p }) => p && (p.minReaderVersion > 1 || p.minWriterVersion > 2));
  refuseIf(isNewer, folder, "needs a newer protocol than reader 1 and writer 2");
  refuseIf(own.length !== version + 1, folder, "lacks a version, or has one that something else has written");
  const removed = new Map(actions.map(({ remove }) => [remove?.path, remove?.deletionTimestamp]));
  const adds = actions.flatMap(({ add }) => (add && !removed.has(add.path) ? add : []));
  const files = new Map(adds.map((add) => [add.partitionValues.month ?? "", add.path]));
  const metaData = actions.findLast((action) => action.metaData)?.metaData;
  return { folder, table: basename(folder), version, mirror: own.at(-1), metaData, files, removed };
}

const elsewhere = "name a different folder with `--delta`; nothing was changed in this one";

/** @throws ConfigurationError for a table that is not this program's to change */
export function refuseIf(isWrong: boolean, folder: string, reason: string, hint = elsewhere): void {
  if (isWrong) throw new ConfigurationError(`The Delta table ${reason}: ${folder}`, { hint });
}

/** Adds a version to a log. @throws MirrorBusy if another export was faster */
export async function commit(log: Log, actions: readonly object[], deps: Deps): Promise<void> {
  const path = join(log.folder, "_delta_log", `${String(log.version + 1).padStart(20, "0")}.json`);
  const lines = actions.map((action) => ({ data: `${JSON.stringify(action)}\n`, rows: 0 }));
  const link = (from: string, to: string) => linkNew(from, to, deps.clock.now());
  await writeAll(lines, await openFileSink(path, deps, link)).catch((cause: Error) => {
    if (!existsSync(path) && codeOf(cause.cause) !== "EEXIST") throw cause;
    throw new MirrorBusy(`Another export was faster: ${path}`, { hint: "run the same command again", cause });
  });
}

/** Removes this program's files that no version since a time has named, such as those that a killed export left. */
export function cleanUp({ folder, files, removed }: Log, since: number): void {
  const own = /^(_delta_log\/\.\d{20}\.json\..+\.part|(month=[\d-]+\/)?\.?part-[\da-f-]{36}\.parquet[^/]*)$/;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!own.test(name) || [...files.values()].includes(name)) continue;
    const path = join(folder, name);
    const unusedSince = removed.get(name) ?? statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since;
    if (unusedSince < since) rmSync(path, { force: true });
  }
}
