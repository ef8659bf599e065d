import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Deps } from "../deps.js";
import { inParts } from "../lib/in-parts.js";
import { makeFolder } from "../lib/make-folder.js";
import type { Row, Source } from "../query/index.js";
import { layOut, writeRows } from "./formats/parquet.js";
import { openUnlessSame, refuseForeign, removeOwn } from "./own-file.js";
import { runExport } from "./run.js";

type MonthDeps = Pick<Deps, "random" | "clock" | "signal">;

/** What became of a folder of months. */
export interface MonthsWritten {
  rows: number;
  /** Months that are there now, those of them that were written, and those that went. */
  months: number;
  written: number;
  removed: number;
}

/** Rows without a date: the name that Hive, Spark and DuckDB read as null. */
const noMonth = "__HIVE_DEFAULT_PARTITION__";
const monthFolder = /^month=(?:\d{4}-\d{2}|__HIVE_DEFAULT_PARTITION__)$/;

/**
 * Writes a table as `month=YYYY-MM/TABLE.parquet` below a folder. Each file appears whole or not at all; one whose bytes
 * would be the same is left as it is, and one whose month is gone is removed. Column types are those of the whole
 * table, so that all files have the same.
 * @throws ConfigurationError where the folder cannot be written, or a file of that name is not this program's
 */
export async function writeMonths(
  source: Source,
  months: Iterable<MonthBatch>,
  { folder, deps }: { folder: string; deps: MonthDeps },
): Promise<MonthsWritten> {
  const layout = await inParts(layOut(source), deps);
  const done: MonthsWritten = { rows: 0, months: 0, written: 0, removed: 0 };
  const name = `${source.name}.parquet`;
  const there = new Set<string>();
  makeFolder(folder);
  for (const { month, rows } of byMonth(months)) {
    const part = `month=${month ?? noMonth}`;
    const path = join(folder, part, name);
    makeFolder(join(folder, part));
    await refuseForeign(path);
    there.add(part);
    const sink = await openUnlessSame(path, deps);
    done.rows += (await runExport(writeRows(layout, rows), sink, deps)).rows;
    done.months += 1;
    if (sink.isWritten()) done.written += 1;
  }
  for (const part of readdirSync(folder).filter((one) => monthFolder.test(one) && !there.has(one)))
    if (await removeOwn(join(folder, part), name)) done.removed += 1;
  return done;
}

interface MonthBatch {
  month: string | null;
  rows: Row[];
}

/** Batches that follow one another by month: each month's are read before the next month is asked for. */
function* byMonth(batches: Iterable<MonthBatch>): Iterable<{ month: string | null; rows: Iterable<Row[]> }> {
  const iterator = batches[Symbol.iterator]();
  try {
    let next = iterator.next();
    while (!next.done) {
      const { month } = next.value;
      const rows = function* (): Iterable<Row[]> {
        for (; !next.done && next.value.month === month; next = iterator.next()) yield next.value.rows;
      };
      yield { month, rows: rows() };
    }
  } finally {
    iterator.return?.();
  }
}
