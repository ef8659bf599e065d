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
  await eachTable(names, options, context, false, async (source, log, { mirror, deps, reporter }) => {
    const done = await exportDelta(source, log, readStanding(mirror, source.name), deps);
    cleanUp(readLog(log.folder), deps.clock.now() - retain);
    reporter.note(`${source.name}: ${done}: ${log.folder}`);
  });
}

/** `verify --delta DIR`: prints the months that differ. @throws Incomplete if there are any */
export async function verifyLake(names: readonly string[], options: LakeFlags, context: Context) {
  const wrong: string[] = [];
  await eachTable(names, options, context, true, async (source, log, { deps }) => {
    const { differing } = await compare(source, log);
    if (differing.length > 0) wrong.push(source.name);
    printJson(deps.stdout, { table: source.name, version: log.version, differing });
  });
  const hint = `run \`brandapi export ${wrong.join(" ")} --delta ${options.delta}\``;
  if (wrong.length > 0) throw new Incomplete("The lake differs from the mirror.", { hint });
}

/** `tables --delta DIR`: what the newest version of each table says. */
export function printLake(name: string | undefined, options: LakeFlags, context: Context): void {
  const { folder, tables } = chooseTables(name === undefined ? [] : [name], options, context, true);
  for (const table of tables) {
    const { version, mirror } = readLog(join(folder, table));
    printJson(context.deps.stdout, { table, version, ...mirror });
  }
}

type Work = (source: ByMonth, log: Log, reading: Reading) => Promise<void>;

/** Opens tables of the mirror, in one snapshot, and before it their logs. */
async function eachTable(
  names: readonly string[],
  options: LakeFlags,
  context: Context,
  mustBeThere: boolean,
  work: Work,
) {
  const { folder, tables } = chooseTables(names, options, context, mustBeThere);
  await readMirror(options, context.deps, async (reading) => {
    const { mirror } = reading;
    const logOf = (name: string) => readLog(join(folder, name), readInfo(mirror, "brand_id"));
    const found = findTables(mirror, tables).map((table) => ({ table, log: logOf(table.name) }));
    await withSnapshot(mirror, async () => {
      for (const { table, log } of found) await work(openByMonth(mirror, table), log, reading);
    });
  });
}

/** Returns these tables, or all that a lake has. @throws ConfigurationError if it has none of a name that is known here */
function chooseTables(
  names: readonly string[],
  { delta = "" }: LakeFlags,
  { deps }: Context,
  mustBeThere: boolean,
) {
  const [folder, known] = [expandPath(delta, deps), knownTableNames()];
  const isThere = (name: string) => existsSync(join(folder, name, "_delta_log"));
  const tables = names.length > 0 ? names.map((name) => checkTableName(name, known)) : known.filter(isThere);
  const hint = "`brandapi export orders --delta DIR` makes one";
  if (tables.length === 0 || (mustBeThere && !tables.every(isThere)))
    throw new ConfigurationError(
      `The folder has no Delta table${names.length > 0 ? ` ${names.join(", ")}` : ""}: ${delta}`,
      { hint },
    );
  return { folder, tables };
}
