import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, Incomplete, UsageError } from "../errors.js";
import { cleanUp } from "../export/delta/clean.js";
import { type Difference, findDifferences } from "../export/delta/compare.js";
import { type Log, readLog } from "../export/delta/log.js";
import { exportDelta } from "../export/delta/write.js";
import { readInfo } from "../mirror/index.js";
import { type ByMonth, knownTableNames, openByMonth, readStanding, withSnapshot } from "../query/index.js";
import { formatCount } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import type { Context, GlobalOptions } from "./context.js";
import { type Reading, readMirror } from "./reading.js";
import { checkTableName, findTables } from "./table.js";

export interface LakeFlags extends GlobalOptions {
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
    const standing = readStanding(mirror, source.name, deps.clock.now());
    const { rows, months, written, isNew } = await exportDelta(source, log, { deps, standing });
    const what = isNew ? `${written} of ${months} parts written` : "nothing has changed";
    reporter.note(`${source.name}: ${formatCount(rows)} rows, ${what}: ${log.folder}`);
    cleanUp(readLog(log.folder), deps.clock.now() - retain);
  });
}

/** `verify --delta DIR`. @throws Incomplete if a table of the lake does not hold what the mirror holds */
export async function verifyLake(
  names: readonly string[],
  options: LakeFlags,
  { deps }: Context,
): Promise<void> {
  const tables = names.length > 0 ? names : tablesIn(expandPath(options.delta ?? "", deps));
  const wrong: string[] = [];
  await readBoth(tables, options, deps, async ({ source, log }) => {
    const differences = await findDifferences(source, log);
    if (differences.length > 0) wrong.push(source.name);
    const { version, proof } = log;
    if (options.json) return printJson(deps.stdout, { table: source.name, version, differences });
    const same = `the same ${formatCount(proof?.rows ?? 0)} rows\n`;
    const text = differences.map((one) => `  ${differenceText(one)}\n`).join("");
    deps.stdout.write(`${source.name}, version ${version}: ${text === "" ? same : `different\n${text}`}`);
  });
  if (wrong.length > 0)
    throw new Incomplete(`The lake differs from the mirror: ${wrong.join(", ")}.`, {
      hint: `run \`brandapi export ${wrong.join(" ")} --delta ${options.delta}\``,
    });
}

/** Returns the rows of both sides, or the first sum that differs. */
function differenceText({ month, lake, mirror }: Difference): string {
  const name = month === "" ? "without a month" : month;
  const sums = Object.keys({ ...lake?.sums, ...mirror?.sums });
  const sum = sums.find((one) => lake?.sums[one] !== mirror?.sums[one]);
  if (lake?.rows !== mirror?.rows)
    return `${name}: ${lake?.rows ?? 0} rows in the lake, ${mirror?.rows ?? 0} in the mirror`;
  if (sum === undefined) return `${name}: the same rows and sums, but other values`;
  const [there, here] = [lake, mirror].map((one) => (one?.sums[sum] ?? 0) / 1e6);
  return `${name}: ${sum} is ${there} in the lake, ${here} in the mirror`;
}

/** `tables --delta DIR`: what the newest version of each table says. */
export function printLake(
  name: string | undefined,
  { delta = "", json }: LakeFlags,
  { deps }: Context,
): void {
  const folder = expandPath(delta, deps);
  for (const table of name === undefined ? tablesIn(folder) : [name]) {
    const { version, proof } = readLog(join(folder, table));
    if (json) printJson(deps.stdout, { table, version, ...proof });
    if (json || !proof) continue;
    const proven = `${proof.verified ? "verified" : "not verified"}, proven through ${proof.through ?? "no time"}`;
    deps.stdout.write(
      `${table}: version ${version}, ${formatCount(proof.rows)} rows, run ${proof.run}, ${proven}\n`,
    );
  }
}

/** Opens tables of the mirror, in one snapshot, beside their logs. */
async function readBoth(
  names: readonly string[],
  options: LakeFlags,
  deps: Deps,
  work: (both: Reading & { source: ByMonth; log: Log }) => Promise<void>,
): Promise<void> {
  const own = names.map((name) => checkTableName(name, knownTableNames()));
  const folder = expandPath(options.delta ?? "", deps);
  await readMirror(options, deps, async (reading) => {
    const { mirror } = reading;
    const tables = findTables(mirror, own);
    const logs = tables.map(({ name }) => readLog(join(folder, name), readInfo(mirror, "brand_id")));
    await withSnapshot(mirror, async () => {
      for (const [index, table] of tables.entries()) {
        const [source, log] = [openByMonth(mirror, table), logs[index]];
        if (log) await work({ ...reading, source, log });
      }
    });
  });
}

/** @throws ConfigurationError if the folder has no Delta table */
function tablesIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const tables = names.filter((name) => existsSync(join(folder, name, "_delta_log")));
  if (tables.length > 0) return tables;
  throw new ConfigurationError(`The folder has no Delta table: ${folder}`, {
    hint: "`brandapi export orders --delta DIR` makes one",
  });
}
