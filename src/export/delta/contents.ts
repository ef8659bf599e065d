import { createHash, type Hash } from "node:crypto";
import type { ByMonth, Row } from "../../query/index.js";
import { findTypes } from "../parquet-types.js";

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
