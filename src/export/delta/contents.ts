import { createHash, type Hash } from "node:crypto";
import type { ByMonth, Row } from "../../query/index.js";
import { findTypes } from "../parquet-types.js";

/** What is compared of a month. `sums`: of each column of numbers, by currency, in millionths. */
/** The name that a file has it under in its footer. */
export const footerKey = "brandapi.contents";

export interface Contents {
  rows: number;
  sums: Record<string, number>;
  digest: string;
}

/** Reads a table once, for the contents of each month and the types of its columns. */
export function readContents({ columns, rows }: ByMonth) {
  const found = new Map<string, Contents & { hash: Hash }>();
  const currency = columns.findIndex(({ name }) => name === "currency");
  const note = (row: Row) => {
    const name = String(row.at(-1));
    const month = found.get(name) ?? { rows: 0, sums: {}, digest: "", hash: createHash("sha256") };
    found.set(name, month);
    month.rows += 1;
    let text = "";
    for (const [index, column] of columns.entries()) {
      const value = row[index] ?? null;
      // A new column changes nothing of a month that has no value in it.
      if (value !== null) text += `${column.name} ${JSON.stringify(value)},`;
      if (typeof value !== "number" || column.type === "boolean") continue;
      const key = currency < 0 ? column.name : `${column.name} ${row[currency]}`;
      month.sums[key] = (month.sums[key] ?? 0) + Math.round(value * 1e6);
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
  for (const [name, { hash, ...month }] of found) months.set(name, { ...month, digest: hash.digest("hex") });
  return { types, months };
}
