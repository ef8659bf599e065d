import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import type { ByMonth } from "../../query/index.js";
import { type Contents, footerKey, readContents } from "./contents.js";
import type { Log } from "./log.js";

/** Returns the months of a table that the footers of its files do not have as the mirror has them: a line for each. */
export async function findDifferences(source: ByMonth, { folder, files }: Log): Promise<string[]> {
  const { months } = readContents(source);
  const lines: string[] = [];
  for (const month of [...new Set([...months.keys(), ...files.keys()])].sort()) {
    const mirror = months.get(month) ?? {};
    const lake = await readFooter(join(folder, files.get(month)?.path ?? "none"));
    const name = Object.keys({ ...mirror, ...lake }).find((one) => lake[one] !== mirror[one]);
    if (name === undefined) continue;
    const [there = "not there", here = "not there"] = [lake[name], mirror[name]];
    lines.push(`${month || "without a month"}: ${name} is ${there} in the lake, ${here} in the mirror`);
  }
  return lines;
}

/** Returns nothing if there is no such file, or it is damaged. */
async function readFooter(path: string): Promise<Contents> {
  try {
    const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path), {
      initialFetchSize: 65_536,
    });
    const noted = metadata.key_value_metadata?.find(({ key }) => key === footerKey)?.value ?? "{}";
    return { ...(JSON.parse(noted) as Contents), rows: Number(metadata.num_rows) };
  } catch {
    return {};
  }
}
