import { statSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import type { Sources } from "../export/format.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import type { TerminalReporter } from "../ui/reporter.js";
import { writeOutput } from "./data-sink.js";
import type { Output } from "./output.js";
import { openState } from "./state-file.js";

/**
 * Returns the output of each file to write: one for all tables, or one per table in a folder, which is made.
 * @throws UsageError if one file cannot hold the tables
 */
export function outputsOf(
  output: Output,
  tables: readonly { name: string }[],
  deps: Deps,
): readonly Output[] {
  const { format, path } = output;
  if (tables.length === 1 || format.holdsMany) return [output];
  if (path === undefined || !(path.endsWith("/") || isFolder(expandPath(path, deps))))
    throw new UsageError(`\`${format.flag}\` holds one table, and these are ${tables.length}.`, {
      hint: "name a folder for one file each, such as `--csv -o exports/`, or a workbook with `-o FILE.xlsx`",
    });
  makeFolder(expandPath(path, deps));
  const ending = output.delimiter === "\t" ? ".tsv" : format.extensions[0];
  return tables.map(({ name }) => ({ ...output, path: join(path, `${name}${ending}`) }));
}

/** Writes sources into one file or stdout, and says on stderr how many rows of each. */
export async function writeFile(
  sources: Sources,
  output: Output,
  { state, deps, reporter }: { state: string | undefined; deps: Deps; reporter: TerminalReporter },
): Promise<void> {
  const started = deps.clock.monotonic();
  const names = sources.map(({ name }) => name).join(", ");
  const warn = (text: string) => reporter.warn(`${names}: ${text}`);
  const rowsOf = new Map<string, number>();
  const finished = (table: string, rows: number) => void rowsOf.set(table, rows);
  const memory = openState(state, deps);
  const done = await writeOutput(sources, output, { deps, warn, finished, ...memory });
  if (!done.cutShort) await memory.keep();
  if (output.path === undefined) return;
  const seconds = ((deps.clock.monotonic() - started) / 1_000).toFixed(1);
  const rows = (count: number) => counted(count, "row", formatCount);
  const tables =
    rowsOf.size > 1
      ? [...rowsOf].map(([table, count]) => `${table}: ${rows(count)}`).join(", ")
      : `${names}: ${rows(done.rows)}`;
  reporter.note(`${tables}, ${formatBytes(done.bytes)} in ${seconds}s: ${output.path}`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
