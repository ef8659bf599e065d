import { closeSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { UsageError } from "../errors.js";
import { errorCode } from "./system-errors.js";

/**
 * True if a path exists. Follows symbolic links.
 * @throws the system error if the path cannot be accessed
 */
export function pathExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * The maximum size of an SQL, key or settings file. A larger file might be an endless device or pipe.
 */
const maxInputBytes = 16 * 2 ** 20;

/**
 * Reads a text file and drops its byte order mark. Accepts UTF-8, and UTF-16 as written by Windows PowerShell.
 * @throws the system error, with the path, if the file cannot be read; UsageError if the file is larger than
 * `maxInputBytes`
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
  } catch (error) {
    // Add the path, because errors from `readSync` do not contain it.
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  } finally {
    closeSync(file);
  }
  throw createTooLargeError(path);
}

export async function readStream(stream: AsyncIterable<Uint8Array | string>, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const data of stream) {
    const chunk = Buffer.from(data as Uint8Array);
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxInputBytes) throw createTooLargeError(name);
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

function createTooLargeError(name: string): UsageError {
  return new UsageError(`The input from ${name} exceeds the limit of 16 MiB.`, {
    hint: "check the file name or the program that writes the input",
  });
}

/**
 * Creates a folder and its missing parents. Node's `recursive` option would loop forever below /proc, which reports
 * existing parents as missing.
 */
export function createFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) createFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Resolves symbolic links in a path to a file that may not exist yet. */
export async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // ELOOP means that symbolic links form a cycle, so following them would never end.
    if (errorCode(error) === "ELOOP") return path;
  }
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return path;
  return await resolveLinks(resolve(await realpath(dirname(path)), target));
}
