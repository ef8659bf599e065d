import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { Deps } from "../deps.js";
import type { SchemaElement } from "../export/parquet.js";
import { writeToFile } from "../export/write-output.js";
import { parseJson } from "../util/json-value.js";
import type { DeltaLog } from "./log.js";
import {
  type Action,
  type BrandState,
  createDeltaTableError,
  logPath,
  parseVersions,
  protocol,
  versionName,
} from "./log-files.js";

/**
 * The footer key for the states of all brands' mirrors. The log stores these states in `commitInfo` actions, which a
 * checkpoint cannot contain.
 */
const brandsKey = "brandapi.brands";

interface Checkpoint {
  version: number;
  actions: Action[];
  brands: BrandState[];
}

/**
 * Reads a log's newest undamaged checkpoint, if there is one.
 * @param names the names of the files in the log
 * @throws ConfigurationError if the checkpoint was written by another program
 */
export async function readNewestCheckpoint(
  folder: string,
  names: readonly string[],
): Promise<Checkpoint | undefined> {
  for (const version of parseVersions(names, ".checkpoint.parquet").reverse()) {
    const file = await asyncBufferFromFile(checkpointPath(folder, version));
    const metadata = await parquetMetadataAsync(file).catch(() => undefined);
    const rows = metadata && (await parquetReadObjects({ file, metadata }).catch(() => undefined));
    if (!metadata || !rows) continue;
    const brands = metadata.key_value_metadata?.find(({ key }) => key === brandsKey)?.value;
    if (!brands) throw createDeltaTableError(folder, "has a checkpoint that another program wrote");
    return { version, actions: rows.map(toAction), brands: parseJson<BrandState[]>(brands) ?? [] };
  }
  return undefined;
}

function checkpointPath(folder: string, version: number): string {
  return logPath(folder, `${versionName(version)}.checkpoint.parquet`);
}

function toAction(row: unknown): Action {
  return JSON.parse(JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
}

/**
 * Writes a classic checkpoint, which lists the current files and the recently removed files.
 * @param cutoffMs milliseconds since the Unix epoch; files that were removed before this time are omitted
 */
export async function writeCheckpoint(log: DeltaLog, cutoffMs: number, deps: Deps): Promise<void> {
  const { brands, files, folder, metaData, removedFiles, version } = log;
  const kept = [...removedFiles].filter(([, removedAt]) => removedAt >= cutoffMs);
  const rows: Record<string, unknown>[] = [
    { protocol },
    { metaData },
    ...[...files.values()].map(({ modificationTime, size, ...file }) => ({
      add: { ...file, modificationTime: BigInt(modificationTime), size: BigInt(size), dataChange: false },
    })),
    ...kept.map(([path, removedAt]) => ({
      remove: { path, deletionTimestamp: BigInt(removedAt), dataChange: false },
    })),
  ];
  const bytes = encodeCheckpoint(rows, [...brands.values()]);
  await writeToFile([{ data: bytes }], checkpointPath(folder, version), deps);
  // Readers look for `_last_checkpoint` first, so that they do not have to list the entire log.
  const pointer = { version, size: rows.length, sizeInBytes: bytes.length, numOfAddFiles: files.size };
  await writeToFile([{ data: JSON.stringify(pointer) }], logPath(folder, "_last_checkpoint"), deps);
}

const optional = { repetition_type: "OPTIONAL" } as const;
const required = { repetition_type: "REQUIRED" } as const;

function textColumn(name: string): SchemaElement[] {
  return [{ name, type: "BYTE_ARRAY", converted_type: "UTF8", ...optional }];
}

function scalarColumn(name: string, type: "INT32" | "INT64" | "BOOLEAN"): SchemaElement[] {
  return [{ name, type, ...optional }];
}

function structColumn(name: string, ...members: SchemaElement[][]): SchemaElement[] {
  return [{ name, num_children: members.length, ...optional }, ...members.flat()];
}

function listColumn(name: string): SchemaElement[] {
  return [
    { name, num_children: 1, converted_type: "LIST", ...optional },
    { name: "list", num_children: 1, repetition_type: "REPEATED" },
    ...textColumn("element"),
  ];
}

function mapColumn(name: string): SchemaElement[] {
  return [
    { name, num_children: 1, converted_type: "MAP", ...optional },
    { name: "key_value", num_children: 2, repetition_type: "REPEATED" },
    { name: "key", type: "BYTE_ARRAY", converted_type: "UTF8", ...required },
    ...textColumn("value"),
  ];
}

/** The columns of a checkpoint: one for each kind of action (Delta protocol, "Checkpoint Schema"). */
const columns = [
  structColumn(
    "protocol",
    scalarColumn("minReaderVersion", "INT32"),
    scalarColumn("minWriterVersion", "INT32"),
  ),
  structColumn(
    "metaData",
    textColumn("id"),
    textColumn("name"),
    textColumn("description"),
    structColumn("format", textColumn("provider"), mapColumn("options")),
    textColumn("schemaString"),
    listColumn("partitionColumns"),
    scalarColumn("createdTime", "INT64"),
    mapColumn("configuration"),
  ),
  structColumn(
    "add",
    textColumn("path"),
    mapColumn("partitionValues"),
    scalarColumn("size", "INT64"),
    scalarColumn("modificationTime", "INT64"),
    scalarColumn("dataChange", "BOOLEAN"),
    textColumn("stats"),
  ),
  structColumn(
    "remove",
    textColumn("path"),
    scalarColumn("deletionTimestamp", "INT64"),
    scalarColumn("dataChange", "BOOLEAN"),
  ),
];

/**
 * Encodes a checkpoint as a Parquet file.
 * @param rows objects that contain one action each, keyed by the name of the action
 */
function encodeCheckpoint(
  rows: readonly Record<string, unknown>[],
  brands: readonly BrandState[],
): Uint8Array {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [{ name: "root", num_children: columns.length }, ...columns.flat()],
    statistics: false,
    kvMetadata: [{ key: brandsKey, value: JSON.stringify(brands) }],
    createdBy: "brandapi",
  });
  const columnData = columns.map(([column]) => {
    const name = column?.name ?? "";
    return { name, data: rows.map((row) => row[name]) };
  });
  file.write({ columnData });
  file.finish();
  return bytes.getBytes();
}
