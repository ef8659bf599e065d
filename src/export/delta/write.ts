import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { Deps } from "../../deps.js";
import { ConfigurationError } from "../../errors.js";
import { makeFolder } from "../../lib/make-folder.js";
import type { ByMonth, Row, Standing } from "../../query/index.js";
import { version } from "../../version.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { writeRows } from "../formats/parquet.js";
import { writeAll } from "../sink.js";
import { footerKey, readContents } from "./contents.js";
import { commit, type Log, type Proof } from "./log.js";

/**
 * Commits a version with the rows of a table, unless nothing has changed. Months that have not changed keep their files.
 * @param log read before the mirror's snapshot began: otherwise an older snapshot could follow a newer one
 */
export async function exportDelta(
  source: ByMonth,
  log: Log,
  { deps, standing }: { deps: Pick<Deps, "clock" | "random">; standing: Standing },
): Promise<{ rows: number; months: number; written: number; isNew: boolean }> {
  const { types, months } = readContents(source);
  const schema = types.map(({ delta }, index) => fieldOf(source.columns[index]?.name ?? "", delta));
  if (source.hasMonths) schema.push(fieldOf("month", "string"));
  const schemaString = `{"type":"struct","fields":[${schema}]}`;
  const { folder, files, metaData: old } = log;
  // A type that is different has no place in the old files.
  const { fields: before = [] } = JSON.parse(old?.schemaString ?? "{}") as { fields?: object[] };
  const isReadable = before.every((field) => schema.includes(JSON.stringify(field)));
  const isKept = (month: string) => isReadable && files.get(month)?.tags.digest === months.get(month)?.digest;
  const stale = [...months.keys()].filter((month) => !isKept(month));
  const removed = [...files].filter(([month]) => !isKept(month));
  const rows = [...months.values()].reduce((sum, month) => sum + month.rows, 0);
  const isNewSchema = schemaString !== old?.schemaString;
  const isNew = isNewSchema || stale.length + removed.length > 0;
  const done = { rows, months: months.size, written: stale.length, isNew };
  if (!isNew) return done;

  makeFolder(join(folder, "_delta_log"));
  const timestamp = deps.clock.now();
  const added: object[] = [];
  for (const [month, batches] of cutMonths(source.rows(stale))) {
    const path = `${/^\d{4}-\d\d$/.test(month) ? `month=${month}/` : ""}part-${randomUUID()}.parquet`;
    makeFolder(dirname(join(folder, path)));
    const contents = months.get(month);
    const sink = await openFileSink(join(folder, path), deps);
    const notes = [{ key: footerKey, value: JSON.stringify(contents) }];
    const { bytes: size } = await writeAll(writeRows(source, types, batches, notes), sink);
    const partitionValues = source.hasMonths ? { month: month || null } : {};
    const stats = JSON.stringify({ numRecords: contents?.rows });
    const tags = { digest: contents?.digest };
    added.push({ path, partitionValues, size, modificationTime: timestamp, dataChange: true, stats, tags });
  }
  await syncFolder(folder);
  const commitInfo = {
    ...{ timestamp, engineInfo: `brandapi/${version}`, operation: "WRITE", isBlindAppend: false },
    userMetadata: JSON.stringify({ ...standing, rows } satisfies Proof),
  };
  const partitionColumns = source.hasMonths ? ["month"] : [];
  const format = { provider: "parquet", options: {} };
  const id = old?.id ?? randomUUID();
  await commit(
    log,
    [
      { commitInfo },
      ...(old ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]),
      ...(isNewSchema
        ? [{ metaData: { id, format, schemaString, partitionColumns, configuration: {} } }]
        : []),
      ...removed.map(([, { path }]) => ({
        remove: { path, deletionTimestamp: timestamp, dataChange: true },
      })),
      ...added.map((add) => ({ add })),
    ],
    deps,
  );
  return done;
}

/** @throws ConfigurationError for a name that Delta does not take */
function fieldOf(name: string, type: string): string {
  if (!/[ ,;{}()\n\t=]/.test(name)) return JSON.stringify({ name, type, nullable: true, metadata: {} });
  throw new ConfigurationError(`Delta takes no column of this name: \`${name}\`.`, {
    hint: "export the table with `--parquet`",
  });
}

/** Cuts rows that are sorted by month. The rows of a month are read before the next month begins. */
function* cutMonths(batches: Iterable<readonly Row[]>): Iterable<[string, Iterable<readonly Row[]>]> {
  const rows = eachRow(batches);
  let next = rows.next();
  function* ofMonth(month: unknown) {
    for (; !next.done && next.value.at(-1) === month; next = rows.next()) yield [next.value];
  }
  while (!next.done) {
    const month = String(next.value.at(-1));
    yield [month, ofMonth(month)];
  }
}

function* eachRow(batches: Iterable<readonly Row[]>): Generator<Row, undefined> {
  for (const batch of batches) yield* batch;
}
