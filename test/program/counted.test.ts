import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { counted } from "../../src/lib/counted.js";

test("one of something is said in the singular", () => {
  expect([0, 1, 2].map((count) => counted(count, "retry"))).toEqual(["0 retries", "1 retry", "2 retries"]);
  expect(counted(2, "day")).toBe("2 days");
  expect(counted(1_000, "record", (count) => `~${count}`)).toBe("~1000 records");
});

test("no text counts records, rows, requests or the like without it", () => {
  const src = new URL("../../src/", import.meta.url).pathname;
  // What is a share of a number has the plural; the sandbox tells nobody numbers.
  const broken = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("sandbox"))
    .flatMap((file) =>
      readFileSync(join(src, file), "utf8")
        .split("\n")
        .filter((line) =>
          /(?<! of )\$\{[^}]*\} (records|rows|requests|pages|items|days|months|hosts|files)\b/.test(line),
        )
        .map((line) => `src/${file}: ${line.trim()}`),
    );
  expect(broken).toEqual([]);
});
