import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { Row, Source } from "../../query/index.js";
import type { Chunk, Sources } from "../format.js";
import { findTypes, type StoredType } from "../parquet-types.js";

/** The most rows, and about the most letters, of a row group, which is held in memory. */
const groupRows = 20_000;
const groupLetters = 16e6;

/**
 * Parquet: timestamps in microseconds of UTC, days as dates, booleans, whole numbers, amounts as DECIMAL(18, 6) if every
 * value of the column has a place in it and as DOUBLE otherwise; JSON is text. The rows are read twice: first to find
 * the types, then to be written.
 */
export function* write([source]: Sources): Iterable<Chunk> {
  const types = findTypes(source.columns, source.rows());
  yield* writeRows(source, types, source.rows());
}

/** The name of what `readDigest` returns, in a file's footer. */
const digestKey = "brandapi.digest";

/** Returns the digest with which a file was written; undefined without such a file. */
export async function readDigest(path: string): Promise<string | undefined> {
  const file = await asyncBufferFromFile(path).catch(() => undefined);
  const footer = file && (await parquetMetadataAsync(file).catch(() => undefined));
  return footer?.key_value_metadata?.find(({ key }) => key === digestKey)?.value;
}

/** Writes one file of rows, which can be a part of a table's. @param digest of the rows, for the file's footer */
export function* writeRows(
  { name, columns }: Pick<Source, "name" | "columns">,
  types: readonly StoredType[],
  batches: Iterable<readonly Row[]>,
  digest?: string,
): Iterable<Chunk> {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: "root", num_children: columns.length },
      ...types.map(({ schema }, index) => ({
        name: columns[index]?.name ?? "",
        repetition_type: "OPTIONAL" as const,
        ...schema,
      })),
    ],
    kvMetadata: [
      { key: "brandapi.table", value: name },
      ...(digest === undefined ? [] : [{ key: digestKey, value: digest }]),
    ],
    createdBy: "brandapi",
  });
  let group = types.map((): unknown[] => []);
  let rows = 0;
  let letters = 0;
  const flush = (): Chunk => {
    const columnData = columns.map((column, index) => ({ name: column.name, data: group[index] ?? [] }));
    if (rows > 0) file.write({ columnData, rowGroupSize: rows });
    const chunk = { data: takeBytes(bytes), rows };
    group = types.map(() => []);
    rows = 0;
    letters = 0;
    return chunk;
  };
  for (const batch of batches)
    for (const row of batch) {
      for (const [index, type] of types.entries()) {
        const value = row[index] ?? null;
        if (typeof value === "string") letters += value.length;
        group[index]?.push(value === null ? null : type.convert(value));
      }
      rows += 1;
      if (rows >= groupRows || letters >= groupLetters) yield flush();
    }
  yield flush();
  file.finish();
  yield { data: takeBytes(bytes), rows: 0 };
}

/** Returns what was written since the last time. */
function takeBytes(bytes: ByteWriter): Uint8Array {
  const taken = bytes.getBytes().slice();
  bytes.index = 0;
  return taken;
}
