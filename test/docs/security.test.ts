import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { root } from "./documents.js";

const text = readFileSync(new URL(".github/SECURITY.md", root), "utf8");
const rows = text.split("\n").filter((line) => /^\| (?!promise|---)/.test(line));
const references = rows.flatMap((row) => [...row.matchAll(/`(test\/[\w/.-]+)`: "([^"]+)"/g)]);

describe("SECURITY.md", () => {
  test.each(rows)("names the test that holds: %s", (row) => {
    expect(row).toMatch(/^\| [A-Z`].*\. \| (`test\/[\w/.-]+`: "[^"]+"(; )?)+ \|$/);
  });

  test.each(references.map(([, file = "", name = ""]) => ({ file, name })))(
    "$file has a test `$name`",
    ({ file, name }) => {
      const source = readFileSync(new URL(file, root), "utf8");
      expect(source.includes(name), "name a test as its file has it").toBe(true);
    },
  );

  test("is short", () => {
    expect(text.split("\n").length).toBeLessThan(80);
    expect(rows.length).toBeGreaterThan(15);
  });
});
