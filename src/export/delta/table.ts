import { createHash, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { type Deps, readVersion } from "../../deps.js";
import { makeFolder } from "../../lib/make-folder.js";
import type { ByMonth } from "../../query/index.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { writeRows } from "../formats/parquet.js";
import { findTypes } from "../parquet-types.js";
import { writeAll } from "../sink.js";
import { commit, type Log } from "./log.js";

/** The name of a month's figures in its file's footer. */
const footerKey = "brandapi.figures";

/**
 * Returns the figures of each month of a table: its rows, the sum of each column of numbers, and a digest of all values;
 * and the months of which the footers of the lake's files do not say the same.
 */
export async function compare(source: ByMonth, { folder, files }: Log) {
  const months = new Map<string, { rows: number; sums: Record<string, number>; digest: string }>();
  for (const batch of source.rows())
    for (const row of batch) {
      const month = String(row.at(-1));
      const { rows, sums, digest } = months.get(month) ?? { rows: 0, sums: {}, digest: "" };
      for (const [index, { name }] of source.columns.entries()) {
        const value = row[index];
        if (typeof value === "number") sums[name] = Math.round(((sums[name] ?? 0) + value) * 1e6) / 1e6;
      }
      const hash = createHash("sha256").update(digest + JSON.stringify(row));
      months.set(month, { rows: rows + 1, sums, digest: hash.digest("hex") });
    }
  const differing: string[] = [];
  for (const month of new Set([...files.keys(), ...months.keys()])) {
    const footer = await readFooter(join(folder, files.get(month) ?? "")).catch(() => undefined);
    if (footer !== JSON.stringify(months.get(month))) differing.push(month);
  }
  return { months, differing: differing.sort() };
}

async function readFooter(path: string): Promise<string | undefined> {
  const { key_value_metadata: notes } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return notes?.find(({ key }) => key === footerKey)?.value;
}

/**
 * Commits a version with the rows of a table, unless nothing has changed. Returns what was done.
 * @param log read before the mirror's snapshot began: otherwise an older snapshot could follow a newer one
 */
export async function exportDelta(source: ByMonth, log: Log, standing: object, deps: Deps): Promise<string> {
  const { folder, files, metaData: old } = log;
  const { months, differing } = await compare(source, log);
  const { columns, partitionColumns } = source;
  const types = findTypes(columns, source.rows());
  const fields = [...columns.map(({ name }) => name), ...partitionColumns].map((name, index) => {
    return { name, type: types[index]?.delta ?? "string", nullable: true, metadata: {} };
  });
  const schemaString = JSON.stringify({ type: "struct", fields });
  const isNewSchema = schemaString !== old?.schemaString;
  // All files of a version have its columns in its types.
  const stale = isNewSchema ? [...new Set([...files.keys(), ...months.keys()])] : differing;
  if (stale.length === 0 && !isNewSchema) return "nothing has changed";

  const [timestamp, engineInfo] = [deps.clock.now(), `brandapi/${readVersion()}`];
  const rows = [...months.values()].reduce((sum, figures) => sum + figures.rows, 0);
  const table = { id: old?.id ?? randomUUID(), format: { provider: "parquet", options: {} } };
  const actions: object[] = [
    { commitInfo: { timestamp, operation: "WRITE", engineInfo, mirror: { ...standing, rows } } },
    ...(old ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]),
    ...(isNewSchema ? [{ metaData: { ...table, schemaString, partitionColumns, configuration: {} } }] : []),
  ];
  makeFolder(join(folder, "_delta_log"));
  for (const month of stale) {
    const [gone, figures] = [files.get(month), months.get(month)];
    if (gone) actions.push({ remove: { path: gone, deletionTimestamp: timestamp, dataChange: true } });
    if (!figures) continue;
    const path = join(month && `month=${month}`, `part-${randomUUID()}.parquet`);
    makeFolder(dirname(join(folder, path)));
    const footer = [{ key: footerKey, value: JSON.stringify(figures) }];
    const chunks = writeRows(source, types, source.rows(month), footer);
    const { bytes: size } = await writeAll(chunks, await openFileSink(join(folder, path), deps));
    const partitionValues = partitionColumns.length > 0 ? { month: month || null } : {};
    const stats = JSON.stringify({ numRecords: figures.rows });
    const add = { path, partitionValues, size, stats, modificationTime: timestamp, dataChange: true };
    actions.push({ add });
  }
  await syncFolder(folder);
  await commit(log, actions);
  return `version ${log.version + 1}, ${rows} rows, months written: ${stale.length}`;
}
