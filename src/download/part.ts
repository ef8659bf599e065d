import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { partSuffix } from "./name.js";

/** Where it is kept between runs which version of the file a part is the beginning of. */
export interface PartMemory {
  validator(): string | null;
  remember(validator: string | null): void;
}

/** A file on its way: `<final>.part`, with the SHA-256 of what it holds so far. Errors are the file system's own. */
export interface Part {
  /** Bytes so far. */
  readonly length: number;
  /** What the server called the version that these bytes are of; null: they cannot be resumed. */
  readonly validator: string | null;
  append(chunk: Uint8Array): Promise<void>;
  /** Empties it, for a download from the first byte. */
  restart(validator: string | null): Promise<void>;
  /** Puts the whole file in its place, safely on disk. @returns its SHA-256, in hex */
  finish(): Promise<string>;
  /** Leaves it for the next run, unless there is nothing in it to resume. */
  close(): Promise<void>;
}

const blockBytes = 1024 * 1024;

/**
 * Opens the part of a file, going on where an earlier run stopped. A link or anything else that is not a plain file
 * of our own is replaced, never followed: someone may have planted it.
 */
export async function openPart(finalPath: string, memory: PartMemory): Promise<Part> {
  const path = finalPath + partSuffix;
  const handle = await openPlainFile(path);
  let validator = memory.validator();
  let hash = createHash("sha256");
  let length = 0;
  try {
    if (validator === null) await handle.truncate(0);
    else length = await readInto(handle, hash);
  } catch (error) {
    await handle.close();
    throw error;
  }
  let isOpen = true;

  async function closeHandle(): Promise<void> {
    if (isOpen) {
      isOpen = false;
      await handle.close();
    }
  }

  return {
    get length() {
      return length;
    },
    get validator() {
      return validator;
    },
    async append(chunk) {
      for (let offset = 0; offset < chunk.byteLength; ) {
        const { bytesWritten } = await handle.write(
          chunk,
          offset,
          chunk.byteLength - offset,
          length + offset,
        );
        offset += bytesWritten;
      }
      hash.update(chunk);
      length += chunk.byteLength;
    },
    async restart(next) {
      // In this order: bytes of one version are never remembered as another's.
      await handle.truncate(0);
      length = 0;
      hash = createHash("sha256");
      memory.remember(next);
      validator = next;
    },
    async finish() {
      // The mirror's row is written after this. Should a power cut undo the rename, the row names no file, and the
      // next run fetches it again.
      await handle.sync();
      await closeHandle();
      await rename(path, finalPath);
      return hash.digest("hex");
    },
    async close() {
      const useless = length === 0 || validator === null;
      await closeHandle();
      if (!useless) return;
      memory.remember(null);
      await unlink(path).catch(() => {});
    },
  };
}

async function openPlainFile(path: string): Promise<FileHandle> {
  const there = await lstat(path).catch(() => null);
  if (there && (!there.isFile() || there.nlink > 1)) await unlink(path);
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  // Windows knows no O_NOFOLLOW; the look before has to do.
  return open(path, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0), 0o666);
}

/** Reads a file from its beginning. @returns its length */
async function readInto(handle: FileHandle, hash: { update(chunk: Uint8Array): unknown }): Promise<number> {
  const block = Buffer.allocUnsafe(blockBytes);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(block, 0, block.length, length);
    if (bytesRead === 0) return length;
    hash.update(block.subarray(0, bytesRead));
    length += bytesRead;
  }
}
