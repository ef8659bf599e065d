import { hash, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Deps, readVersion } from "../../deps.js";
import { makeFolder } from "../../lib/make-folder.js";
import type { ByMonth } from "../../query/index.js";
import { openFileSink, syncFolder } from "../file-sink.js";
import { readDigest, writeRows } from "../formats/parquet.js";
import { findTypes } from "../parquet-types.js";
import { writeAll } from "../sink.js";
import { commit, type Log, refuseIf } from "./log.js";

/**
 * Reads a table once. Returns its columns' types, its number of rows, the digest of each month's rows, and the months of
 * which the lake's files have a different one; all of them, if the lake's columns are not the table's.
 */
export async function compare({ columns, partitionColumns, rows, standing }: ByMonth, log: Log) {
  const { folder, files, metaData, mirror = standing } = log;
  refuseIf(mirror.brand !== standing.brand, folder, "belongs to a different brand");
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
  for (const month of new Set([...files.keys(), ...digests.keys()].sort())) {
    const digest = await readDigest(join(folder, files.get(month) ?? ""));
    if (isNewSchema || !digest || digest !== digests.get(month)) differing.push(month);
  }
  return { types, rows: count, digests, schema: { schemaString, partitionColumns }, isNewSchema, differing };
}

/**
 * Commits a version with the rows of a table, unless nothing has changed. Returns what was done.
 * @param log read before the mirror's snapshot began: otherwise an older snapshot could follow a newer one
 */
export async function exportDelta(source: ByMonth, log: Log, deps: Deps): Promise<string> {
  const { folder, files, metaData: old } = log;
  const { types, rows, digests, schema, isNewSchema, differing } = await compare(source, log);
  if (differing.length === 0 && !isNewSchema) return "nothing has changed";
  const at = deps.clock.now();
  const engineInfo = `brandapi/${readVersion()}`;
  const table = { id: old?.id ?? randomUUID(), format: { provider: "parquet", options: {} } };
  const actions: object[] = [
    { commitInfo: { timestamp: at, operation: "WRITE", engineInfo, mirror: { ...source.standing, rows } } },
    ...(old ? [] : [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }]),
    ...(isNewSchema ? [{ metaData: { ...table, ...schema, configuration: {} } }] : []),
  ];
  makeFolder(join(folder, "_delta_log"));
  const adds: { add: { path: string; [member: string]: unknown } }[] = [];
  try {
    for (const month of differing) {
      const gone = files.get(month);
      const digest = digests.get(month);
      if (gone) actions.push({ remove: { path: gone, deletionTimestamp: at, dataChange: true } });
      if (!digest) continue;
      const path = join(month && `month=${month}`, `part-${randomUUID()}.parquet`);
      makeFolder(dirname(join(folder, path)));
      const chunks = writeRows(source, types, source.rows(month), digest);
      const sink = await openFileSink(join(folder, path), deps);
      const { bytes: size, rows: numRecords } = await writeAll(chunks, sink);
      const partitionValues = source.partitionColumns.length > 0 ? { month: month || null } : {};
      const stats = JSON.stringify({ numRecords });
      adds.push({ add: { path, partitionValues, size, stats, modificationTime: at, dataChange: true } });
    }
    await syncFolder(folder);
    await commit(log, [...actions, ...adds], deps);
  } catch (error) {
    // No version names them. Otherwise a full disk would stay full.
    for (const { add } of adds) rmSync(join(folder, add.path), { force: true });
    throw error;
  }
  return `version ${log.version + 1}, ${rows} rows, months written: ${differing.length}`;
}
