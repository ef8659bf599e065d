import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import type { Sources } from "../export/format.js";
import { writeAll } from "../export/sink.js";
import { makeFolder } from "../lib/make-folder.js";
import type { Output } from "./output.js";
import type { Reading } from "./reading.js";
import { writeOutput } from "./write-output.js";

/**
 * Returns the path of a file per table, in the folder that the output names, which is made.
 * @throws UsageError if the output is no folder
 */
export function pathsIn({ format, path = "", delimiter }: Output, names: readonly string[], deps: Deps) {
  const folder = expandPath(path, deps);
  const isFolder = path.endsWith("/") || statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (path === "" || !isFolder)
    throw new UsageError(`\`${format.flag}\` holds one table, and these are ${names.length}.`, {
      hint: "name a folder for one file each, such as `--csv -o exports/`, or a workbook with `-o FILE.xlsx`",
    });
  makeFolder(folder);
  const ending = delimiter === "\t" ? ".tsv" : format.extensions[0];
  return names.map((name) => join(path, `${name}${ending}`));
}

/** Writes what changed since the run that left the state, then the next state. */
export async function writeSince(state: string, sources: Sources, output: Output, reading: Reading) {
  const path = expandPath(state, reading.deps);
  let next: unknown;
  const remember = (made: unknown) => {
    next = made;
  };
  const { cutShort } = await writeOutput(sources, output, reading, { state: readState(path), remember });
  if (next === undefined || cutShort) return;
  const sink = await openFileSink(path, reading.deps);
  await writeAll([{ data: `${JSON.stringify(next)}\n`, rows: 0 }], sink);
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
