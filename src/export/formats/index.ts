import type { Format } from "../format.js";

/** The registry of formats. */
export const formats: readonly Format[] = [
  {
    name: "csv",
    flag: "--csv",
    about: "comma-separated values, with a header",
    extensions: [".csv", ".tsv"],
    isText: true,
    load: () => import("./csv.js"),
  },
  {
    name: "json",
    flag: "--json",
    about: "one array of records, in the API's own shape",
    extensions: [".json"],
    isText: true,
    load: () => import("./json.js"),
  },
  {
    name: "ndjson",
    flag: "--ndjson",
    about: "one record a line, in the API's own shape",
    extensions: [".ndjson", ".jsonl"],
    isText: true,
    load: () => import("./ndjson.js"),
  },
  {
    name: "xlsx",
    flag: "--xlsx",
    about: "a workbook for spreadsheets, a sheet a table: dates and numbers typed, no formula",
    extensions: [".xlsx"],
    isText: false,
    loadAll: () => import("./xlsx.js"),
  },
  {
    name: "parquet",
    flag: "--parquet",
    about: "Parquet for DuckDB, Spark, BigQuery and the like: timestamps and amounts typed",
    extensions: [".parquet"],
    isText: false,
    load: () => import("./parquet.js"),
  },
  {
    name: "singer",
    flag: "--singer",
    about: "SCHEMA, RECORD and STATE lines for Singer and Meltano targets, of one table or many",
    extensions: [],
    isText: true,
    loadAll: () => import("./singer.js"),
  },
];
