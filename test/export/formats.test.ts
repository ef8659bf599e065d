import { expect, test } from "vitest";
import { formats, tableFormats } from "../../src/export/formats.js";

test("each export format has the documented file extensions, and supports text output and several tables where documented", () => {
  const facts = formats.map(({ name, extensions, flagOnlyExtensions = [], isText, isMultiTable }) => [
    [name, ...extensions].join(" "),
    flagOnlyExtensions.join(" "),
    isText ? "text" : "binary",
    isMultiTable ? "several tables" : "one table",
  ]);
  expect(facts).toEqual([
    ["csv .csv .tsv", "", "text", "one table"],
    ["json .json", "", "text", "one table"],
    ["ndjson .ndjson .jsonl", "", "text", "one table"],
    ["xlsx .xlsx", "", "binary", "several tables"],
    ["parquet .parquet", "", "binary", "one table"],
    ["singer", ".ndjson .jsonl", "text", "several tables"],
  ]);
});

test.each([
  ["csv", /^x\n1\n2\n$/],
  ["json", /^\[\n\{"x":1\},\n\{"x":2\}\n\]\n$/],
  ["ndjson", /^\{"x":1\}\n\{"x":2\}\n$/],
  ["xlsx", /^PK/],
  ["parquet", /^PAR1[\s\S]*PAR1$/],
] as const)(
  "an export in the format %s reports the number of rows with each chunk of its output",
  async (name, output) => {
    const { encode } = (await tableFormats.find((format) => format.name === name)?.load()) ?? {};
    const columns = [{ name: "x", type: "integer", about: "" } as const];
    const source = { name: "t", columns, batches: () => [[[1]], [[2]]] };
    const csv = { excel: false, decimalComma: false, delimiter: "," };
    const options = { csv, warn: () => {} };
    const chunks = [...(encode?.([source], options) ?? [])];
    const bytes = Buffer.concat(chunks.map(({ data }) => Buffer.from(data)));
    expect(bytes.toString("latin1")).toMatch(output);
    expect(chunks.reduce((sum, { rows = 0, table }) => sum + (table === "t" ? rows : 0), 0)).toBe(2);
  },
);
