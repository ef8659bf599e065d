import { existsSync, readFileSync } from "node:fs";
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

/** Returns a table's file in the folder that the output names, which is made. @throws UsageError if it names none */
export function pathIn({ format, path = "", delimiter }: Output, table: string, deps: Deps): string {
  if (!path.endsWith("/"))
    throw new UsageError(`\`${format.flag}\` holds one table.`, {
      hint: "name a folder for a file each, with a slash: `--csv -o exports/`; or a workbook: `-o FILE.xlsx`",
    });
  makeFolder(expandPath(path, deps));
  return path + table + (delimiter === "\t" ? ".tsv" : format.extensions[0]);
}

/** Writes what changed since the run that left the state, then the next state. */
export async function writeSince(state: string, sources: Sources, output: Output, reading: Reading) {
  const path = expandPath(state, reading.deps);
  let next: unknown;
  const { cutShort } = await writeOutput(sources, output, reading, {
    state: readState(path),
    remember: (made) => {
      next = made;
    },
  });
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
