import type { Bookmark } from "../query/changed-rows.js";
import type { RowSource } from "../query/select.js";

/** A piece of the output, and the number of rows that end in it. */
export interface Chunk {
  data: Uint8Array | string;
  rows: number;
  /** Name of the rows' source, if the output has several. */
  table?: string;
}

export interface WriteOptions {
  excel: boolean;
  /** CSV with a decimal comma. */
  decimalComma?: boolean;
  /** The sign between two cells of CSV; a comma by default. */
  delimiter?: string;
  /** Singer: the bookmarks of the state that the target returned. */
  bookmarks?: Readonly<Bookmarks> | undefined;
  warn(text: string): void;
}

/** For each stream of a Singer target the last change that it received, and its columns. */
export type Bookmarks = Record<string, Bookmark & { columns: string }>;

export type RowSources = readonly [RowSource, ...RowSource[]];

/** Writes sources piece by piece; never holds more than a few batches of rows. */
export type Writer = (sources: RowSources, options: WriteOptions) => Iterable<Chunk>;

/** One way to write a table: a file in `formats/` that exports `write`, and a line in the registry there. */
export interface Format {
  name: string;
  flag: string;
  about: string;
  extensions: readonly string[];
  /** Extensions of other formats that it may be written to if its flag is given. */
  alsoExtensions: readonly string[];
  /** True if it is text: `.gz` may follow its endings, and a terminal can show it. */
  isText: boolean;
  /** True if one file holds several tables. */
  holdsMany: boolean;
  load(): Promise<{ write: Writer }>;
}
