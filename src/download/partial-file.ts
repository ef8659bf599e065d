import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isObject, parseJson } from "../util/json-value.js";

export const partSuffix = ".part";
/**
 * The suffix of the file that stores which version of the remote file is being downloaded. It must not be longer than
 * `partSuffix`, for which `file-name.ts` reserves space.
 */
const versionSuffix = ".etag";

/** Identifies a version of a file on the file host. Bytes from different versions must never be combined. */
export interface FileVersion {
  header: "etag" | "last-modified";
  /** The value of the response's `etag` or `last-modified` header. `If-Range` repeats it to resume the download. */
  validator: string;
  length: number;
}

/**
 * An incomplete download. Its bytes are in `<path>.part`, and their version is in `<path>.etag`. If the version is
 * unknown, the download cannot be resumed, so the bytes are deleted when the download starts over or ends.
 */
export class PartialFile {
  bytesWritten = 0;
  version: FileVersion | undefined;
  /** The number of bytes that earlier runs downloaded. */
  resumedFrom = 0;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** Opens the partial file for a target path. If an earlier run left one, keeps its bytes and its version. */
  static async open(path: string): Promise<PartialFile> {
    if (!isRegularFile(path + partSuffix)) await rm(path + partSuffix, { force: true });
    const file = new PartialFile(path, await open(path + partSuffix, "a"));
    try {
      file.bytesWritten = (await file.handle.stat()).size;
      file.version = await readFileVersion(path + versionSuffix);
      file.resumedFrom = file.bytesWritten;
      return file;
    } catch (error) {
      await file.handle.close();
      throw error;
    }
  }

  /**
   * Deletes the bytes downloaded so far, in order to start over.
   * @param version the version that the file host is about to send, if known
   */
  async restart(version?: FileVersion): Promise<void> {
    if (this.bytesWritten > 0) {
      await this.handle.truncate(0);
      // Flush to disk, so that the old version's bytes are not mistaken for the new version's after a power failure.
      await this.handle.sync();
    }
    this.bytesWritten = 0;
    this.resumedFrom = 0;
    this.version = version;
    await rm(this.path + versionSuffix, { force: true });
    if (version) await writeFile(this.path + versionSuffix, JSON.stringify(version), { flag: "wx" });
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.handle.appendFile(bytes);
    this.bytesWritten += bytes.byteLength;
  }

  /** Renames the finished file to its target path. Returns the file's SHA-256 hash. */
  async finish(): Promise<string> {
    await this.handle.sync();
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.path + partSuffix)) hash.update(chunk);
    await this.handle.close();
    await rename(this.path + partSuffix, this.path);
    await rm(this.path + versionSuffix, { force: true });
    return hash.digest("hex");
  }

  /** Closes an incomplete file. Deletes it if the download cannot be resumed. */
  async close(): Promise<void> {
    await this.handle.close().catch(() => {});
    if (this.bytesWritten > 0 && this.version) return;
    await rm(this.path + partSuffix, { force: true }).catch(() => {});
    await rm(this.path + versionSuffix, { force: true }).catch(() => {});
  }
}

/** True for a regular file with only one link. A symbolic or hard link could lead to another user's file. */
function isRegularFile(path: string): boolean {
  const file = lstatSync(path, { throwIfNoEntry: false });
  return file?.isFile() === true && file.nlink === 1;
}

async function readFileVersion(path: string): Promise<FileVersion | undefined> {
  if (!isRegularFile(path)) return undefined;
  const value = parseJson<unknown>(await readFile(path, "utf8"));
  return isVersion(value) ? value : undefined;
}

function isVersion(value: unknown): value is FileVersion {
  if (!isObject(value)) return false;
  const { header, validator, length } = value;
  const isKnown = header === "etag" || header === "last-modified";
  return isKnown && typeof validator === "string" && typeof length === "number";
}
