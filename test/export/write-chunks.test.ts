import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Chunk } from "../../src/export/formats.js";
import { writeChunks, writeToStdout } from "../../src/export/write-output.js";
import { testDeps } from "../support/program.js";

async function collect(chunks: readonly Chunk[], isCompressed?: boolean) {
  const written: Uint8Array[] = [];
  const write = async (data: Uint8Array) => void written.push(data);
  const result = await writeChunks(chunks, write, { isCompressed });
  return { ...result, rows: Object.fromEntries(result.rows), output: Buffer.concat(written) };
}

const chunks = [
  { data: "header ü\n" },
  { data: "1\n2\n", rows: 2, table: "a" },
  { data: Buffer.from("3\n"), rows: 1, table: "b" },
  { data: "4\n", rows: 1, table: "a" },
  { data: "", table: "c" },
];
const text = "header ü\n1\n2\n3\n4\n";

test("writing an export counts the bytes written and the rows in each table", async () => {
  const { output, ...counts } = await collect(chunks);
  expect(output.toString()).toBe(text);
  expect(counts).toEqual({ bytes: 18, rows: { a: 3, b: 1, c: 0 }, isCutShort: false });
});

test("writing a compressed export counts the compressed bytes", async () => {
  const { output, bytes, rows } = await collect(chunks, true);
  expect(gunzipSync(output).toString()).toBe(text);
  expect([bytes, rows]).toEqual([output.length, { a: 3, b: 1, c: 0 }]);
});

test.each([
  ["an uncompressed", false],
  ["a compressed", true],
])("writing %s export fails if reading the rows or writing the data fails", async (_, isCompressed) => {
  function* failing(): Iterable<Chunk> {
    yield { data: "a" };
    throw new Error("no more rows");
  }
  await expect(writeChunks(failing(), async () => {}, { isCompressed })).rejects.toThrow("no more rows");
  const write = async () => Promise.reject(new Error("disk full"));
  await expect(writeChunks(chunks, write, { isCompressed })).rejects.toThrow("disk full");
});

test.each([
  ["a terminal escapes control characters", true, "\\u001b[31m\n\u0007"],
  ["a pipe leaves control characters unchanged", false, "\u001b[31m\n\u0007"],
])("an export to %s in text", async (_, tty, written) => {
  const { stdout } = testDeps({ tty });
  await writeToStdout([{ data: "\u001b[31m\n" }, { data: Buffer.from("\u0007") }], stdout);
  expect(stdout.text).toBe(written);
});
