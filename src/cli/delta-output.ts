import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { GlobalOptions } from "../config/settings.js";
import { Incomplete } from "../errors.js";
import {
  compareMonths,
  type DeltaLog,
  exportDeltaTable,
  readDeltaLog,
  rejectTable,
  removeUnusedFiles,
} from "../export/delta.js";
import { type MonthlyRows, openMonthlyRows } from "../query/monthly-rows.js";
import { knownTableNames } from "../query/readable-tables.js";
import { printJson, styleFor } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import { terminalWidth } from "../util/terminal-text.js";
import { quoteShellWord } from "../util/text.js";
import { dayMs } from "../util/times.js";
import type { Context } from "./context.js";
import { type ReadSession, readMirror } from "./mirror-reading.js";
import { checkTableName, findSyncedTable } from "./table-selection.js";

const missing = ["is missing", "`brandapi export orders --delta DIR` makes one"] as const;

type DeltaFlags = GlobalOptions & { delta?: string; retain?: number };

/** `export TABLE… --delta DIR`: each table that has changed gets a version. Files of the last hour always stay. */
export async function exportDeltaTables(names: readonly string[], options: DeltaFlags, context: Context) {
  const retain = Math.max(options.retain ?? 7 * dayMs, dayMs / 24);
  await forEachDeltaTable(names, options, context, async (source, log, { deps, reporter }) => {
    const done = await exportDeltaTable(source, log, deps);
    removeUnusedFiles(readDeltaLog(log.folder), deps.clock.now() - retain);
    reporter.note(`${source.name}: ${done}: ${log.folder}`);
  });
}

/** `verify --delta DIR`: prints the months that differ. @throws Incomplete if there are any */
export async function verifyDeltaTables(names: readonly string[], options: DeltaFlags, context: Context) {
  const { stdout } = context.deps;
  const wrong: string[] = [];
  await forEachDeltaTable(names, options, context, async (source, log) => {
    rejectTable(log.version < 0, log.folder, ...missing);
    const { differing } = await compareMonths(source, log);
    if (differing.length > 0) wrong.push(source.name);
    if (options.json) printJson(stdout, { table: source.name, version: log.version, differing });
    else stdout.write(`${comparisonText(source.name, log.version, differing)}\n`);
  });
  const hint = `run \`brandapi export ${wrong.join(" ")} --delta ${quoteShellWord(options.delta ?? "")}\``;
  if (wrong.length > 0) throw new Incomplete("The Delta tables differ from the mirror.", { hint });
}

/** @param differing months; empty for rows without one */
function comparisonText(table: string, version: number, differing: readonly string[]): string {
  if (differing.length === 0) return `${table}: version ${version} equals the mirror`;
  const months = differing.map((month) => month || "rows without a month");
  return `${table}: version ${version} differs from the mirror: ${months.join(", ")}`;
}

/** `tables --delta DIR`: what the newest version of each table says of the mirror. */
export function listDeltaTables(names: readonly string[], options: DeltaFlags, context: Context): void {
  const { stdout, env } = context.deps;
  const logs = readLogs(names, options, context);
  for (const { folder, version } of logs) rejectTable(version < 0, folder, ...missing);
  if (options.json) {
    for (const { table, version, mirror } of logs) printJson(stdout, { table, version, ...mirror });
    return;
  }
  const rows = logs.map(({ table, version, mirror }) => {
    const through = mirror?.through?.replace("T", " ").slice(0, 16) ?? "never";
    return [table, version, mirror?.rows, mirror?.verified ? "yes" : "no", through, mirror?.run];
  });
  const titles = ["table", "version", "rows", "verified", "through (UTC)", "run"];
  const style = styleFor(stdout, options, env);
  const look = { style, width: terminalWidth(stdout), optionalColumns: ["run"] };
  stdout.write(`${renderTable(titles, rows, look)}\n`);
}

type Work = (source: MonthlyRows, log: DeltaLog, reading: ReadSession) => Promise<void>;

/** Opens the tables in one snapshot of the mirror, which is no older than their logs. */
async function forEachDeltaTable(
  names: readonly string[],
  options: DeltaFlags,
  context: Context,
  work: Work,
) {
  const logs = readLogs(names, options, context);
  await readMirror(options, context.deps, async (reading) => {
    const found = logs.map((log) => ({ log, table: findSyncedTable(reading.mirror, log.table) }));
    for (const { log, table } of found) await work(openMonthlyRows(reading.mirror, table), log, reading);
  });
}

/** Reads the logs of tables, which may have no version yet; without names, of all that a lake has. */
function readLogs(names: readonly string[], { delta = "" }: DeltaFlags, { deps }: Context): DeltaLog[] {
  rejectTable(/^$|^\w+:\/\//.test(delta), delta, "is in no folder of this machine");
  const tables = new Set(names.length > 0 ? names.map(checkTableName) : knownTableNames());
  const logs = [...tables].map((table) => readDeltaLog(join(expandPath(delta, deps), table)));
  const found = logs.filter(({ version }) => version >= 0 || names.length > 0);
  rejectTable(found.length === 0, delta, ...missing);
  return found;
}
