import { createHash, type Hash } from "node:crypto";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import type { ByMonth, Row } from "../../query/index.js";
import { findTypes } from "../parquet-types.js";
import type { Log } from "./log.js";

/** What is compared of a month: `rows`, the sum of each column of numbers by currency, and the `digest` of all values. */
export type Contents = Readonly<Record<string, number | string>>;

/** The name that it has in a file's footer. */
export const footerKey = "brandapi.contents";

/** Reads a table once. Returns the contents of each month, and for each column a type that holds its values. */
export function readContents({ columns, rows }: ByMonth) {
  const found = new Map<string, { sums: Record<string, number>; hash: Hash }>();
  const currency = columns.findIndex(({ name }) => name === "currency");
  const note = (row: Row) => {
    const name = String(row.at(-1));
    const month = found.get(name) ?? { sums: {}, hash: createHash("sha256") };
    found.set(name, month);
    const add = (sum: string, value: number) => {
      month.sums[sum] = (month.sums[sum] ?? 0) + value;
    };
    add("rows", 1);
    let text = "";
    for (const [index, column] of columns.entries()) {
      const value = row[index] ?? null;
      // A new column changes no month that has no value in it.
      if (value !== null) text += `${column.name} ${JSON.stringify(value)},`;
      if (typeof value !== "number" || column.type === "boolean") continue;
      add(currency < 0 ? column.name : `${column.name} ${row[currency]}`, Math.round(value * 1e6));
    }
    month.hash.update(`${text}\n`);
  };
  function* noted() {
    for (const batch of rows()) {
      batch.forEach(note);
      yield batch;
    }
  }
  const types = findTypes(columns, noted());
  const months = new Map<string, Contents>();
  for (const [month, { sums, hash }] of found) {
    const figures = Object.entries(sums).map(([name, sum]) => [name, name === "rows" ? sum : sum / 1e6]);
    months.set(month, { ...Object.fromEntries(figures), digest: hash.digest("hex") });
  }
  return { types, months };
}

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
