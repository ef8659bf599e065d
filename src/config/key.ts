import { addAbortSignal, type Readable } from "node:stream";
import { ConfigurationError } from "../errors.js";
import { wordsOf } from "../lib/failures.js";
import { checkPrivate, readText } from "./private-file.js";

/** No key is anywhere near this long. */
const longest = 16_384;

/**
 * Returns a key without the white space around it.
 * @param source where it came from, for messages; the key itself is never shown
 * @throws ConfigurationError if it cannot be sent in a header as it is
 */
export function checkKey(text: string, source: string): string {
  const key = text.replace(/^\ufeff/, "").trim();
  const wrong =
    key === ""
      ? "is empty"
      : /\s/u.test(key)
        ? "has a space or line break in it"
        : !/^[\x21-\x7e]+$/.test(key)
          ? "has a character that no key has (a control or non-ASCII character)"
          : key.length > longest
            ? "is too long"
            : undefined;
  if (wrong === undefined) return key;
  throw new ConfigurationError(`The key from ${source} ${wrong}.`, {
    hint: "copy the key alone, on one line, as the console showed it when it was created",
  });
}

/**
 * Reads `--key-file`. A shell's pipe works as well: `--key-file <(pass show brandapi)`.
 * @throws ConfigurationError if it cannot be read, others may read it, or it holds no key
 */
export function readKeyFile(path: string): string {
  try {
    checkPrivate(path);
    return checkKey(readText(path), `the file ${path}`);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`cannot read the key file ${path}: ${wordsOf(error)}`, {
      hint: "check --key-file, or store the key with `brandapi login`",
    });
  }
}

/** Reads a key from stdin. Rejects with ConfigurationError if there is none, with an AbortError when the signal aborts. */
export async function readKeyStream(stream: Readable, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of addAbortSignal(signal, stream)) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    length += bytes.length;
    if (length > longest) break;
  }
  return checkKey(Buffer.concat(pieces).toString("utf8"), "stdin");
}
