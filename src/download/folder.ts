import { lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { type Downloaded, type LibraryFile, nameOf } from "./catalogue.js";
import { FileFailed } from "./failure.js";

/** Creates the output folder where it is not there. @returns its real path */
export async function openFolder(path: string): Promise<string> {
  try {
    makeFolder(path);
    return await realpath(path);
  } catch (cause) {
    throw new ConfigurationError(`The output folder cannot be used: ${path}.`, {
      hint: "name another with `--out DIR`, or check its permissions",
      cause,
    });
  }
}

/** Where a file lies complete in the folder, by the mirror's row, its size on disk, and the size the API states. */
export function completeAt(folder: string, file: LibraryFile, row: Downloaded | undefined): string | null {
  if (row === undefined || (file.size !== null && file.size !== row.bytes)) return null;
  const path = join(folder, nameOf(row));
  const there = lstatSync(path, { throwIfNoEntry: false });
  return there?.isFile() && there.size === row.bytes ? path : null;
}

/** What concerns one file only: something else is in its place, or the file system takes no such name or size. */
const oneFileOnly = new Set([
  "EISDIR",
  "EEXIST",
  "ENOTEMPTY",
  "ELOOP",
  "ENAMETOOLONG",
  "EILSEQ",
  "EINVAL",
  "EPERM",
  "EBUSY",
  "EFBIG",
]);

/** What the file system said, as this file's failure where it is one; a full disk, say, is every file's. */
export function explainFileError(error: unknown, folder: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isSystem = error instanceof Error && "syscall" in error;
  if (isSystem && oneFileOnly.has(code))
    return new FileFailed(`it cannot be put in its place (${code})`, { cause: error });
  if (code === "ENOSPC" || code === "EDQUOT")
    return new ConfigurationError(`The disk is full: ${folder}.`, {
      hint: "free some space, then run the same command again: what is complete is kept",
      cause: error,
    });
  return error;
}
