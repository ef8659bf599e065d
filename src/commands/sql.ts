import { createReadStream } from "node:fs";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { expandPath } from "../config/folders.js";
import { openToRead } from "../config/private-file.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { systemFailure } from "../lib/system-errors.js";

/** As long as a statement of SQLite may be, in bytes. */
const mostBytes = 1_000_000;

/**
 * A person's SQL: from the argument, from `-f FILE`, or from stdin, which `-f -` is too.
 * @throws UsageError where there is none, or more than one; ConfigurationError where the file cannot be read
 */
export async function readSql(
  argument: string | undefined,
  file: string | undefined,
  deps: Deps,
): Promise<string> {
  if (argument !== undefined && file !== undefined)
    throw new UsageError("One statement at a time, not an argument and `--file`.", {
      hint: "leave one of them out",
    });
  if (argument !== undefined) return argument;
  if (file !== undefined && file !== "-") return await readFile(file, deps);
  if (deps.stdin.isTTY)
    throw new UsageError("No SQL was given.", {
      hint: '`brandapi query "SELECT …"`, `brandapi query -f FILE`, or a pipe; `brandapi tables` lists the tables',
    });
  return await readText(deps.stdin, deps.signal);
}

async function readFile(file: string, deps: Deps): Promise<string> {
  try {
    const path = expandPath(file, deps);
    const { fd, stat } = openToRead(path, { pipes: true });
    const stream = stat.isFIFO() ? new Socket({ fd, writable: false }) : createReadStream(path, { fd });
    return await readText(stream, deps.signal).finally(() => stream.destroy());
  } catch (error) {
    const failure = systemFailure(error);
    if (!failure) throw error;
    throw new ConfigurationError(`The SQL cannot be read, ${failure.why}: ${file}`, { hint: failure.hint });
  }
}

async function readText(stream: Readable, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of addAbortSignal(signal, stream)) {
    pieces.push(Buffer.from(piece));
    length += pieces.at(-1)?.length ?? 0;
    if (length > mostBytes)
      throw new UsageError("The SQL is longer than SQLite takes: 1 MB.", {
        hint: "send a shorter statement",
      });
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}
