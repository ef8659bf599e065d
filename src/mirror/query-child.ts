/**
 * A process of its own for one query: SQLite works without a pause, and only a process can be stopped from outside.
 * Reads a request from stdin, writes lines of JSON to stdout: rows as arrays, at the end `{"done":true}` or
 * `{"error":"…"}`. An integer beyond 2^53 comes as `{"integer":"…"}`, bytes as `{"blob":"<hex>"}`.
 */
import { readFileSync, writeSync } from "node:fs";
import Sqlite from "better-sqlite3";

interface Request {
  path: string;
  sql: string;
  limit: number | null;
}

const stdin = 0;
const stdout = 1;
const bytesPerWrite = 64 * 1_024;

function answer(): void {
  const { path, sql, limit } = JSON.parse(readFileSync(stdin, "utf8")) as Request;
  const db = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
  const statement = db.prepare(sql).raw().safeIntegers();
  let lines = "";
  let rows = 0;
  for (const row of statement.iterate() as IterableIterator<unknown[]>) {
    if (limit !== null && rows === limit) {
      lines += `${JSON.stringify({ more: true })}\n`;
      break;
    }
    rows += 1;
    lines += `${JSON.stringify(row.map(encode))}\n`;
    if (lines.length < bytesPerWrite) continue;
    writeAll(lines);
    lines = "";
  }
  writeAll(`${lines}{"done":true}\n`);
}

function encode(value: unknown): unknown {
  if (typeof value === "bigint") {
    const safe = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
    return safe ? Number(value) : { integer: String(value) };
  }
  return value instanceof Uint8Array ? { blob: Buffer.from(value).toString("hex") } : value;
}

function writeAll(text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(stdout, bytes, done);
}

try {
  answer();
} catch (error) {
  writeAll(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`);
}
