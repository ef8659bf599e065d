import { hash, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { type Deps, readVersion } from "../../deps.js";
import { makeFolder } from "../../lib/make-folder.js";
import type { ByMonth } from "../../query/index.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { writeRows } from "../formats/parquet.js";
import { findTypes } from "../parquet-types.js";
import { writeAll } from "../sink.js";
import { commit, type Log, refuseIf } from "./log.js";

/** The name of the digest of a file's rows in its footer. */
const digestKey = "brandapi.digest";

/**
 * Reads a table once. Returns the types of its columns, how many rows it has, the digest of each month's rows, and the
 * months of which the lake's files have a different one; all of them, if the lake's columns are not the table's.
 * @throws ConfigurationError if the lake is of a different brand
 */
export async function compare({ columns, partitionColumns, standing, rows }: ByMonth, log: Log) {
  const { folder, files, metaData, mirror } = log;
  refuseIf(mirror !== undefined && mirror.brand !== standing.brand, folder, "belongs to a different brand");
  const digests = new Map<string, string>();
  let count = 0;
  const types = findTypes(columns, rows(), (row) => {
    const month = String(row.at(-1));
    digests.set(month, hash("sha256", (digests.get(month) ?? "") + JSON.stringify(row)));
    count += 1;
  });
  const fields = [...columns.map(({ name }) => name), ...partitionColumns].map((name, index) => {
    return { name, type: types[index]?.delta ?? "string", nullable: true, metadata: {} };
  });
  const schemaString = JSON.stringify({ type: "struct", fields });
  const isNewSchema = schemaString !== metaData?.schemaString;
  const differing: string[] = [];
  for (const month of new Set([...files.keys(), ...digests.keys()])) {
    const footer = await asyncBufferFromFile(join(folder, files.get(month) ?? ""))
      .then(parquetMetadataAsync)
      .catch(() => undefined);
    const digest = footer?.key_value_metadata?.find(({ key }) => key === digestKey)?.value;
    if (isNewSchema || !digest || digest !== digests.get(month)) differing.push(month);
  }
  return { types, count, digests, schemaString, isNewSchema, differing: differing.sort() };
}

/**
 * Commits a version with the rows of a table, unless nothing has changed. Returns what was done.
 * @param log read before the mirror's snapshot began: otherwise an older snapshot could follow a newer one
 */
export async function exportDelta(source: ByMonth, log: Log, deps: Deps): Promise<string> {
  const { folder, files, metaData: old } = log;
  const { types, count, digests, schemaString, isNewSchema, differing } = await compare(source, log);
  if (differing.length === 0 && !isNewSchema) return "nothing has changed";
  const { partitionColumns, standing } = source;
  const [at, engineInfo] = [deps.clock.now(), `brandapi/${readVersion()}`];
  const table = { id: old?.id ?? randomUUID(), format: { provider: "parquet", options: {} } };
  const actions: object[] = [
    { commitInfo: { timestamp: at, operation: "WRITE", engineInfo, mirror: { ...standing, rows: count } } },
    ...(old ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]),
    ...(isNewSchema ? [{ metaData: { ...table, schemaString, partitionColumns, configuration: {} } }] : []),
  ];
  makeFolder(join(folder, "_delta_log"));
  for (const month of differing) {
    const [gone, digest] = [files.get(month), digests.get(month)];
    if (gone) actions.push({ remove: { path: gone, deletionTimestamp: at, dataChange: true } });
    if (!digest) continue;
    const path = join(month && `month=${month}`, `part-${randomUUID()}.parquet`);
    makeFolder(dirname(join(folder, path)));
    const chunks = writeRows(source, types, source.rows(month), [{ key: digestKey, value: digest }]);
    const { bytes: size, rows } = await writeAll(chunks, await openFileSink(join(folder, path), deps));
    const partitionValues = partitionColumns.length > 0 ? { month: month || null } : {};
    const stats = JSON.stringify({ numRecords: rows });
    actions.push({ add: { path, partitionValues, size, stats, modificationTime: at, dataChange: true } });
  }
  await syncFolder(folder);
  await commit(log, actions, deps);
  return `version ${log.version + 1}, ${count} rows, months written: ${differing.length}`;
}
