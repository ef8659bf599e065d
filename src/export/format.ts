import type { Source } from "../query/index.js";

/** A piece of the output, and how many rows end in it; empty where something took its time, and a signal may be heard. */
export interface Chunk {
  data: Uint8Array | string;
  rows: number;
}

export interface WriteOptions {
  /** For spreadsheets: see the CSV format. */
  excel: boolean;
  /** What stands between two cells of CSV: one byte, a comma by default. */
  delimiter?: string;
  /** Where a reader of changes stands, as `remember` was told it when it had taken everything. */
  state?: unknown;
  remember?(state: unknown): void;
  /** Something the person should know about the data. */
  warn(text: string): void;
}

/** Writes a source piece by piece; never more than a batch is held. */
export type Writer = (source: Source, options: WriteOptions) => Iterable<Chunk> | AsyncIterable<Chunk>;

export type WriterOfAll = (
  sources: readonly Source[],
  options: WriteOptions,
) => Iterable<Chunk> | AsyncIterable<Chunk>;

/** One way to write a table: a file in `formats/` that exports `write`, and a line in the registry there. */
export interface Format {
  name: string;
  flag: string;
  about: string;
  /** The endings of files that are written so without being told. */
  extensions: readonly string[];
  /** Whether it is text: `.gz` may follow its endings, and a terminal can show it. */
  isText: boolean;
  /** One of the two: for one table a file, or for several together. */
  load?(): Promise<{ write: Writer }>;
  loadAll?(): Promise<{ writeAll: WriterOfAll }>;
}
