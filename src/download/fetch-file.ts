import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { ApiClient } from "../api/index.js";
import type { Clock } from "../deps.js";
import { NotFound, RequestRefused } from "../errors.js";
import type { Task } from "../lib/reporter.js";
import type { Json } from "../resources/types.js";
import { downloadPath, readFileUrl } from "./address.js";
import type { LibraryFile } from "./catalogue.js";
import { FileFailed } from "./failure.js";
import { partSuffix } from "./name.js";
import { type FileHost, transfer } from "./transfer.js";

export interface FileAccess extends FileHost {
  clock: Clock;
  api: Pick<ApiClient, "get">;
  baseUrl: string;
  /** A number in [0, 1). */
  random(): number;
  task: Pick<Task, "waiting">;
}

/** A file in its place; `resumedFrom` counts the bytes that an earlier run had left. */
export interface FetchedFile {
  bytes: number;
  sha256: string;
  resumedFrom: number;
}

const mostTries = 3;
/** The wait before each further try, in milliseconds, with jitter. */
const waitMs = [1_000, 5_000];

/**
 * Fetches one file to a path: three tries at most, each through a fresh signed URL. A file whose size is known is resumed.
 * Nothing has its name before it is complete.
 * @throws FileFailed if this file cannot be fetched; the errors of the file system, the API and the signal
 */
export async function fetchFile(file: LibraryFile, path: string, access: FileAccess): Promise<FetchedFile> {
  const partPath = path + partSuffix;
  // A link leads to a file that is not ours.
  const there = lstatSync(partPath, { throwIfNoEntry: false });
  if (there && (!there.isFile() || there.nlink > 1)) await rm(partPath);
  const part = await open(partPath, "a");
  let length = 0;
  try {
    if (file.size === null) await part.truncate(0);
    else length = (await part.stat()).size;
    const resumedFrom = length;
    for (let tries = 1; length === 0 || length !== file.size; tries += 1) {
      try {
        const url = await sign(file, access);
        await transfer(url, part, { from: length, size: file.size }, access, (now) => {
          length = now;
        });
        break;
      } catch (error) {
        if (!(error instanceof FileFailed)) throw error;
        if (error.kind === "restart" || file.size === null) {
          await part.truncate(0);
          length = 0;
        }
        if (error.kind === "final" || tries === mostTries) throw error;
        const ownMs = (waitMs[tries - 1] ?? 0) * (0.5 + access.random());
        const ms = Math.min(error.retryAfterMs ?? ownMs, access.maxWaitMs);
        access.task.waiting(ms, error.message);
        await access.clock.sleep(ms, access.signal);
      }
    }
    await part.sync();
    const sha256 = await hashOf(partPath);
    await part.close();
    await rename(partPath, path);
    return { bytes: length, sha256, resumedFrom: Math.min(resumedFrom, length) };
  } catch (error) {
    await part.close().catch(() => {});
    // Only a file whose size is known is resumed.
    if (file.size === null || length === 0) await rm(partPath, { force: true });
    throw error;
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}

/** Asks for a download URL: API document, "8. GET /content/{source}/{item_id}/download". It is never kept. */
async function sign(file: LibraryFile, { api, baseUrl }: FileAccess): Promise<URL> {
  const path = downloadPath(file);
  if (path === null) throw new FileFailed("no address can hold its id");
  const data = await api
    .get(path, {}, "content:read")
    .then((answer): Json => answer.data)
    .catch((error: unknown) => {
      if (!(error instanceof NotFound || error instanceof RequestRefused)) throw error;
      throw new FileFailed(`the API has no download URL for it (${error.status})`);
    });
  const text = typeof data === "object" && data !== null && "url" in data ? data.url : null;
  const url = readFileUrl(text, baseUrl);
  if ("refused" in url) throw new FileFailed(url.refused);
  return url;
}
