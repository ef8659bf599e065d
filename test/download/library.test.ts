import { createHash } from "node:crypto";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { selectFiles } from "../../src/download/library-download.js";
import { resolveTable } from "../../src/query/readable-tables.js";
import { fileBytes } from "../../src/sandbox/file-host.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { until } from "../support/process.js";
import { at } from "../support/records.js";
import { brandWithFiles, download, isComplete, listFolder, outputFolder, requestedFile } from "./support.js";

const unsafeNames = [
  "../../etc/passwd",
  "..\\..\\windows\\win.ini",
  "C:\\boot.ini",
  "/dev/null",
  "a\u0000b.jpg",
  "\u001b[2J\u001b]0;owned\u0007.png",
  "photo\u202egnp.exe",
  "CON",
  ".bashrc",
  "-rf",
  "trailing. . .",
  "",
  "..",
  "name\nnext line.mp4",
  `${"long".repeat(120)}.jpeg`,
  "🏔️".repeat(150),
  "Same.JPG",
  "same.jpg",
  "%2e%2e%2fup.jpg",
];

test("each file is downloaded exactly once, whatever its name, without sending the API key to the file host", async () => {
  const files = unsafeNames.map(
    (filename, n) => [`f${n}`, { filename, file_size_bytes: 1_000 + n }] as const,
  );
  const brand = await brandWithFiles(Object.fromEntries(files));
  const before = new Set(listFolder(brand));
  const run = await download(brand);
  expect(run.code, run.err).toBe(0);
  expect(run.summary).toMatchObject({ selected: files.length, downloaded: files.length, failed: 0 });
  for (const { id, path, bytes, sha256 } of run.files) {
    const expected = fileBytes(id, 0, 1_000 + Number(id.slice(1)));
    expect(join(outputFolder(brand), basename(path))).toBe(path);
    expect(readFileSync(path).equals(expected)).toBe(true);
    expect({ bytes, sha256 }).toEqual({
      bytes: expected.length,
      sha256: createHash("sha256").update(expected).digest("hex"),
    });
  }
  expect(listFolder(brand)).toHaveLength(before.size + files.length);
  const hostRequests = run.requests.filter((request) => requestedFile(request) !== undefined);
  expect(hostRequests).toHaveLength(files.length);
  for (const { headers } of hostRequests) {
    expect(headers.authorization).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(brand.key);
  }
  expect(brand.sql("SELECT count(*) AS n FROM content_downloads")).toEqual([{ n: files.length }]);

  const again = await download(brand);
  expect(again.summary).toMatchObject({ downloaded: 0, already_complete: files.length });
  expect(again.requests.filter(({ path }) => path !== "/me")).toEqual([]);
});

test("four files are downloaded concurrently", async () => {
  const brand = await brandWithFiles(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${n}`, {}])));
  let [current, maximum, started] = [0, 0, 0];
  const fetch: typeof brand.fetch = async (url, init) => {
    if (!String(url).includes("/files/")) return await brand.fetch(url, init);
    current += 1;
    maximum = Math.max(maximum, current);
    started += 1;
    await until(() => started >= 4);
    current -= 1;
    return await brand.fetch(url, init);
  };
  expect((await download(brand, "", { fetch })).summary).toMatchObject({ downloaded: 12 });
  expect(maximum).toBe(4);
});

test("a file is downloaded again only if it was deleted or damaged, or if its size in the library has changed", async () => {
  const brand = await brandWithFiles({ a: {}, b: {}, c: {}, d: {} });
  const { files } = await download(brand);
  rmSync(files[0]?.path ?? "");
  brand.change("content", "upload/b", { file_size_bytes: 2_001 });
  brand.change("content", "upload/c", { filename: "renamed.jpg", file_size_bytes: null });
  appendFileSync(files[3]?.path ?? "", "x");
  await brand.run("sync content --full");
  const again = await download(brand);
  expect(again.files.map(({ id, path }) => [id, path])).toEqual(
    [0, 1, 3].map((n) => [files[n]?.id, files[n]?.path]),
  );
  expect(again.summary).toMatchObject({ downloaded: 3, already_complete: 1 });
  expect(statSync(again.files[1]?.path ?? "").size).toBe(2_001);
});

test("files in a moved folder are not downloaded again, and the mirror records their new paths", async () => {
  const brand = await brandWithFiles({ a: {} });
  await download(brand);
  renameSync(outputFolder(brand), join(brand.home, "moved"));
  symlinkSync("moved", join(brand.home, "link"));
  const run = await brand.run(`download content --out ${join(brand.home, "link")}`);
  expect(run.err).toContain("1 already complete");
  expect(brand.sql<{ path: string }>("SELECT path FROM content_downloads")[0]?.path).toContain("/moved/");
});

test("download --where warns about an unquoted date", async () => {
  const brand = await brandWithFiles({ a: {} });
  const { code, err } = await brand.run("download content --where created_at>2026-10-01");
  expect(code).toBe(0);
  expect(err).toContain(
    "`2026-10-01` without quotes is a subtraction, so `created_at` is compared with 2015",
  );
});

test("download --limit selects the newest files that match the filters and have not been downloaded yet", async () => {
  const brand = await brandWithFiles({
    new: { media_type: "video" },
    mid: {},
    old: { source: "deliverable", download_path: "/content/deliverable/old/download" },
  });
  const idsOf = async (flags: string) => (await download(brand, flags)).files.map(({ id }) => id);
  expect(await idsOf("--where id=0")).toEqual([]);
  expect(await idsOf("--where source='deliverable'--")).toEqual(["old"]);
  expect(await idsOf("--since 2026-11-21T09:30:00Z --until 2026-11-21T10:30:00Z")).toEqual(["mid"]);
  expect(await idsOf("--limit 0")).toEqual([]);
  expect(await idsOf("--limit 1")).toEqual(["new"]);
  expect(await idsOf("--limit 1")).toEqual([]);
});

test.each([
  ["one run", ""],
  ["several runs", "--limit 1"],
])("files with the same name that are downloaded in %s get different paths", async (_, flags) => {
  const created_at = "2026-11-21T11:00:00.000Z";
  const brand = await brandWithFiles({
    same: { filename: "a.jpg", created_at },
    Same: { filename: "A.jpg", created_at },
    sAME: { filename: "A.JPG", created_at },
  });
  const runs = [await download(brand, flags), await download(brand)];
  const paths = runs.flatMap(({ files }) => files.map(({ path }) => path.toLowerCase()));
  expect([paths.length, new Set(paths).size]).toEqual([3, 3]);
});

test("a missing file is downloaded again even if a file with the same ID in a different source is complete", async () => {
  const other = { id: "a", source: "deliverable", download_path: "/content/deliverable/a/download" };
  const brand = await brandWithFiles({ a: {}, b: { ...other, file_size_bytes: 2_001 } });
  const { files } = await download(brand);
  rmSync(files[0]?.path ?? "");
  expect((await download(brand)).files).toMatchObject([{ source: files[0]?.source, path: files[0]?.path }]);
});

test("files whose IDs or sources are numbers can be selected by date, and are downloaded newest first", async () => {
  const mirror = await makeMirror();
  const created_at = "2026-11-21T11:00:00.000Z";
  const instant = Date.parse(created_at);
  writeRead(mirror, "content", [
    { source: "upload", id: 7, created_at, file_size_bytes: -1 },
    { source: 3, id: "a/b", created_at, file_size_bytes: 0 },
    { source: "upload", id: "before", created_at: at(instant - 1) },
    { source: "upload", id: "after", created_at: at(instant + 1) },
  ]);
  const table = resolveTable(mirror, "content");
  const select = (since?: number, until?: number) =>
    selectFiles(mirror, table, { where: undefined, since, until }).map(({ source, id, size }) => [
      source,
      id,
      size,
    ]);
  const numbered = [
    ["3", "a/b", 0],
    ["upload", "7", null],
  ];
  expect(select(instant, instant)).toEqual(numbered);
  expect(select()).toEqual([["upload", "after", null], ...numbered, ["upload", "before", null]]);
});

test("symbolic links in the output folder are not followed, and existing folders are not overwritten", async () => {
  const brand = await brandWithFiles({ part: {}, hard: {}, final: {}, folder: {} });
  const first = await download(brand);
  const pathOf = (wanted: string) => first.files.find(({ id }) => id === wanted)?.path ?? "";
  for (const { path } of first.files) rmSync(path);
  const otherFile = join(brand.home, "victim");
  writeFileSync(otherFile, "precious");
  symlinkSync(otherFile, `${pathOf("part")}.part`);
  symlinkSync(otherFile, `${pathOf("part")}.etag`);
  linkSync(otherFile, `${pathOf("hard")}.etag`);
  linkSync(otherFile, `${pathOf("hard")}.part`);
  // The size of a symbolic link is the length of its target path. Here, it equals the size of the file.
  symlinkSync(otherFile.padStart(2_000, "/"), pathOf("final"));
  mkdirSync(pathOf("folder"));
  const { summary, files } = await download(brand);
  expect(readFileSync(otherFile, "utf8")).toBe("precious");
  expect(summary).toMatchObject({ downloaded: 3, failed: 1 });
  expect(files.find(({ id }) => id === "folder")?.error).toContain("it is a folder");
  for (const file of files) if (file.id !== "folder") expect(isComplete(file, 2_000)).toBe(true);
});

test("the summary of a download without --out names the default folder, ./brandapi-content", async () => {
  const brand = await brandWithFiles({ a: {}, b: {} });
  const run = await brand.run("download content");
  expect(run).toMatchObject({ code: 0, out: "" });
  expect(run.err).toContain(`download content: 2 files, 4.0 kB, in ${join(brand.home, "brandapi-content")}`);
});

test("the download fails with exit code 3 if the output folder cannot be created", async () => {
  const brand = await brandWithFiles({ a: {} });
  writeFileSync(join(brand.home, "file"), "");
  const run = await brand.run("download content --out file/folder");
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining("file/folder") });
});

test.each([
  ["download contnet", 2, "did you mean `content`?"],
  ["download content --where 1)OR(size", 2, "`--where` is not a valid SQL condition"],
  ["download content --where json(filename)", 2, "SQLite stopped at `--where`"],
  ["download content --limit none", 2, "whole number"],
  ["download content --since 2026-02-01 --until 2026-01-01", 2, "later than `--until`"],
])("`%s` fails with exit code %i and a hint", async (command, code, hint) => {
  const brand = await brandWithFiles({ a: {} });
  expect(await brand.run(command)).toMatchObject({ code, err: expect.stringContaining(hint) });
});
