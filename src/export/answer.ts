import type { AnswerRow } from "../query/index.js";
import type { Chunk } from "./format.js";

/** Writes a query's answer: CSV, or a JSON array of objects with a row a line. */
export const answerWriters = { csv: writeCsv, json: writeJson } as const;

async function* writeCsv(names: readonly string[], batches: Iterable<AnswerRow[]>): AsyncIterable<Chunk> {
  const { stringify } = await import("csv-stringify/sync");
  const options = { quote_record_delimiter: true, ...(names.length === 1 ? { quoted_empty: true } : {}) };
  yield { data: stringify([[...names]], options), rows: 0 };
  for (const rows of batches) yield { data: stringify([...rows], options), rows: rows.length };
}

function* writeJson(names: readonly string[], batches: Iterable<AnswerRow[]>): Iterable<Chunk> {
  const members = names.map((name, index) => `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  const cell = (value: unknown) => (typeof value === "bigint" ? String(value) : JSON.stringify(value));
  const object = (row: AnswerRow) => `${members.map((member, index) => member + cell(row[index])).join("")}}`;
  let separator = "[\n";
  for (const rows of batches) {
    yield { data: separator + rows.map(object).join(",\n"), rows: rows.length };
    separator = ",\n";
  }
  yield { data: separator === "[\n" ? "[]\n" : "\n]\n", rows: 0 };
}
