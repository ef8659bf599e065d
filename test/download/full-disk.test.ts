import { expect, test } from "vitest";
import { replaceFileFunction } from "../support/files.js";
import { brandWithFiles, download, requestedFile } from "./support.js";

const disk = { code: "" };
/** The files that were flushed to disk, with their sizes at that time. */
const flushed: [path: string, size: number][] = [];

replaceFileFunction("open", (open) => async (...args) => {
  const handle = await open(...args);
  const append = handle.appendFile.bind(handle);
  handle.appendFile = async (...data) => {
    const error = Object.assign(new Error(`${disk.code}: cannot write`), {
      code: disk.code,
      syscall: "write",
    });
    if (disk.code !== "") throw error;
    await append(...data);
  };
  const sync = handle.sync.bind(handle);
  handle.sync = async () => {
    flushed.push([String(args[0]), (await handle.stat()).size]);
    await sync();
  };
  return handle;
});

test("a downloaded file is flushed to disk before it is renamed", async () => {
  flushed.length = 0;
  const { files } = await download(await brandWithFiles({ a: {} }));
  expect(flushed).toEqual([[`${files[0]?.path}.part`, 2_000]]);
});

test.each([
  ["ENOSPC", "the disk is full"],
  ["EROFS", "cannot write"],
  ["EACCES", "permission denied"],
  ["EDQUOT", "the disk quota is exceeded"],
])(
  'the write error %s ends the download with exit code 3 and "%s", and the next run downloads all files',
  async (code, reason) => {
    const brand = await brandWithFiles(
      Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`f${n}`, {}])),
    );
    disk.code = code;
    const run = await download(brand);
    disk.code = "";
    expect(run).toMatchObject({ code: 3, files: [], summary: undefined });
    expect(run.err).toContain(reason);
    expect(run.err).not.toContain(code);
    // Each of the four concurrent downloads was attempted only once.
    expect(run.requests.filter(requestedFile).length).toBeLessThanOrEqual(4);
    expect((await download(brand)).summary).toMatchObject({ downloaded: 8 });
  },
);

test.each(["EEXIST", "EFBIG", "EILSEQ", "EINVAL", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOTEMPTY"])(
  "the write error %s makes only the affected file fail, and the download continues",
  async (code) => {
    const brand = await brandWithFiles({ a: {} });
    disk.code = code;
    const { summary, files } = await download(brand);
    disk.code = "";
    expect(summary).toMatchObject({ failed: 1 });
    expect(files[0]?.error).toContain("the file cannot be written: ");
  },
);
