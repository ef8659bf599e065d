import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { parseJson } from "../util/json-value.js";
import { partSuffix, versionSuffix } from "./file-name.js";

/** One version of a file at its host. Bytes of two versions are never combined. */
export interface FileVersion {
  header: "etag" | "last-modified";
  /** The value of that header, sent back as `If-Range`. */
  validator: string;
  /** Bytes. */
  length: number;
}

/**
 * A file that is being downloaded: `<path>.part`, and `<path>.etag` with the version that its bytes belong to. Bytes without
 * a version cannot be resumed: they are dropped when the file is opened or closed.
 */
export class PartialFile {
  /** Bytes so far. */
  length = 0;
  version: FileVersion | undefined;
  /** The bytes that an earlier run had left and that are still in use. */
  resumedFrom = 0;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** Opens the partial file of a target path, with the bytes that an earlier run left. */
  static async open(path: string): Promise<PartialFile> {
    if (!isOrdinaryFile(path + partSuffix)) await rm(path + partSuffix, { force: true });
    const part = new PartialFile(path, await open(path + partSuffix, "a"));
    try {
      part.length = (await part.handle.stat()).size;
      part.version = await readVersion(path + versionSuffix);
      part.resumedFrom = part.length;
      if (!part.version || part.length > part.version.length) await part.restart(undefined);
      return part;
    } catch (error) {
      await part.handle.close();
      throw error;
    }
  }

  /** Drops all bytes; those that follow belong to `version`. */
  async restart(version: FileVersion | undefined): Promise<void> {
    if (this.length > 0) {
      await this.handle.truncate(0);
      // Old bytes must not survive a power loss with the new version beside them.
      await this.handle.sync();
    }
    this.length = 0;
    this.resumedFrom = 0;
    this.version = version;
    await rm(this.path + versionSuffix, { force: true });
    if (version) await writeFile(this.path + versionSuffix, JSON.stringify(version), { flag: "wx" });
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.handle.appendFile(bytes);
    this.length += bytes.byteLength;
  }

  /** Renames the complete file to its target. Returns its SHA-256. */
  async finish(): Promise<string> {
    await this.handle.sync();
    const hash = createHash("sha256");
    for await (const piece of createReadStream(this.path + partSuffix)) hash.update(piece);
    await this.handle.close();
    await rename(this.path + partSuffix, this.path);
    await rm(this.path + versionSuffix, { force: true });
    return hash.digest("hex");
  }

  /** Closes an incomplete file, and removes it if it cannot be resumed. */
  async close(): Promise<void> {
    await this.handle.close().catch(() => {});
    if (this.length > 0 && this.version) return;
    await rm(this.path + partSuffix, { force: true }).catch(() => {});
    await rm(this.path + versionSuffix, { force: true }).catch(() => {});
  }
}

/** False for a link, which leads to a file that is not ours. */
function isOrdinaryFile(path: string): boolean {
  const file = lstatSync(path, { throwIfNoEntry: false });
  return file?.isFile() === true && file.nlink === 1;
}

/** Returns the version that an earlier run noted; undefined if there is none. */
async function readVersion(path: string): Promise<FileVersion | undefined> {
  if (!isOrdinaryFile(path)) return undefined;
  const value = parseJson<unknown>(await readFile(path, "utf8"));
  return isVersion(value) ? value : undefined;
}

function isVersion(value: unknown): value is FileVersion {
  if (typeof value !== "object" || value === null) return false;
  if (!("header" in value && "validator" in value && "length" in value)) return false;
  const { header, validator, length } = value;
  const isKnown = header === "etag" || header === "last-modified";
  return isKnown && typeof validator === "string" && typeof length === "number";
}
