import type { Format } from "../format.js";

/** The registry of formats. */
export const formats: readonly Format[] = [
  {
    name: "csv",
    flag: "--csv",
    about: "comma-separated values, with a header",
    extensions: [".csv", ".tsv"],
    isText: true,
    holdsMany: false,
    load: () => import("./csv.js"),
  },
  {
    name: "json",
    flag: "--json",
    about: "one array of records, in the API's own shape",
    extensions: [".json"],
    isText: true,
    holdsMany: false,
    load: () => import("./json.js"),
  },
  {
    name: "ndjson",
    flag: "--ndjson",
    about: "one record per line, in the API's own shape",
    extensions: [".ndjson", ".jsonl"],
    isText: true,
    holdsMany: false,
    load: () => import("./ndjson.js"),
  },
  {
    name: "xlsx",
    flag: "--xlsx",
    about: "a workbook for spreadsheets, one sheet per table",
    extensions: [".xlsx"],
    isText: false,
    holdsMany: true,
    load: () => import("./xlsx.js"),
  },
  {
    name: "parquet",
    flag: "--parquet",
    about: "for DuckDB, Spark, BigQuery and others",
    extensions: [".parquet"],
    isText: false,
    holdsMany: false,
    load: () => import("./parquet.js"),
  },
  {
    name: "singer",
    flag: "--singer",
    about: "lines for Singer and Meltano targets",
    extensions: [],
    isText: true,
    holdsMany: true,
    load: () => import("./singer.js"),
  },
];
