import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from "hyparquet";

/** The footer key for the digest of a file's rows. */
export const digestKey = "brandapi.digest";

/** Reads the digest of the rows from a file's footer. Returns undefined if the file or its digest is missing. */
export async function readDigest(path: string): Promise<string | undefined> {
  const footer = await asyncBufferFromFile(path)
    .then((file) => parquetMetadataAsync(file))
    .catch(() => undefined);
  return footer?.key_value_metadata?.find(({ key }) => key === digestKey)?.value;
}

/** Preserves a byte order mark at the start of a string, which hyparquet would remove. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const parsers = { stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes) };

export interface ParquetFile {
  columns: readonly string[];
  /**
   * Reads the values in their stored form. For example, a timestamp is a number of microseconds.
   * @throws an error if a page is damaged
   */
  rowGroups(): AsyncIterable<unknown[][]>;
}

/**
 * Opens a file that this program wrote.
 * @throws an error if the file is missing or its footer is damaged
 */
export async function openParquetFile(path: string): Promise<ParquetFile> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const [root, ...elements] = metadata.schema;
  // Without a logical type, hyparquet returns values in their stored form.
  const schema = elements.map(({ converted_type, logical_type, ...stored }) => stored);
  return {
    columns: elements.map(({ name }) => name),
    async *rowGroups() {
      let rowStart = 0;
      for (const { num_rows } of metadata.row_groups) {
        const rowEnd = rowStart + Number(num_rows);
        let rows: unknown[][] = [];
        await parquetRead({
          file,
          metadata: { ...metadata, schema: root ? [root, ...schema] : [] },
          parsers,
          rowStart,
          rowEnd,
          onComplete: (complete) => {
            rows = complete;
          },
        });
        yield rows;
        rowStart = rowEnd;
      }
    },
  };
}
