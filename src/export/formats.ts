import type { Format } from "./format.js";

/** The registry of formats. */
export const formats: readonly Format[] = [
  text("csv", "comma-separated values, with a header", [".csv", ".tsv"], () => import("./csv.js")),
  text("json", "one array of records, in the API's own shape", [".json"], () => import("./json.js")),
  text("ndjson", "one record per line, likewise", [".ndjson", ".jsonl"], () => import("./ndjson.js")),
  {
    ...text("xlsx", "a workbook, one sheet per table", [".xlsx"], () => import("./xlsx.js")),
    isText: false,
    holdsMany: true,
  },
  {
    ...text("parquet", "for DuckDB, Spark, BigQuery and others", [".parquet"], () => import("./parquet.js")),
    isText: false,
  },
  {
    ...text("singer", "lines for Singer and Meltano targets", [], () => import("./singer.js")),
    alsoExtensions: [".ndjson", ".jsonl"],
    holdsMany: true,
  },
];

function text(name: string, about: string, extensions: readonly string[], load: Format["load"]): Format {
  return {
    name,
    flag: `--${name}`,
    about,
    extensions,
    alsoExtensions: [],
    isText: true,
    holdsMany: false,
    load,
  };
}
