import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import { writeAll } from "../export/sink.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import type { Reporter } from "../lib/reporter.js";
import type { Source } from "../query/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import type { Output } from "./output.js";
import { writeOutput } from "./write-output.js";

/**
 * Returns the output of each file: one for all tables, or one per table in a folder, which is made.
 * @throws UsageError if one file cannot hold the tables
 */
export function outputsOf(
  output: Output,
  tables: readonly { name: string }[],
  deps: Deps,
): readonly Output[] {
  const { format, path = "" } = output;
  if (tables.length === 1 || format.holdsMany) return [output];
  const folder = expandPath(path, deps);
  const isFolder = path.endsWith("/") || statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (path === "" || !isFolder)
    throw new UsageError(`\`${format.flag}\` holds one table, and these are ${tables.length}.`, {
      hint: "name a folder for one file each, such as `--csv -o exports/`, or a workbook with `-o FILE.xlsx`",
    });
  makeFolder(folder);
  const ending = output.delimiter === "\t" ? ".tsv" : format.extensions[0];
  return tables.map(({ name }) => ({ ...output, path: join(path, `${name}${ending}`) }));
}

interface Writing {
  state: string | undefined;
  dbPath: string;
  deps: Deps;
  reporter: Reporter;
}

/** Writes sources into one file or stdout, and reports the rows of each; then replaces the state of `--state`. */
export async function writeFile(
  sources: readonly Source[],
  output: Output,
  { state, dbPath, deps, reporter }: Writing,
): Promise<void> {
  const [first, ...others] = sources;
  if (!first) return;
  const started = deps.clock.monotonic();
  const names = sources.map(({ name }) => name).join(", ");
  const rowsOf = new Map<string, number>();
  const statePath = state === undefined ? undefined : expandPath(state, deps);
  let next: unknown;
  const done = await writeOutput([first, ...others], output, {
    deps,
    dbPath,
    warn: (text) => reporter.warn(`${names}: ${text}`),
    finished: (table, rows) => void rowsOf.set(table, rows),
    state: statePath === undefined ? undefined : readState(statePath),
    remember: (made) => {
      next = made;
    },
  });
  if (statePath !== undefined && next !== undefined && !done.cutShort)
    await writeAll([{ data: `${JSON.stringify(next)}\n`, rows: 0 }], await openFileSink(statePath, deps));
  if (output.path === undefined) return;
  const seconds = ((deps.clock.monotonic() - started) / 1_000).toFixed(1);
  const all = rowsOf.size > 1 ? [...rowsOf] : [[names, done.rows] as const];
  const rows = all.map(([table, count]) => `${table}: ${counted(count, "row", formatCount)}`).join(", ");
  reporter.note(`${rows}, ${formatBytes(done.bytes)} in ${seconds}s: ${output.path}`);
}

/** Reads the state that an earlier export left; undefined if there is none. */
function readState(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    const state: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof state === "object" && state !== null && "bookmarks" in state) return state;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConfigurationError(`The file is no state that \`brandapi\` wrote: ${path}`, {
    hint: "name another with `--state`; without a state everything is sent",
  });
}
