import { existsSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import { ConfigurationError, Incomplete } from "../errors.js";
import { cleanUp, type Log, readLog } from "../export/delta/log.js";
import { compare, exportDelta } from "../export/delta/table.js";
import { readInfo } from "../mirror/index.js";
import { type ByMonth, knownTableNames, openByMonth, readStanding, withSnapshot } from "../query/index.js";
import { printJson } from "../ui/print.js";
import type { Context, GlobalOptions } from "./context.js";
import { type Reading, readMirror } from "./reading.js";
import { checkTableName, findTables } from "./table.js";

type LakeFlags = GlobalOptions & { delta?: string; retain?: number };

const hourMs = 3_600_000;

/** `export TABLE… --delta DIR`: each table that has changed gets a version. Files of the last hour always stay. */
export async function exportLake(names: readonly string[], options: LakeFlags, context: Context) {
  const retain = Math.max(options.retain ?? 7 * 24 * hourMs, hourMs);
  const lake = chooseLake(names, options, context);
  await eachTable(lake, options, context, async (source, log, { mirror, deps, reporter }) => {
    const done = await exportDelta(source, log, readStanding(mirror, source.name), deps);
    cleanUp(readLog(log.folder), deps.clock.now() - retain);
    reporter.note(`${source.name}: ${done}: ${log.folder}`);
  });
}

/** `verify --delta DIR`: prints the months that differ. @throws Incomplete if there are any */
export async function verifyLake(names: readonly string[], options: LakeFlags, context: Context) {
  const wrong: string[] = [];
  const lake = refuseMissing(chooseLake(names, options, context));
  await eachTable(lake, options, context, async (source, log, { deps }) => {
    const { differing } = await compare(source, log);
    if (differing.length > 0) wrong.push(source.name);
    printJson(deps.stdout, { table: source.name, version: log.version, differing });
  });
  const hint = `run \`brandapi export ${wrong.join(" ")} --delta ${options.delta}\``;
  if (wrong.length > 0) throw new Incomplete("The lake differs from the mirror.", { hint });
}

/** `tables --delta DIR`: what the newest version of each table says. */
export function printLake(name: string | undefined, options: LakeFlags, context: Context): void {
  const names = name === undefined ? [] : [name];
  const { folder, tables } = refuseMissing(chooseLake(names, options, context));
  for (const table of tables) {
    const { version, mirror } = readLog(join(folder, table));
    printJson(context.deps.stdout, { table, version, ...mirror });
  }
}

type Lake = ReturnType<typeof chooseLake>;
type Work = (source: ByMonth, log: Log, reading: Reading) => Promise<void>;

/** Opens tables of the mirror, in one snapshot, and before it their logs. */
async function eachTable({ folder, tables }: Lake, options: LakeFlags, context: Context, work: Work) {
  await readMirror(options, context.deps, async (reading) => {
    const { mirror } = reading;
    const logOf = (name: string) => readLog(join(folder, name), readInfo(mirror, "brand_id"));
    const found = findTables(mirror, tables).map((table) => ({ table, log: logOf(table.name) }));
    await withSnapshot(mirror, async () => {
      for (const { table, log } of found) await work(openByMonth(mirror, table), log, reading);
    });
  });
}

/** Returns the folder and these tables, or all that it has, if they are not named. */
function chooseLake(names: readonly string[], { delta = "" }: LakeFlags, { deps }: Context) {
  const [folder, known] = [expandPath(delta, deps), knownTableNames()];
  const named = names.map((name) => checkTableName(name, known));
  return {
    delta,
    folder,
    named,
    tables: named.length > 0 ? named : known.filter((name) => isThere(folder, name)),
  };
}

/** @throws ConfigurationError if the folder has no table, or none of a name that was given */
function refuseMissing(lake: Lake): Lake {
  const { delta, folder, named, tables } = lake;
  if (tables.length > 0 && tables.every((name) => isThere(folder, name))) return lake;
  throw new ConfigurationError(`The folder has no Delta table${named.map((name) => ` ${name}`)}: ${delta}`, {
    hint: "`brandapi export orders --delta DIR` makes one",
  });
}

function isThere(folder: string, table: string): boolean {
  return existsSync(join(folder, table, "_delta_log"));
}
