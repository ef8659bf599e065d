import { readdirSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { libraryOf, misbehave } from "./support.js";

const disk = vi.hoisted(() => ({ size: 100e6, left: Number.POSITIVE_INFINITY }));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  return {
    ...real,
    statfs: async () => ({ bsize: 1, blocks: disk.size, bavail: disk.left }),
    open: async (...args: Parameters<typeof real.open>) => {
      const handle = await real.open(...args);
      const write = handle.write.bind(handle) as FileHandle["write"];
      handle.write = (async (chunk: Uint8Array, offset: number, length: number, position: number) => {
        if (disk.left <= 0)
          throw Object.assign(new Error("ENOSPC: no space left on device"), {
            code: "ENOSPC",
            syscall: "write",
          });
        // A disk that is nearly full takes what fits, as the real one does.
        const fits = Math.min(length, disk.left);
        disk.left -= fits;
        return write(chunk, offset, fits, position);
      }) as FileHandle["write"];
      return handle;
    },
  };
});

test("a full disk ends the run at once, says so, and the next run goes on from there", async () => {
  const library = await libraryOf(Array.from({ length: 12 }, () => ({ filename: "a.jpg", size: 400_000 })));
  disk.left = 1_000_000;

  const error = await library.run().catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(ConfigurationError);
  expect(String(error)).toContain("The disk is full");
  expect(library.sandbox.fileLog.length).toBeLessThan(10);
  for (const name of readdirSync(library.out)) expect(name).toMatch(/(\.part|a\.jpg)$/);

  disk.left = Number.POSITIVE_INFINITY;
  const { summary } = await library.run();
  expect(summary.downloaded + summary.already_complete).toBe(12);
  expect(library.sandbox.fileLog.some(({ range }) => range !== undefined)).toBe(true);
});

test.each([
  ["a twentieth of a small disk", 100e6, 5e6],
  ["a gigabyte of a large one", 1e12, 1e9],
])(
  "a file of unknown size that never ends leaves %s free, ends the run, and is not left there",
  async (_, size, reserve) => {
    const library = await libraryOf([{ filename: "a.jpg", size: 1_000, statedSize: null }]);
    await misbehave(library.sandbox, (_request, response) => {
      const block = Buffer.alloc(65_536);
      response.writeHead(200, { etag: '"strong"' });
      const more = () => {
        while (!response.destroyed && response.write(block));
      };
      response.on("drain", more);
      more();
      return true;
    });
    disk.size = size;
    disk.left = reserve + 20e6;

    const error = await library.run().catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain("A file whose size the API does not tell would fill the disk");
    expect(disk.left).toBeGreaterThanOrEqual(reserve);
    expect(disk.left).toBeLessThan(reserve + 2e6);
    expect(readdirSync(library.out)).toEqual([]);
    disk.left = Number.POSITIVE_INFINITY;
  },
);
