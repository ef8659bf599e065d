import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selectFiles } from "../../src/download/catalogue.js";
import { downloadFiles } from "../../src/download/engine.js";
import { cutAfter, everything, libraryOf, misbehave, type TestFile } from "./support.js";

const hostileNames = [
  "../../etc/passwd",
  "..\\..\\windows\\win.ini",
  "C:\\boot.ini",
  "/dev/null",
  "a\u0000b.jpg",
  "\u001b[2J\u001b]0;owned\u0007.png",
  "photo\u202egnp.exe",
  "CON",
  "aux.txt",
  ".bashrc",
  "-rf",
  "trailing. . .",
  "",
  ".",
  "..",
  "name\nnext line.mp4",
  `${"long".repeat(120)}.jpeg`,
  "🏔️".repeat(150),
  "Same.JPG",
  "same.jpg",
  "\ud800 lone.jpg",
  "%2e%2e%2fup.jpg",
];

test("800 files, every fourth interrupted, expired, short or hostile in name, all arrive whole, inside the folder", async () => {
  const files = Array.from(
    { length: 800 },
    (_, n): TestFile => ({
      filename: n % 4 === 3 ? (hostileNames[((n - 3) / 4) % hostileNames.length] ?? null) : `photo ${n}.jpg`,
      size: 200 + ((n * 379) % 9_000),
      createdAt: Date.UTC(2026, 0, 1) + n * 3_600_000,
    }),
  );
  const library = await libraryOf(files);
  const { sandbox, folder, out, ids, bytesOf } = library;
  const place = new Map(ids.map((id, n) => [id, n]));
  const trouble = (id: string) => (place.get(id) ?? 0) % 8;
  const { requests } = await misbehave(
    sandbox,
    ({ id, count }, response) => {
      const whole = bytesOf(id);
      if (count > 1) return false;
      if (trouble(id) === 0)
        return cutAfter(response, whole, whole.length >> 1, { etag: `"${id.slice(0, 8)}-${whole.length}"` });
      if (trouble(id) === 1)
        return Boolean(response.writeHead(403).end("<Error>Request has expired</Error>"));
      return Boolean(response.writeHead(200, { "content-length": 100 }).end(whole.subarray(0, 100)));
    },
    (id) => trouble(id) < 3,
  );

  const { summary, results } = await library.run();

  expect(summary).toMatchObject({
    selected: 800,
    downloaded: 800,
    failed: 0,
    not_tried: 0,
    already_complete: 0,
  });
  for (const { id, path, sha256, bytes } of results) {
    const expected = bytesOf(id);
    expect(readFileSync(path).equals(expected)).toBe(true);
    expect(sha256).toBe(createHash("sha256").update(expected).digest("hex"));
    expect(bytes).toBe(expected.length);
  }
  expect(readdirSync(out)).toHaveLength(800);
  expect(readdirSync(folder).filter((name) => !name.startsWith("mirror.sqlite"))).toEqual(["out"]);
  expect(sandbox.leakedKeys).toBe(0);
  for (const { headers } of requests) {
    expect(headers.authorization).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(sandbox.key);
    expect(headers["user-agent"]).toBe("brandapi/test");
  }
  expect(requests.some(({ range }) => range !== undefined)).toBe(true);

  const rows = library.mirror.db.prepare("SELECT path, bytes FROM content_downloads").all() as {
    path: string;
    bytes: number;
  }[];
  expect(rows).toHaveLength(800);
  for (const { path, bytes } of rows) expect(statSync(path).size).toBe(bytes);
  expect(library.mirror.db.prepare("SELECT count(*) FROM content_parts").pluck().get()).toBe(0);
  library.mirror.db.pragma("wal_checkpoint(TRUNCATE)");
  const stored = readFileSync(join(folder, "mirror.sqlite"), "latin1");
  expect(stored.includes("signature=")).toBe(false);

  const asked = sandbox.log.length;
  const second = await library.run();
  expect(second.summary).toMatchObject({ downloaded: 0, already_complete: 800 });
  expect(sandbox.log).toHaveLength(asked);
}, 60_000);

test("a file that was deleted or cut since is fetched again, and only that one", async () => {
  const library = await libraryOf(["a.jpg", "b.jpg", "c.jpg"].map((filename) => ({ filename, size: 900 })));
  const { results } = await library.run();
  const [first, second] = results;
  if (!first || !second) throw new Error("nothing was downloaded");
  rmSync(first.path);
  library.mirror.db.prepare("UPDATE content_downloads SET bytes = 899 WHERE id = ?").run(second.id);

  const again = await library.run();

  expect(again.summary).toMatchObject({ downloaded: 2, already_complete: 1 });
  expect(again.results.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
});

test("a folder that was moved is still complete, and the mirror learns the new place", async () => {
  const library = await libraryOf([{ filename: "a.jpg", size: 900 }]);
  await library.run();
  const moved = join(library.folder, "moved");
  renameSync(library.out, moved);

  const { summary } = await library.run({ folder: moved });

  expect(summary).toMatchObject({ downloaded: 0, already_complete: 1 });
  const path = library.mirror.db.prepare("SELECT path FROM content_downloads").pluck().get() as string;
  expect(path.startsWith(moved)).toBe(true);
});

test("filters and a limit choose the newest files that are not there yet", async () => {
  const day = (n: number) => Date.UTC(2026, 0, n);
  const library = await libraryOf([
    { filename: "old.jpg", size: 10, createdAt: day(1), source: "deliverable" },
    { filename: "mid.jpg", size: 10, createdAt: day(10) },
    { filename: "new.jpg", size: 10, createdAt: day(20) },
  ]);
  const names = async (selection: object, limit?: number) =>
    (await library.run({}, { ...everything, ...selection }, limit)).results.map(({ path }) =>
      path.replace(/^.*_/, ""),
    );

  expect(await names({ sources: ["deliverable"] })).toEqual(["old.jpg"]);
  expect(await names({ hosts: ["00000000-0000-4000-8000-000000000000"] })).toEqual([]);
  expect(await names({ mediaTypes: ["nothing-of-this"] })).toEqual([]);
  // The API's dates may be finer than a millisecond: a range holds all of its last one.
  library.mirror.db.exec("UPDATE records SET dated_at = dated_at + 0.5");
  expect(await names({ since: day(5), until: day(10) })).toEqual(["mid.jpg"]);
  expect(await names({}, 1)).toEqual(["new.jpg"]);
  expect(await names({}, 1)).toEqual([]);
});

test("a file that has another size in the library than it had is fetched again", async () => {
  const library = await libraryOf([{ filename: "a.jpg", size: 900 }]);
  await library.run();
  library.mirror.db.prepare("UPDATE content SET file_size_bytes = 901").run();
  const { summary } = await library.run();
  expect(summary).toMatchObject({ already_complete: 0, failed: 1 });
});

test("two files that would have the same name both arrive", async () => {
  const library = await libraryOf([{ filename: "a.jpg", size: 900 }]);
  const [file] = selectFiles(library.mirror, everything);
  if (!file) throw new Error("the library is empty");
  // The same id in both sources: it is unique within its source only.
  const same = { ...file, source: "deliverable" };
  const summary = await downloadFiles([file, same], library.access(), 10, () => {});
  expect(summary.downloaded).toBe(2);
  expect(new Set(readdirSync(library.out).map((name) => name.toLowerCase())).size).toBe(2);
});
