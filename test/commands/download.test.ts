import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brandWithFiles, failFileRequests } from "../download/support.js";

/** Creates a brand with files of 2,000 bytes, named after their IDs. The first file is the newest. */
const brandWith = (...ids: string[]) => brandWithFiles(Object.fromEntries(ids.map((id) => [id, {}])));

const download = "download content --max-wait 1s";

test("download writes to the folder in --out, and reports files that are already complete", async () => {
  const brand = await brandWith("a", "b", "c");
  expect((await brand.run(`${download} --out files --limit 2`)).err).toMatch(
    /: 2 files, 4\.0 kB, in \S+\/files$/m,
  );
  const rest = await brand.run(`${download} --out files`);
  expect([rest.code, rest.out]).toEqual([0, ""]);
  expect(rest.err).toMatch(/: 1 file, 2\.0 kB, in \S+\/files; 2 already complete$/m);
  expect(existsSync(join(brand.home, "brandapi-content"))).toBe(false);
});

test("download --json prints a line for each file and a summary, and warns only about files that failed", async () => {
  const brand = await brandWithFiles({ a: {}, b: {}, c: { file_size_bytes: null } });
  brand.remove("content", "upload/a");
  const { code, out, err } = await brand.run(`${download} --json`);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const files = lines.flatMap(({ file }) => file ?? []).sort((x, y) => (x.id < y.id ? -1 : 1));
  expect(code).toBe(8);
  expect(files).toMatchObject([
    { id: "a", source: "upload", outcome: "failed", bytes: null, error: expect.stringContaining("404") },
    { id: "b", source: "upload", outcome: "downloaded", bytes: 2_000, library_bytes: 2_000, error: null },
    { id: "c", outcome: "downloaded", library_bytes: null },
  ]);
  expect(lines.at(-2)).toMatchObject({ summary: { selected: 3, downloaded: 2, failed: 1, not_tried: 0 } });
  expect(err.match(/^warning: .*$/gm)).toEqual([`warning: ${files[0].path}: ${files[0].error}`]);
  expect(err).toContain("1 of 3 files was not downloaded.");
});

const twelve = [..."abcdefghijkl"];

test.each([
  [8, "some files fail", ["a", "b", "c"], ["a", "b"], "2 of 3 files were not downloaded."],
  [8, "the only file fails", ["a"], ["a"], "1 of 1 file was not downloaded."],
  [8, "the file host is down after the first file", twelve, twelve.slice(1), "11 of 12 files were not downl"],
  [6, "the file host is down", twelve, twelve, "12 of 12 files were not downloaded."],
])("download exits with code %i if %s", async (code, _, ids, failing, text) => {
  const brand = await brandWith(...ids);
  failFileRequests(brand, (id) => (failing.includes(id) ? "reset" : undefined));
  const run = await brand.run(download);
  expect([run.code, run.err]).toEqual([code, expect.stringContaining(text)]);
  expect(run.err).toContain("hint: run the same command again; complete files are kept");
  expect(/; \d+ not tried$/m.test(run.err)).toBe(ids === twelve);
});
