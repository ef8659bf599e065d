import { join } from "node:path";
import { runForProfiles } from "../cli/all-profiles.js";
import { withReadSession } from "../cli/read-session.js";
import {
  resolveSyncedTable,
  resolveTableName,
  warnAboutPartialTables,
  warnAboutUnreadTables,
} from "../cli/table-selection.js";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import { mirrorPath, readProfilesWithKey } from "../config/stored-profiles.js";
import type { Context, Deps } from "../deps.js";
import { type ExitCode, Incomplete, UsageError } from "../errors.js";
import { tableNames } from "../query/readable-tables.js";
import { type Mirror, withMirror } from "../store/database.js";
import { openMirrorOrEmpty } from "../store/open.js";
import { loadOwner } from "../store/owner.js";
import { pluralize, quoteShellWord } from "../util/format-text.js";
import { createStyle, printJson, terminalWidth } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import { dayMs } from "../util/timestamps.js";
import { cleanUpTable } from "./cleanup.js";
import { compareRows, compareWithMirror } from "./compare.js";
import { exportDeltaTable } from "./export-table.js";
import { type DeltaLog, hasManyBrands, readDeltaLog } from "./log.js";
import { type BrandState, createDeltaTableError } from "./log-files.js";
import { type MonthlyRows, openMonthlyRows } from "./monthly-rows.js";

/** The flags of `export`, `verify` and `tables` that concern Delta tables. */
type DeltaFlags = GlobalFlags & { delta?: string; retain?: number; allProfiles?: boolean; full?: boolean };

const defaultRetainMs = 7 * dayMs;
/** The minimum value of `--retain` is one hour, because other programs may still be reading an older version. */
const minRetainMs = dayMs / 24;

/**
 * Implements `export TABLE… --delta FOLDER`, which adds a version to the Delta table of each changed table. With
 * `--all-profiles`, exports all brands sequentially to Delta tables that are partitioned by brand.
 */
export async function exportDeltaTables(
  flags: DeltaFlags,
  context: Context,
  names: readonly string[],
): Promise<ExitCode> {
  const folder = requireFolder(flags);
  const retainMs = Math.max(flags.retain ?? defaultRetainMs, minRetainMs);
  if (flags.allProfiles) await refuseSharedBrands(context.deps);
  return await runForProfiles(flags, context, async (profileFlags, { deps }) => {
    const logs = await readLogs(folder, names, deps);
    await withReadSession(profileFlags, deps, async (session) => {
      for (const { log, rows } of openTables(session.mirror, logs, flags.allProfiles)) {
        warnAboutUnreadTables(session, [rows.name]);
        warnAboutPartialTables(session, [rows.name]);
        const result = await exportDeltaTable(rows, log, deps);
        const cutoffMs = deps.clock.now() - retainMs;
        await cleanUpTable(log.folder, { brand: rows.mirrorState.brand, cutoffMs }, deps);
        session.reporter.note(`${rows.name}: ${result}: ${log.folder}`);
      }
    });
  });
}

/**
 * Refuses to export several profiles of the same brand, because each export would replace the previous one.
 * @throws UsageError
 */
async function refuseSharedBrands(deps: Deps): Promise<void> {
  const profilesByBrand = new Map<string, string>();
  for (const [profile, { db }] of readProfilesWithKey(deps)) {
    // The export reports a mirror that cannot be opened, and continues with the other profiles.
    const owner = await withMirror(openMirrorOrEmpty(mirrorPath(profile, db, deps)), loadOwner).catch(
      () => null,
    );
    if (owner === null) continue;
    const other = profilesByBrand.get(owner.id);
    if (other !== undefined)
      throw new UsageError(
        `The profiles \`${other}\` and \`${profile}\` belong to the same brand, ${owner.name}.`,
        {
          hint: "export one profile of each brand with `--profile NAME`",
        },
      );
    profilesByBrand.set(owner.id, profile);
  }
}

/** The result of comparing a table in the mirror with this brand's part of the Delta table. */
interface DeltaVerification {
  table: string;
  version: number;
  /** The months with differences. `""` stands for rows without a month. */
  differing: string[];
  /** The number of rows compared, and the damaged files. Set only with `--full`. */
  rows?: number;
  damaged?: { month: string; file: string; problem: string }[];
}

/**
 * Implements `verify --delta FOLDER`, which prints the months that differ. With `--full`, also compares all rows.
 * @throws Incomplete if there are differences
 */
export async function verifyDeltaTables(
  flags: DeltaFlags,
  { deps }: Context,
  names: readonly string[],
): Promise<void> {
  const folder = requireFolder(flags);
  const logs = await readLogs(folder, names, deps);
  const differingTables: DeltaVerification[] = [];
  await withReadSession(flags, deps, async ({ mirror }) => {
    for (const { log, rows } of openTables(mirror, logs)) {
      checkExists(log);
      const verification = await verifyTable(rows, log, flags.full === true);
      if (verification.differing.length > 0) differingTables.push(verification);
      if (flags.json) printJson(deps.stdout, verification);
      else deps.stdout.write(formatVerification(verification));
    }
  });
  if (differingTables.length === 0) return;
  const tables = differingTables.map(({ table }) => table).join(" ");
  const files = differingTables.flatMap(({ damaged = [] }) =>
    damaged.map(({ file }) => quoteShellWord(file)),
  );
  const remove = files.length > 0 ? `rm ${files.join(" ")} && ` : "";
  throw new Incomplete("The Delta tables differ from the mirror.", {
    hint: `run \`${remove}brandapi export ${tables} --delta ${quoteShellWord(folder)}\``,
  });
}

async function verifyTable(rows: MonthlyRows, log: DeltaLog, full: boolean): Promise<DeltaVerification> {
  const { name: table } = rows;
  const { version } = log;
  const comparison = await compareWithMirror(rows, log);
  const { differing } = comparison;
  if (!full) return { table, version, differing };
  const damaged: { month: string; file: string; problem: string }[] = [];
  let count = 0;
  for (const [month, { path }] of comparison.files) {
    if (differing.includes(month)) continue;
    const file = join(log.folder, path);
    const result = await compareRows(rows, month, comparison, file).catch(
      () => "part of the file cannot be read",
    );
    if (typeof result === "number") count += result;
    else damaged.push({ month, file, problem: result });
  }
  const allDiffering = [...differing, ...damaged.map(({ month }) => month)].sort();
  return { table, version, differing: allDiffering, rows: count, damaged };
}

function formatVerification({ damaged = [], differing, rows, table, version }: DeltaVerification): string {
  const compared = rows === undefined ? "" : `, ${pluralize(rows, "row")} compared`;
  if (differing.length === 0) return `${table}: version ${version} matches the mirror${compared}\n`;
  const months = differing.map((month) => month || "rows without a month");
  const files = damaged.map(({ file, problem }) => `  damaged: ${file}: ${problem}\n`);
  return `${table}: version ${version} differs from the mirror: ${months.join(", ")}${compared}\n${files.join("")}`;
}

/**
 * Implements `tables --delta FOLDER`. For each table and brand, prints the newest version and the mirror's state when
 * that version was exported.
 */
export async function printDeltaTables(
  flags: DeltaFlags,
  { deps }: Context,
  names: readonly string[],
): Promise<void> {
  const { stdout, env } = deps;
  const logs = await readLogs(requireFolder(flags), names, deps);
  for (const log of logs) checkExists(log);
  const states = logs.flatMap((log) => {
    const brands = [...log.brands.values()];
    const byId = (a: BrandState, b: BrandState) => ((a.brand ?? "") < (b.brand ?? "") ? -1 : 1);
    const listed = hasManyBrands(log) ? brands.sort(byId) : brands.slice(-1);
    return listed.map(({ version, dates: _, ...state }) => ({ table: log.table, version, ...state }));
  });
  if (flags.json) {
    for (const state of states) printJson(stdout, state);
    return;
  }
  const showsBrand = logs.some(hasManyBrands);
  const lines = states.map(({ table, brand, version, rows, verified, through, run }) => [
    table,
    ...(showsBrand ? [brand] : []),
    version,
    rows,
    verified ? "yes" : "no",
    through?.replace("T", " ").slice(0, 16) ?? "never",
    run,
  ]);
  const titles = [
    "table",
    ...(showsBrand ? ["brand"] : []),
    "version",
    "rows",
    "verified",
    "through (UTC)",
    "run",
  ];
  const style = createStyle(stdout, flags, env);
  const tableOptions = { style, width: terminalWidth(stdout), optionalColumns: ["run"] };
  stdout.write(`${renderTable(titles, lines, tableOptions)}\n`);
}

/**
 * Returns the value of `--delta`.
 * @throws UsageError if `--delta` is missing, but a flag that requires it was passed
 */
function requireFolder({ allProfiles, delta, retain }: DeltaFlags): string {
  if (delta !== undefined) return delta;
  if (allProfiles)
    throw new UsageError("`--all-profiles` applies only to `--delta`.", {
      hint: "add `--delta FOLDER`, or export one brand with `--profile NAME`",
    });
  const flag = retain === undefined ? "--full" : "--retain";
  throw new UsageError(`\`${flag}\` applies only to \`--delta\`.`, {
    hint: `add \`--delta FOLDER\`, or omit \`${flag}\``,
  });
}

/**
 * Reads the Delta logs of the named tables, which need not exist yet. If `names` is empty, reads the logs of all Delta
 * tables in the folder. Must be called before the mirror is opened, so that the mirror is at least as new as the Delta
 * tables.
 */
async function readLogs(folder: string, names: readonly string[], deps: Deps): Promise<DeltaLog[]> {
  if (/^\w+:\/\//.test(folder)) throw createDeltaTableError(folder, "is not a folder on this machine");
  const tables = new Set(names.length > 0 ? names.map((name) => resolveTableName(name)) : tableNames);
  const logs: DeltaLog[] = [];
  for (const table of tables) logs.push(await readDeltaLog(join(expandPath(folder, deps), table)));
  const wanted = logs.filter(({ version }) => version >= 0 || names.length > 0);
  if (wanted.length === 0) throw createMissingTableError(folder);
  return wanted;
}

function checkExists({ folder, version }: DeltaLog): void {
  if (version < 0) throw createMissingTableError(folder);
}

/**
 * Opens the table or view in the mirror from which each of the Delta tables is exported.
 * @param manyBrands true to partition tables by brand; otherwise, existing tables keep their layout
 * @throws ConfigurationError if a table or view has never been read, because exporting it would empty the Delta table
 */
function openTables(
  mirror: Mirror,
  logs: readonly DeltaLog[],
  manyBrands = false,
): { log: DeltaLog; rows: MonthlyRows }[] {
  return logs.map((log) => {
    const table = resolveSyncedTable(mirror, log.table);
    return { log, rows: openMonthlyRows(mirror, table, { manyBrands: manyBrands || hasManyBrands(log) }) };
  });
}

function createMissingTableError(folder: string) {
  return createDeltaTableError(
    folder,
    "is missing",
    "create one with `brandapi export orders --delta FOLDER`",
  );
}
