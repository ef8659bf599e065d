import { fork } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Clock } from "../deps.js";
import { Incomplete, UsageError } from "../errors.js";
import { formatSpan } from "../times.js";

/** A cell of a query's answer. A `bigint` is an integer beyond 2^53; bytes come as hexadecimal text. */
export type QueryCell = string | number | bigint | null;

export interface QueryRequest {
  path: string;
  /** One statement that `prepareReading` has passed. */
  sql: string;
  /** At most so many rows; null: all. */
  limit: number | null;
  timeoutMs: number;
  clock: Clock;
  signal: AbortSignal;
}

type Line = unknown[] | { done: true } | { more: true } | { error: string };

/**
 * Runs a query in a process of its own, so that it can be stopped at its time limit or by Ctrl-C wherever it is.
 * The limit counts SQLite's work and the reader's pace together.
 * @returns true where there were more rows than `limit`
 * @throws UsageError when SQLite refuses while running, Incomplete at the time limit
 */
export async function* runQuery(request: QueryRequest): AsyncGenerator<QueryCell[][], boolean> {
  const { path, sql, limit, timeoutMs, clock, signal } = request;
  const child = fork(fileURLToPath(new URL("./query-child.js", import.meta.url)), {
    stdio: ["pipe", "pipe", "ignore", "ipc"],
    execArgv: [],
  });
  child.disconnect();
  const over = new AbortController();
  let late = false;
  const stop = () => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop);
  clock.sleep(timeoutMs, over.signal).then(
    () => {
      late = true;
      stop();
    },
    () => {},
  );
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  failed.catch(() => {});
  try {
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify({ path, sql, limit }));
    if (!child.stdout) throw new Error("no stdout");
    let more = false;
    let batch: QueryCell[][] = [];
    for await (const text of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = JSON.parse(text) as Line;
      if (Array.isArray(line)) {
        batch.push(line.map(decode));
        if (batch.length < 500) continue;
        yield batch;
        batch = [];
      } else if ("more" in line) more = true;
      else if ("done" in line) {
        if (batch.length > 0) yield batch;
        return more;
      } else throw new UsageError(`SQLite stopped: ${line.error}.`, { hint: "check the query" });
    }
    signal.throwIfAborted();
    if (late)
      throw new Incomplete(`The query took longer than ${formatSpan(timeoutMs)}.`, {
        hint: "give it more with `--timeout 5m`, or ask for less",
      });
    throw new Error("the query's process ended before its answer did");
  } finally {
    over.abort();
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function decode(value: unknown): QueryCell {
  if (typeof value !== "object" || value === null) return value as QueryCell;
  if ("integer" in value) return BigInt(String(value.integer));
  return "blob" in value ? String(value.blob) : null;
}
