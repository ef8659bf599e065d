import { closeSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { UsageError } from "../errors.js";
import { errorCode } from "./system-errors.js";

/** True if there is something at a path, links followed. @throws the system's error if the path may not be read */
export function pathExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** More than any statement, key or settings file: an input that goes on beyond this has no end, or is a mistake. */
export const maxInputBytes = 16 * 2 ** 20;

/**
 * Reads a file that a person's editor wrote: UTF-8, or UTF-16 as Windows PowerShell redirects to, without the byte order mark.
 * @throws UsageError if it has more than `mostInputBytes`, as an endless device or pipe does
 */
export function readTextFile(path: string): string {
  const chunks: Buffer[] = [];
  const file = openSync(path, "r");
  try {
    for (let size = 0; size <= maxInputBytes; ) {
      const chunk = Buffer.alloc(65_536);
      const read = readSync(file, chunk);
      if (read === 0) return decode(Buffer.concat(chunks));
      chunks.push(chunk.subarray(0, read));
      size += read;
    }
  } finally {
    closeSync(file);
  }
  throw tooLong(path);
}

/**
 * Reads a stream to its end.
 * @param name of the stream, for the error
 * @throws UsageError if it has more than `mostInputBytes`
 */
export async function readStream(stream: AsyncIterable<Uint8Array | string>, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    const chunk = Buffer.from(piece as Uint8Array);
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxInputBytes) throw tooLong(name);
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

function tooLong(name: string): UsageError {
  return new UsageError(`The input from ${name} is longer than 16 MiB, or has no end.`, {
    hint: "check what writes it",
  });
}

/**
 * Makes a folder, and those above it that are missing. Node's own way of doing that never ends where the system takes
 * no folder and says that the one above is missing, as below /proc.
 * @throws what the system says
 */
export function createFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) createFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the path with its links resolved, also those that lead to a file that does not exist yet. */
export async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // A circle of links.
    if (errorCode(error) === "ELOOP") return path;
  }
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return path;
  return await resolveLinks(resolve(await realpath(dirname(path)), target));
}

/**
 * A name that is not taken yet, whatever its case: as it is, or with `_2`, `_3` and so on at its end.
 * @param taken names in lower case
 */
export function uniqueName(
  name: string,
  taken: ReadonlySet<string>,
  longest = Number.POSITIVE_INFINITY,
): string {
  let free = name.slice(0, longest);
  for (let n = 2; taken.has(free.toLowerCase()); n += 1)
    free = `${name.slice(0, longest - 1 - String(n).length)}_${n}`;
  return free;
}
