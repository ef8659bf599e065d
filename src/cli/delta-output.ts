import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import { Incomplete } from "../errors.js";
import {
  compareMonths,
  type DeltaLog,
  exportDeltaTable,
  readDeltaLog,
  rejectDeltaTable,
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
import { checkTableName, findSyncedTable, warnAboutPartialTables } from "./table-selection.js";

type DeltaFlags = GlobalFlags & { delta?: string; retain?: number };

const defaultRetainMs = 7 * dayMs;
/** Readers of the previous version may still need its files. */
const minRetainMs = dayMs / 24;

/** Runs `export TABLE… --delta DIR`: adds a version to each table that has changed. */
export async function exportDeltaTables(
  names: readonly string[],
  flags: DeltaFlags,
  context: Context,
): Promise<void> {
  const retainMs = Math.max(flags.retain ?? defaultRetainMs, minRetainMs);
  await forEachDeltaTable(names, flags, context, async (rows, log, session) => {
    const { deps, reporter } = session;
    warnAboutPartialTables(session, [rows.name]);
    const result = await exportDeltaTable(rows, log, deps);
    removeUnusedFiles(readDeltaLog(log.folder), deps.clock.now() - retainMs);
    reporter.note(`${rows.name}: ${result}: ${log.folder}`);
  });
}

/** Runs `verify --delta DIR`: prints the months that differ. @throws Incomplete if there are any */
export async function verifyDeltaTables(
  names: readonly string[],
  flags: DeltaFlags,
  context: Context,
): Promise<void> {
  const { stdout } = context.deps;
  const differingTables: string[] = [];
  await forEachDeltaTable(names, flags, context, async (rows, log) => {
    checkExists(log);
    const { differing } = await compareMonths(rows, log);
    if (differing.length > 0) differingTables.push(rows.name);
    if (flags.json) printJson(stdout, { table: rows.name, version: log.version, differing });
    else stdout.write(`${comparisonText(rows.name, log.version, differing)}\n`);
  });
  const hint = `run \`brandapi export ${differingTables.join(" ")} --delta ${quoteShellWord(flags.delta ?? "")}\``;
  if (differingTables.length > 0) throw new Incomplete("The Delta tables differ from the mirror.", { hint });
}

/** @param differing months; `""` for rows without a month */
function comparisonText(table: string, version: number, differing: readonly string[]): string {
  if (differing.length === 0) return `${table}: version ${version} equals the mirror`;
  const months = differing.map((month) => month || "rows without a month");
  return `${table}: version ${version} differs from the mirror: ${months.join(", ")}`;
}

/** Runs `tables --delta DIR`: prints the state of the mirror at the newest version of each table. */
export function listDeltaTables(names: readonly string[], flags: DeltaFlags, context: Context): void {
  const { stdout, env } = context.deps;
  const logs = readLogs(names, flags, context);
  for (const log of logs) checkExists(log);
  if (flags.json) {
    for (const { table, version, mirror } of logs) printJson(stdout, { table, version, ...mirror });
    return;
  }
  const lines = logs.map(({ table, version, mirror }) => {
    const through = mirror?.through?.replace("T", " ").slice(0, 16) ?? "never";
    return [table, version, mirror?.rows, mirror?.verified ? "yes" : "no", through, mirror?.run];
  });
  const titles = ["table", "version", "rows", "verified", "through (UTC)", "run"];
  const style = styleFor(stdout, flags, env);
  const tableOptions = { style, width: terminalWidth(stdout), optionalColumns: ["run"] };
  stdout.write(`${renderTable(titles, lines, tableOptions)}\n`);
}

/**
 * The logs are read before the mirror is opened, so the mirror is never older than the versions that it is compared
 * with.
 */
async function forEachDeltaTable(
  names: readonly string[],
  flags: DeltaFlags,
  context: Context,
  work: (rows: MonthlyRows, log: DeltaLog, session: ReadSession) => Promise<void>,
): Promise<void> {
  const logs = readLogs(names, flags, context);
  await readMirror(flags, context.deps, async (session) => {
    const tables = logs.map((log) => findSyncedTable(session.mirror, log.table));
    for (const [index, table] of tables.entries()) {
      const log = logs[index];
      if (log) await work(openMonthlyRows(session.mirror, table), log, session);
    }
  });
}

/** Reads the logs of these tables, which may not exist yet; without names, of all Delta tables in the folder. */
function readLogs(names: readonly string[], { delta = "" }: DeltaFlags, { deps }: Context): DeltaLog[] {
  if (/^$|^\w+:\/\//.test(delta)) throw rejectDeltaTable(delta, "is not a folder on this machine");
  const tables = new Set(names.length > 0 ? names.map(checkTableName) : knownTableNames());
  const logs = [...tables].map((table) => readDeltaLog(join(expandPath(delta, deps), table)));
  const wanted = logs.filter(({ version }) => version >= 0 || names.length > 0);
  if (wanted.length === 0) throw missingDeltaTable(delta);
  return wanted;
}

function checkExists({ folder, version }: DeltaLog): void {
  if (version < 0) throw missingDeltaTable(folder);
}

function missingDeltaTable(folder: string) {
  return rejectDeltaTable(folder, "is missing", "`brandapi export orders --delta DIR` makes one");
}
