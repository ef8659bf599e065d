import { readdirSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { libraryOf } from "./support.js";

const disk = vi.hoisted(() => ({ left: Number.POSITIVE_INFINITY }));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  return {
    ...real,
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
