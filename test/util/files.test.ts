import { mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createFolder, pathExists, readStream, readTextFile, resolveLinks } from "../../src/util/files.js";
import { makeHome } from "../support/home.js";

const maxBytes = 16 * 2 ** 20;

test.each([
  ["UTF-8", Buffer.from("Zoë\r\n")],
  ["UTF-8 with a byte order mark", Buffer.from("\ufeffZoë\r\n")],
  ["UTF-16 with a byte order mark", Buffer.from("\ufeffZoë\r\n", "utf16le")],
])("files and streams in %s are read as text", async (_, bytes) => {
  const path = join(makeHome(), "file");
  writeFileSync(path, bytes);
  expect(readTextFile(path)).toBe("Zoë\r\n");
  // The stream splits each multi-byte character across several chunks.
  const chunks = [...bytes].map((byte) => Buffer.of(byte));
  expect(await readStream(Readable.from(chunks), "stdin")).toBe("Zoë\r\n");
});

test("files and streams of more than 16 MiB are rejected with exit code 2", async () => {
  const path = join(makeHome(), "file");
  writeFileSync(path, "");
  truncateSync(path, maxBytes);
  expect(readTextFile(path)).toHaveLength(maxBytes);
  truncateSync(path, maxBytes + 1);
  expect(() => readTextFile(path)).toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringContaining(path) }),
  );
  const stream = (...sizes: number[]) =>
    readStream(Readable.from(sizes.map((size) => Buffer.alloc(size))), "stdin");
  expect(await stream(maxBytes)).toHaveLength(maxBytes);
  await expect(stream(maxBytes, 1)).rejects.toThrow("stdin exceeds the limit of 16 MiB");
});

test("the error for a file that cannot be read contains its path", () => {
  const home = makeHome();
  expect(() => readTextFile(home)).toThrow(expect.objectContaining({ code: "EISDIR", path: home }));
  expect(() => readTextFile(join(home, "missing"))).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

test("createFolder creates missing parent folders with the same mode, and rejects a path below a file", () => {
  const home = makeHome();
  const folder = join(home, "a/b");
  createFolder(folder, 0o700);
  createFolder(folder, 0o755);
  expect([folder, join(home, "a")].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  writeFileSync(join(home, "file"), "");
  expect(() => createFolder(join(home, "file"))).toThrow("EEXIST");
  expect(() => createFolder(join(home, "file/a"))).toThrow(/EEXIST|ENOTDIR/);
});

test("resolveLinks follows links to a file that does not exist yet, and returns a circular link unchanged", async () => {
  const home = makeHome();
  mkdirSync(join(home, "real"));
  symlinkSync("real", join(home, "folder"));
  symlinkSync("folder/second", join(home, "first"));
  symlinkSync("third", join(home, "real/second"));
  expect(await resolveLinks(join(home, "first"))).toBe(join(home, "real/third"));
  expect(await resolveLinks(join(home, "missing"))).toBe(join(home, "missing"));
  writeFileSync(join(home, "real/third"), "x");
  expect(readFileSync(await resolveLinks(join(home, "first")), "utf8")).toBe("x");
  symlinkSync("cycle", join(home, "cycle"));
  expect(await resolveLinks(join(home, "cycle"))).toBe(join(home, "cycle"));
});

test("a path exists if it is a link to an existing file, but not if the target of the link is missing", () => {
  const home = makeHome();
  symlinkSync("missing", join(home, "link"));
  expect([home, join(home, "missing"), join(home, "link")].map(pathExists)).toEqual([true, false, false]);
});
