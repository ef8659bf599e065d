import { open } from "node:fs/promises";
import { addAbortSignal, Readable } from "node:stream";
import type { Input } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { systemFailure } from "../system-errors.js";
import { checkPrivate } from "./private-file.js";

/** No key is anywhere near this long; it bounds what a wrong path can make us read. */
const mostBytes = 16_384;

/**
 * Takes a key as it was typed, piped or stored: one trailing newline is removed.
 * @param source where it came from, for messages; the key itself is never shown
 * @throws ConfigurationError when it cannot be sent in a header as it is
 */
export function checkKey(text: string, source: string): string {
  const key = text.replace(/^\ufeff/, "").replace(/\r?\n$/, "");
  const hint = "copy the key alone, on one line, as the console showed it when it was created";
  if (key === "") throw new ConfigurationError(`The key from ${source} is empty.`, { hint });
  if (/\s/u.test(key))
    throw new ConfigurationError(`The key from ${source} has a space or line break in it.`, { hint });
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError(
      `The key from ${source} has a character that no key has (a control or non-ASCII character).`,
      { hint },
    );
  if (key.length > mostBytes) throw new ConfigurationError(`The key from ${source} is too long.`, { hint });
  return key;
}

/**
 * Reads `--key-file`. A pipe works as well: `--key-file <(pass show brandapi)`.
 * @throws ConfigurationError when it cannot be read, others may read it, or it holds no key
 */
export async function readKeyFile(path: string): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) throw new ConfigurationError(`The key file is a folder: ${path}`);
      checkPrivate(path, stat);
      const buffer = Buffer.alloc(mostBytes + 1);
      let length = 0;
      for (let bytesRead = 1; bytesRead > 0 && length < buffer.length; length += bytesRead)
        ({ bytesRead } = await file.read(buffer, length, buffer.length - length, null));
      return checkKey(buffer.toString("utf8", 0, length), `the file ${path}`);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`The key file cannot be read (${reasonOf(error)}): ${path}`, {
      hint: "check --key-file, or store the key with `brandapi login`",
    });
  }
}

/**
 * Reads a key piped into stdin, up to its end.
 * Rejects with ConfigurationError when it is none, with the signal's reason when it aborts.
 */
export async function readKeyStream(stream: Input, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of addAbortSignal(signal, Readable.from(stream))) {
    pieces.push(Buffer.from(piece));
    length += pieces.at(-1)?.length ?? 0;
    if (length > mostBytes) break;
  }
  return checkKey(Buffer.concat(pieces).toString("utf8"), "stdin");
}

/** What the system said, in words. */
export function reasonOf(error: unknown): string {
  return systemFailure(error)?.why ?? "unknown reason";
}
