/**
 * A process of its own for one query: SQLite works without a pause, and only a process can be stopped from outside.
 * Reads a `ChildRequest` from stdin, writes the answer to stdout and how it ended, a `ChildEnd`, to stderr.
 */
import { readFileSync, writeSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { ChildEnd, ChildRequest } from "./query.js";

const [stdin, stdout, stderr] = [0, 1, 2];
const rowsPerWrite = 500;
const lettersPerWrite = 1e6;
/** A table is held whole, for the widths of its columns. */
const lettersPerTable = 5e7;

type Row = readonly unknown[];

async function answer(): Promise<ChildEnd> {
  const { path, sql, limit, format, names } = JSON.parse(readFileSync(stdin, "utf8")) as ChildRequest;
  const db = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
  const statement = db.prepare(sql).raw().safeIntegers();
  const { head, batch, tail } = await writerFor(format, names);
  writeAll(stdout, head);
  let rows: Row[] = [];
  let count = 0;
  let letters = 0;
  let unwritten = 0;
  let more = false;
  for (const row of statement.iterate() as IterableIterator<Row>) {
    if (limit !== null && count === limit) {
      more = true;
      break;
    }
    const cells = row.map(plain);
    rows.push(cells);
    count += 1;
    unwritten += lettersOf(cells);
    letters += lettersOf(cells);
    if (format === "rows" && letters > lettersPerTable)
      throw new Error("the answer is too large for a table, `--csv` and `--json` have no such limit");
    if (rows.length < rowsPerWrite && unwritten < lettersPerWrite) continue;
    writeAll(stdout, batch(rows));
    rows = [];
    unwritten = 0;
  }
  if (rows.length > 0) writeAll(stdout, batch(rows));
  writeAll(stdout, tail(count));
  return { more };
}

/** Bytes as hexadecimal text: no format here has another place for them. */
function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

function lettersOf(row: Row): number {
  return row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
}

/** How rows become text; `rows` are lines of JSON arrays for `readRows`, integers beyond 2^53 as `{"integer":"…"}`. */
async function writerFor(format: ChildRequest["format"], names: readonly string[]) {
  if (format === "csv") {
    const { stringify } = await import("csv-stringify/sync");
    const options = { quote_record_delimiter: true, ...(names.length === 1 ? { quoted_empty: true } : {}) };
    const batch = (rows: readonly Row[]) => stringify([...rows], options);
    return { head: batch([names]), batch, tail: () => "" };
  }
  if (format === "rows") {
    const cell = (value: unknown) => (isUnsafe(value) ? { integer: String(value) } : asNumber(value));
    const batch = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row.map(cell))}\n`).join("");
    return { head: "", batch, tail: () => "" };
  }
  const members = names.map((name, index) => `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  const cell = (value: unknown) => (typeof value === "bigint" ? String(value) : JSON.stringify(value));
  const object = (row: Row) => `${members.map((member, index) => member + cell(row[index])).join("")}}`;
  let separator = "[\n";
  return {
    head: "",
    batch(rows: readonly Row[]) {
      const text = separator + rows.map(object).join(",\n");
      separator = ",\n";
      return text;
    },
    tail: (count: number) => (count === 0 ? "[]\n" : "\n]\n"),
  };
}

function isUnsafe(value: unknown): boolean {
  return typeof value === "bigint" && !Number.isSafeInteger(Number(value));
}

function asNumber(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function messageOf(error: unknown): ChildEnd {
  return { error: error instanceof Error ? error.message : String(error) };
}

writeAll(stderr, JSON.stringify(await answer().catch(messageOf)));
