import { statSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import type { Source } from "../query/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import type { TerminalReporter } from "../ui/reporter.js";
import { openOutput, writeOutput } from "./data-sink.js";
import type { Output } from "./output.js";
import { openState } from "./state-file.js";

/** One file (or stdout) for all, a file a table in a folder, or a folder of months. */
export type Arrangement = "one file" | "a file a table" | "months";

/**
 * How tables go where an output says.
 * @throws UsageError where they cannot
 */
export function arrange(
  { format, path }: Output,
  { tables, byMonth, limit }: { tables: number; byMonth: boolean; limit: number | undefined },
  deps: Deps,
): Arrangement {
  if (byMonth) {
    if (format.name !== "parquet")
      throw new UsageError(`\`--partition-by\` is for \`--parquet\`, not for \`${format.flag}\`.`, {
        hint: "leave one of them out",
      });
    if (path === undefined)
      throw new UsageError("Months need a folder.", { hint: "name one with `-o FOLDER`" });
    if (limit !== undefined)
      throw new UsageError("A folder of months holds whole months, so there is no `--limit`.", {
        hint: "leave one of them out",
      });
    return "months";
  }
  if (tables === 1 || format.loadAll) return "one file";
  if (path !== undefined && (path.endsWith("/") || isFolder(expandPath(path, deps)))) return "a file a table";
  throw new UsageError(`\`${format.flag}\` holds one table, and these are ${tables}.`, {
    hint: "name a folder for a file each, such as `--csv -o exports/`, or one workbook with `-o FILE.xlsx`",
  });
}

interface Writing {
  output: Output;
  /** The file of `--state`. */
  state: string | undefined;
  deps: Deps;
  reporter: TerminalReporter;
}

/** Writes them, and says on stderr what became of each. */
export async function writeTables(
  sources: readonly [Source, ...Source[]],
  arrangement: Arrangement,
  writing: Writing,
): Promise<void> {
  if (arrangement === "one file") return await writeFile(sources, writing);
  if (arrangement === "months") return await writeFolders(sources, writing);
  const { output, deps } = writing;
  makeFolder(expandPath(output.path ?? "", deps));
  for (const source of sources)
    await writeFile([source], { ...writing, output: { ...output, path: fileOf(source, output) } });
}

/** The files that `-o` comes to, as far as they replace what is there: months leave alone what they did not write. */
export function filesOf(
  output: Output,
  arrangement: Arrangement,
  tables: readonly { name: string }[],
): (string | undefined)[] {
  if (arrangement === "months") return [];
  return arrangement === "one file" ? [output.path] : tables.map((table) => fileOf(table, output));
}

function fileOf({ name }: { name: string }, { path, delimiter, format }: Output): string {
  return join(path ?? "", `${name}${delimiter === "\t" ? ".tsv" : format.extensions[0]}`);
}

async function writeFile(
  sources: readonly [Source, ...Source[]],
  { output, state, deps, reporter }: Writing,
): Promise<void> {
  const took = stopwatch(deps);
  const names = sources.map(({ name }) => name).join(", ");
  const warn = (text: string) => reporter.warn(`${names}: ${text}`);
  const memory = openState(state, deps);
  const sink = await openOutput(output, deps);
  const done = await writeOutput(sources, output, { sink, deps, warn, ...memory });
  if (!done.cutShort) await memory.keep();
  const { rows, bytes } = done;
  if (output.path === undefined) return;
  if (done.cutShort) return reporter.warn(`${names}: who read ${output.path} left before the end`);
  const size = `${counted(rows, "row", formatCount)}, ${formatBytes(bytes)}`;
  reporter.note(`${names}: ${size} in ${took()}: ${output.path}`);
}

async function writeFolders(
  sources: readonly [Source, ...Source[]],
  { output, deps, reporter }: Writing,
): Promise<void> {
  const { writeMonths } = await import("../export/months.js");
  const path = output.path ?? "";
  const all = sources.map((source) => ({ source, months: source.months() }));
  const dateless = all.find(({ months }) => !months)?.source;
  if (dateless)
    throw new UsageError(`\`${dateless.name}\` has no date that months could go by.`, {
      hint: "leave `--partition-by` out",
    });
  for (const { source, months = [] } of all) {
    const took = stopwatch(deps);
    const own = sources.length > 1 ? join(path, source.name) : path;
    const done = await writeMonths(source, months, { folder: expandPath(own, deps), deps });
    const size = `${counted(done.rows, "row", formatCount)}, ${counted(done.months, "month")}`;
    const states = `${done.written} written, ${done.months - done.written} as before, ${done.removed} removed`;
    reporter.note(`${source.name}: ${size} (${states}) in ${took()}: ${own}`);
  }
}

/** Says how many seconds have passed since. */
function stopwatch({ clock }: Pick<Deps, "clock">): () => string {
  const started = clock.monotonic();
  return () => `${((clock.monotonic() - started) / 1_000).toFixed(1)}s`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
