import type { Bookmark } from "../query/changed-rows.js";
import type { RowSource } from "../query/select.js";

/** A piece of the output. */
export interface Chunk {
  data: Uint8Array | string;
  /** The number of rows that end in this piece. */
  rows: number;
  /** The name of their source; can be omitted if there is only one. */
  table?: string;
}

export interface FormatOptions {
  excel: boolean;
  /** CSV: use a decimal comma in numbers. */
  decimalComma?: boolean;
  /** CSV: the delimiter; a comma by default. */
  delimiter?: string;
  /** Singer: the bookmarks of the state that the target returned last. */
  bookmarks?: Readonly<Bookmarks> | undefined;
  warn(text: string): void;
}

/** The state of a Singer export: a bookmark for each stream, with a hash of its columns. */
export type Bookmarks = Record<string, Bookmark & { columns: string }>;

export type RowSources = readonly [RowSource, ...RowSource[]];

/** Writes rows piece by piece, with no more than a few batches in memory. */
export type Writer = (sources: RowSources, options: FormatOptions) => Iterable<Chunk>;

/** An export format. `formats.ts` lists them, each `NAME.ts` exports `write`. */
export interface Format {
  name: string;
  /** `--NAME`. */
  flag: string;
  /** The help text of the flag. */
  about: string;
  /** The extensions of `-o` that choose the format; the first is that of files in a folder. */
  extensions: readonly string[];
  /** Extensions of other formats that are allowed if the flag is given. */
  alsoExtensions: readonly string[];
  /** True if a terminal can show it, and if it can be compressed (`.gz`). */
  isText: boolean;
  /** True if one file can have several tables. */
  holdsMany: boolean;
  /** Imports the format's module on demand, which keeps other commands fast. */
  load(): Promise<{ write: Writer }>;
}

/** The export formats, in the order of the help. */
export const formats: readonly Format[] = [
  define("csv", "comma-separated values, with a header", [".csv", ".tsv"], () => import("./csv.js")),
  define("json", "one array of records, in the API's own shape", [".json"], () => import("./json.js")),
  define(
    "ndjson",
    "one record per line, in the API's own shape",
    [".ndjson", ".jsonl"],
    () => import("./ndjson.js"),
  ),
  define("xlsx", "a workbook, one sheet per table", [".xlsx"], () => import("./xlsx.js"), {
    isText: false,
    holdsMany: true,
  }),
  define("parquet", "for DuckDB, Spark, BigQuery and others", [".parquet"], () => import("./parquet.js"), {
    isText: false,
  }),
  define("singer", "lines for Singer and Meltano targets", [], () => import("./singer.js"), {
    alsoExtensions: [".ndjson", ".jsonl"],
    holdsMany: true,
  }),
];

/** Returns a text format for one table per file; `options` differ from that. */
function define(
  name: string,
  about: string,
  extensions: readonly string[],
  load: Format["load"],
  options: Partial<Format> = {},
): Format {
  return {
    name,
    flag: `--${name}`,
    about,
    extensions,
    alsoExtensions: [],
    isText: true,
    holdsMany: false,
    load,
    ...options,
  };
}
