import type { Format } from "./format.js";

/** The export formats, in the order of the help. */
export const formats: readonly Format[] = [
  define("csv", "comma-separated values, with a header", [".csv", ".tsv"], () => import("./csv.js")),
  define("json", "one array of records, in the API's own shape", [".json"], () => import("./json.js")),
  define(
    "ndjson",
    "one record per line, in the API's own shape",
    [".ndjson", ".jsonl"],
    () => import("./ndjson.js"),
  ),
  define("xlsx", "a workbook, one sheet per table", [".xlsx"], () => import("./xlsx.js"), {
    isText: false,
    holdsMany: true,
  }),
  define("parquet", "for DuckDB, Spark, BigQuery and others", [".parquet"], () => import("./parquet.js"), {
    isText: false,
  }),
  define("singer", "lines for Singer and Meltano targets", [], () => import("./singer.js"), {
    alsoExtensions: [".ndjson", ".jsonl"],
    holdsMany: true,
  }),
];

/** Returns a text format for one table per file; `options` differ from that. */
function define(
  name: string,
  about: string,
  extensions: readonly string[],
  load: Format["load"],
  options: Partial<Format> = {},
): Format {
  return {
    name,
    flag: `--${name}`,
    about,
    extensions,
    alsoExtensions: [],
    isText: true,
    holdsMany: false,
    load,
    ...options,
  };
}
