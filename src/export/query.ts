import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock } from "../deps.js";
import { Incomplete, UsageError } from "../errors.js";
import { formatSpan } from "../times.js";

/** What the query's process is asked: its answer as CSV, as JSON, or as rows for `readRows`. */
export interface ChildRequest {
  path: string;
  /** One statement that `prepareReading` has passed. */
  sql: string;
  /** The names of its columns. */
  names: readonly string[];
  /** At most so many rows; null: all. */
  limit: number | null;
  format: "csv" | "json" | "rows";
}

/** How it ended: whether there were more rows than `limit`, or what SQLite stopped at. */
export type ChildEnd = { more: boolean } | { error: string };

/** A cell of a query's answer; a `bigint` is an integer beyond 2^53. */
export type QueryCell = string | number | bigint | null;

/** A query that is under way. */
export interface RunningQuery {
  answer: Readable;
  /** Resolves when the answer is complete: whether there were more rows than `limit`. */
  ended: Promise<boolean>;
  /** Ends it at once, wherever it is. */
  stop(): void;
}

/**
 * Runs a query in a process of its own, so that it can be stopped at its time limit or by Ctrl-C wherever it is.
 * The limit counts SQLite's work and the reader's pace together. `ended` rejects with UsageError when SQLite refuses
 * while running, with Incomplete at the time limit.
 */
export function startQuery(
  request: ChildRequest,
  options: { timeoutMs: number; clock: Clock; signal: AbortSignal },
): RunningQuery {
  const { timeoutMs, clock, signal } = options;
  const child = fork(fileURLToPath(new URL("./query-child.js", import.meta.url)), {
    stdio: ["pipe", "pipe", "pipe", "ipc"],
    execArgv: [],
  });
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error("the query's process has no streams");
  const stop = () => void child.kill("SIGKILL");
  const over = new AbortController();
  let late = false;
  signal.addEventListener("abort", stop);
  clock.sleep(timeoutMs, over.signal).then(
    () => {
      late = true;
      stop();
    },
    () => {},
  );
  stdin.on("error", () => {});
  stdin.end(JSON.stringify(request));
  const ended = endOf(child, stderr).then((end) => {
    signal.throwIfAborted();
    if (late)
      throw new Incomplete(`The query took longer than ${formatSpan(timeoutMs)}.`, {
        hint: "give it more with `--timeout 5m`, or ask for less",
      });
    if (end === undefined)
      throw new UsageError(
        "The query's process ended before its answer did: it may have run out of memory.",
        {
          hint: "ask for fewer rows or shorter texts",
        },
      );
    if ("error" in end) throw new UsageError(`SQLite stopped: ${end.error}.`, { hint: "check the query" });
    return end.more;
  });
  ended
    .catch(() => {})
    .finally(() => {
      over.abort();
      signal.removeEventListener("abort", stop);
    });
  return { answer: stdout, ended, stop };
}

/** What the process said at its end; undefined where it was stopped before. */
async function endOf(child: ChildProcess, stderr: Readable): Promise<ChildEnd | undefined> {
  const closed = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
  let text = "";
  stderr.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  await closed;
  try {
    return JSON.parse(text) as ChildEnd;
  } catch {
    return undefined;
  }
}

/** The rows of an answer that was asked for as `rows`. */
export async function* readRows(answer: Readable): AsyncIterable<QueryCell[]> {
  for await (const line of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY }))
    yield (JSON.parse(line) as unknown[]).map(decode);
}

function decode(value: unknown): QueryCell {
  if (typeof value !== "object" || value === null) return value as QueryCell;
  return "integer" in value ? BigInt(String(value.integer)) : null;
}
