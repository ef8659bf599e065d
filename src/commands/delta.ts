import { existsSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, Incomplete, UsageError } from "../errors.js";
import { findDifferences } from "../export/delta/contents.js";
import { cleanUp, type Log, readLog } from "../export/delta/log.js";
import { exportDelta } from "../export/delta/write.js";
import { readInfo } from "../mirror/index.js";
import { type ByMonth, knownTableNames, openByMonth, readStanding, withSnapshot } from "../query/index.js";
import { printJson } from "../ui/print.js";
import type { Context, GlobalOptions } from "./context.js";
import { type Reading, readMirror } from "./reading.js";
import { checkTableName, findTables } from "./table.js";

interface LakeFlags extends GlobalOptions {
  delta?: string;
  /** Milliseconds. */
  retain?: number;
}

const hourMs = 3_600_000;

/** `export TABLE… --delta DIR`: each table that has changed gets a version. */
export async function exportLake(
  names: readonly string[],
  options: LakeFlags,
  { deps }: Context,
): Promise<void> {
  const { retain = 7 * 24 * hourMs } = options;
  if (retain < hourMs)
    throw new UsageError("`--retain` is at least an hour, because another export may be under way.");
  await readBoth(names, options, deps, async ({ source, log, mirror, reporter }) => {
    const done = await exportDelta(source, log, readStanding(mirror, source.name), deps);
    cleanUp(readLog(log.folder), deps.clock.now() - retain);
    reporter.note(`${source.name}: ${done}: ${log.folder}`);
  });
}

/** `verify --delta DIR`. @throws Incomplete if a table of the lake does not hold what the mirror holds */
export async function verifyLake(
  names: readonly string[],
  options: LakeFlags,
  { deps }: Context,
): Promise<void> {
  const wrong: string[] = [];
  const tables = names.length > 0 ? names : tablesIn(options, deps);
  await readBoth(tables, options, deps, async ({ source, log: { version, proof }, log }) => {
    const differences = await findDifferences(source, log);
    if (differences.length > 0) wrong.push(source.name);
    const lines = differences.length > 0 ? differences : [`${proof?.rows} rows, as in the mirror`];
    if (options.json) printJson(deps.stdout, { table: source.name, version, differences });
    else for (const line of lines) deps.stdout.write(`${source.name}, version ${version}: ${line}\n`);
  });
  const hint = `run \`brandapi export ${wrong.join(" ")} --delta ${options.delta}\``;
  if (wrong.length > 0)
    throw new Incomplete(`The lake differs from the mirror: ${wrong.join(", ")}.`, { hint });
}

/** `tables --delta DIR`: what the newest version of each table says. */
export function printLake(options: LakeFlags, { deps }: Context): void {
  for (const table of tablesIn(options, deps)) {
    const { version, proof } = readLog(join(folderOf(options, deps), table));
    const facts = { table, version, ...proof };
    const words = Object.entries(facts).map(([name, value]) => `${name} ${value ?? "unknown"}`);
    if (options.json) printJson(deps.stdout, facts);
    else deps.stdout.write(`${words.join(", ")}\n`);
  }
}

type Work = (both: Reading & { source: ByMonth; log: Log }) => Promise<void>;

/** Opens tables of the mirror, in one snapshot, and before it their logs. */
async function readBoth(names: readonly string[], options: LakeFlags, deps: Deps, work: Work): Promise<void> {
  const known = names.map((name) => checkTableName(name, knownTableNames()));
  await readMirror(options, deps, async (reading) => {
    const { mirror } = reading;
    const brand = readInfo(mirror, "brand_id");
    const logOf = (name: string) => readLog(join(folderOf(options, deps), name), brand);
    const tables = findTables(mirror, known).map((table) => ({ table, log: logOf(table.name) }));
    await withSnapshot(mirror, async () => {
      for (const { table, log } of tables)
        await work({ ...reading, source: openByMonth(mirror, table), log });
    });
  });
}

function folderOf({ delta = "" }: LakeFlags, deps: Deps): string {
  return expandPath(delta, deps);
}

/** @throws ConfigurationError if the folder has no Delta table of a name that is known here */
function tablesIn(options: LakeFlags, deps: Deps): string[] {
  const folder = folderOf(options, deps);
  const tables = knownTableNames().filter((name) => existsSync(join(folder, name, "_delta_log")));
  if (tables.length > 0) return tables;
  const hint = "`brandapi export orders --delta DIR` makes one";
  throw new ConfigurationError(`The folder has no Delta table: ${folder}`, { hint });
}
