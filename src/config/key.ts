import { createReadStream } from "node:fs";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { ConfigurationError } from "../errors.js";
import { systemFailure } from "../lib/system-errors.js";
import { checkPrivate, openToRead } from "./private-file.js";

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
 * @throws ConfigurationError when it cannot be read, others may read it, or it holds no key; rejects as `readKeyStream`
 */
export async function readKeyFile(path: string, signal: AbortSignal): Promise<string> {
  try {
    const { fd, stat } = openToRead(path, { pipes: true });
    const stream = stat.isFIFO() ? new Socket({ fd, writable: false }) : createReadStream(path, { fd });
    try {
      checkPrivate(path, stat);
      return await readKeyStream(stream, signal, `the file ${path}`);
    } finally {
      stream.destroy();
    }
  } catch (error) {
    if (error instanceof ConfigurationError || signal.aborted) throw error;
    throw new ConfigurationError(`The key file cannot be read (${reasonOf(error)}): ${path}`, {
      hint: "check --key-file, or store the key with `brandapi login`",
    });
  }
}

/**
 * Reads a key from stdin or another stream, up to its end.
 * Rejects with ConfigurationError when it is none, with an AbortError when the signal aborts.
 */
export async function readKeyStream(
  stream: Readable,
  signal: AbortSignal,
  source = "stdin",
): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of addAbortSignal(signal, stream)) {
    pieces.push(Buffer.from(piece));
    length += pieces.at(-1)?.length ?? 0;
    if (length > mostBytes) break;
  }
  return checkKey(Buffer.concat(pieces).toString("utf8"), source);
}

/** What the system said, in words. */
export function reasonOf(error: unknown): string {
  return systemFailure(error)?.why ?? "unknown reason";
}
