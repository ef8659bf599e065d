import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { Deps } from "../../deps.js";
import { version } from "../../deps.js";
import { ConfigurationError } from "../../errors.js";
import { makeFolder } from "../../lib/make-folder.js";
import type { ByMonth, Row, Standing } from "../../query/index.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { writeRows } from "../formats/parquet.js";
import { writeAll } from "../sink.js";
import { footerKey, readContents } from "./contents.js";
import { commit, type Log, type Proof } from "./log.js";

/**
 * Commits a version with the rows of a table, unless nothing has changed. Months that have not changed keep their files.
 * @param log read before the mirror's snapshot began: otherwise an older snapshot could follow a newer one
 * @returns what was done
 */
export async function exportDelta(
  source: ByMonth,
  log: Log,
  standing: Standing,
  deps: Deps,
): Promise<string> {
  const { types, months } = readContents(source);
  const { folder, files, metaData: old } = log;
  const fields = source.columns.map(({ name }, index) => fieldOf(name, types[index]?.delta));
  if (source.hasMonths) fields.push(fieldOf("month", "string"));
  const schemaString = `{"type":"struct","fields":[${fields}]}`;
  const { fields: before } = JSON.parse(old?.schemaString ?? '{"fields":[]}') as { fields: object[] };
  // Files with a type that is different now could not be read.
  const isReadable = before.every((field) => fields.includes(JSON.stringify(field)));
  const isKept = (month: string) => isReadable && files.get(month)?.tags.digest === months.get(month)?.digest;
  const stale = [...months.keys()].filter((month) => !isKept(month));
  const removed = [...files].filter(([month]) => !isKept(month));
  const isNewSchema = schemaString !== old?.schemaString;
  if (stale.length + removed.length === 0 && !isNewSchema) return "nothing has changed";

  const timestamp = deps.clock.now();
  const rows = [...months.values()].reduce((sum, month) => sum + Number(month.rows), 0);
  const userMetadata = JSON.stringify({ ...standing, rows } satisfies Proof);
  const operation = { operation: "WRITE", operationParameters: { mode: "Overwrite" }, isBlindAppend: false };
  const actions: object[] = [
    { commitInfo: { timestamp, ...operation, engineInfo: `brandapi/${version}`, userMetadata } },
    ...(old ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]),
  ];
  if (isNewSchema) {
    const partitionColumns = source.hasMonths ? ["month"] : [];
    const [id, format] = [old?.id ?? randomUUID(), { provider: "parquet", options: {} }];
    actions.push({ metaData: { id, format, schemaString, partitionColumns, configuration: {} } });
  }
  for (const [, { path }] of removed)
    actions.push({ remove: { path, deletionTimestamp: timestamp, dataChange: true } });
  makeFolder(join(folder, "_delta_log"));
  for (const [month, batches] of cutMonths(source.rows(stale))) {
    const path = `${/^\d{4}-\d\d$/.test(month) ? `month=${month}/` : ""}part-${randomUUID()}.parquet`;
    makeFolder(dirname(join(folder, path)));
    const contents = months.get(month);
    const footer = [{ key: footerKey, value: JSON.stringify(contents) }];
    const sink = await openFileSink(join(folder, path), deps);
    const { bytes: size } = await writeAll(writeRows(source, types, batches, footer), sink);
    const partitionValues = source.hasMonths ? { month: month || null } : {};
    const stats = JSON.stringify({ numRecords: contents?.rows });
    const tags = { digest: contents?.digest };
    const add = { path, partitionValues, size, modificationTime: timestamp, dataChange: true, stats, tags };
    actions.push({ add });
  }
  await syncFolder(folder);
  await commit(log, actions, deps);
  return `version ${log.version + 1}, ${rows} rows, files written: ${stale.length}`;
}

/** Returns a column of a schema. @throws ConfigurationError for a name that Delta does not take */
function fieldOf(name: string, type = "string"): string {
  if (!/[ ,;{}()\n\t=]/.test(name)) return JSON.stringify({ name, type, nullable: true, metadata: {} });
  const hint = "export the table with `--parquet`";
  throw new ConfigurationError(`Delta takes no column of this name: \`${name}\`.`, { hint });
}

/** Cuts rows that are sorted by month. The rows of a month are to be read before the next month. */
function* cutMonths(batches: Iterable<readonly Row[]>): Iterable<[string, Iterable<readonly Row[]>]> {
  const rows = eachRow(batches);
  let next = rows.next();
  function* ofMonth(month: string): Iterable<readonly Row[]> {
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
