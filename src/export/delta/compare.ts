import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import type { ByMonth } from "../../query/index.js";
import { type Contents, footerKey, readContents } from "./contents.js";
import type { Log } from "./log.js";

/** A month that is not the same on both sides; null: a side does not have it, or its file cannot be read. */
export type Difference = Record<"lake" | "mirror", Contents | null> & { month: string };

/** Compares the months of a table with the footers of their files. No row of a file is read. */
export async function findDifferences(source: ByMonth, { folder, files }: Log): Promise<Difference[]> {
  const { months } = readContents(source);
  const found: Difference[] = [];
  for (const month of [...new Set([...months.keys(), ...files.keys()])].sort()) {
    const mirror = months.get(month) ?? null;
    const lake = await readFooter(join(folder, files.get(month)?.path ?? "none"));
    if (JSON.stringify(lake) !== JSON.stringify(mirror)) found.push({ month, lake, mirror });
  }
  return found;
}

async function readFooter(path: string): Promise<Contents | null> {
  try {
    const file = await asyncBufferFromFile(path);
    const { num_rows, key_value_metadata } = await parquetMetadataAsync(file, { initialFetchSize: 65_536 });
    const noted = key_value_metadata?.find(({ key }) => key === footerKey)?.value ?? "";
    return { ...(JSON.parse(noted) as Contents), rows: Number(num_rows) };
  } catch {
    return null;
  }
}
