import type { ApiClient } from "../api/index.js";
import type { Clock } from "../deps.js";
import { NotFound, RequestRefused } from "../errors.js";
import type { Task } from "../lib/reporter.js";
import type { Json } from "../resources/types.js";
import { downloadPath, readFileUrl } from "./address.js";
import type { LibraryFile } from "./catalogue.js";
import { FileFailed } from "./failure.js";
import { PartialFile } from "./partial-file.js";
import { type FileHost, transfer } from "./transfer.js";

export interface FileAccess extends FileHost {
  clock: Clock;
  api: Pick<ApiClient, "get">;
  /** A number in [0, 1). */
  random(): number;
  task: Pick<Task, "waiting">;
}

/** A complete file. `resumedFrom` is the number of bytes that an earlier run had left. */
export interface FetchedFile {
  bytes: number;
  sha256: string;
  resumedFrom: number;
}

const mostTries = 3;
/** The wait before each further try, in milliseconds, with jitter. */
const waitMs = [1_000, 5_000];

/**
 * Fetches one file to a path: three tries at most, each through a fresh signed URL. An interrupted file is resumed if it is
 * still the same version. Nothing has its name before it is complete.
 * @throws FileFailed if this file cannot be fetched; the errors of the file system, the API and the signal
 */
export async function fetchFile(file: LibraryFile, path: string, access: FileAccess): Promise<FetchedFile> {
  const part = await PartialFile.open(path);
  let isComplete = part.length > 0 && part.length === part.version?.length && part.length === file.size;
  // All bytes of a size that the library no longer states.
  if (!isComplete && part.length === part.version?.length) await part.restart(undefined);
  try {
    for (let tries = 1; !isComplete; tries += 1) {
      try {
        const url = await sign(file, access);
        await transfer(url, part, file.size, access);
        isComplete = true;
      } catch (error) {
        if (!(error instanceof FileFailed)) throw error;
        if (error.kind === "restart" || !part.version) await part.restart(undefined);
        if (error.kind === "final" || tries === mostTries) throw error;
        const ownMs = (waitMs[tries - 1] ?? 0) * (0.5 + access.random());
        const ms = Math.min(error.retryAfterMs ?? ownMs, access.maxWaitMs);
        access.task.waiting(ms, error.message);
        await access.clock.sleep(ms, access.signal);
      }
    }
    return { bytes: part.length, sha256: await part.finish(), resumedFrom: part.resumedFrom };
  } catch (error) {
    await part.close();
    throw error;
  }
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
