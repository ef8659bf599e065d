import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { shellWord } from "../lib/shell.js";
import { mirrorFiles } from "../mirror/index.js";

/** Where a demonstration leaves what it made. */
export interface Folder {
  path: string;
  /** As a person in the current folder names it. */
  shown: string;
  mirror: string;
  /** Notes what was written: the next demonstration may take its place. */
  close(): void;
}

interface Stamp {
  size: number;
  mtimeMs: number;
}

/** What was written, by name; null while it is being written. */
type Written = ReadonlyMap<string, Stamp | null>;

const mirrorName = "demo.sqlite";
const noteName = ".brandapi-demo.json";

/**
 * Makes the folder, and clears away the mirror and the files of an earlier demonstration: each begins anew.
 * @param files the names of what will be written, besides the mirror
 * @throws UsageError, before anything is touched, where one of the names is taken by a file of somebody else, or one
 * that was edited since
 */
export function openFolder(out: string, files: readonly string[], deps: Deps): Folder {
  const path = expandPath(out, deps);
  const shown = isAbsolute(out) ? out : relative(deps.cwd, path) || ".";
  makeFolder(path);
  const names = [...mirrorFiles(mirrorName), ...new Set(files)];
  const notePath = join(path, noteName);
  const earlier = readNote(notePath);
  const foreign = names.filter((name) => !isOurs(name, stampOf(join(path, name)), earlier));
  if (foreign.length > 0)
    throw new UsageError(
      `The demo would overwrite what it did not write, or what was edited since: ${foreign.map((name) => join(shown, name)).join(", ")}.`,
      { hint: `take another folder: \`brandapi demo --out ${shellWord(join(shown, "brandapi-demo-2"))}\`` },
    );
  for (const name of names) rmSync(join(path, name), { force: true });
  writeNote(notePath, new Map(names.map((name) => [name, null])));
  return {
    path,
    shown,
    mirror: join(path, mirrorName),
    close() {
      const there = names.map((name) => [name, stampOf(join(path, name))] as const);
      writeNote(notePath, new Map(there.filter(([, stamp]) => stamp !== null)));
    },
  };
}

/** Nothing is there, or what an earlier demonstration wrote. A mirror changes when it is looked at. */
function isOurs(name: string, found: Stamp | null, earlier: Written): boolean {
  if (found === null) return true;
  if (mirrorFiles(mirrorName).includes(name)) return earlier.has(mirrorName);
  const written = earlier.get(name);
  if (written === undefined) return false;
  return written === null || (written.size === found.size && written.mtimeMs === found.mtimeMs);
}

function stampOf(path: string): Stamp | null {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return size === undefined || mtimeMs === undefined ? null : { size, mtimeMs };
}

/** Empty where there is no note, or one that cannot be read: then nothing is known to be ours. */
function readNote(path: string): Written {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, "utf8")) as Record<string, Stamp | null>));
  } catch {
    return new Map();
  }
}

function writeNote(path: string, note: Written): void {
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(note), null, 2)}\n`);
}
