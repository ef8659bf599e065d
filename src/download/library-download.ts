import { lstatSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { ApiClient } from "../api/client.js";
import type { Deps } from "../deps.js";
import type { Mirror } from "../store/database.js";
import { createFolder } from "../util/files.js";
import type { Task } from "../util/reporter.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/times.js";
import { fileName, foldName } from "./file-name.js";
import type { LibraryFile } from "./library-files.js";
import { PartialFile } from "./partial-file.js";
import { DownloadFailure, requestFileUrl, type TransferOptions, transfer } from "./transfer.js";

export interface DownloadOptions extends TransferOptions, Pick<Deps, "clock" | "random"> {
  api: Pick<ApiClient, "get">;
  mirror: Mirror;
  task: Pick<Task, "update" | "waiting">;
  folder: string;
}

/** The result for a single file, as printed by `--json`. */
export interface FileResult {
  source: string;
  id: string;
  path: string;
  outcome: "downloaded" | "failed";
  bytes: number | null;
  /** The size in bytes that the library reports. It can differ from the size of the file. */
  library_bytes: number | null;
  sha256: string | null;
  /** The number of bytes that an earlier run had already downloaded, or null if the download failed. */
  resumed_from: number | null;
  error: string | null;
}

/** The number of files by result, as printed by `--json`. */
export interface DownloadSummary {
  folder: string;
  selected: number;
  already_complete: number;
  downloaded: number;
  failed: number;
  /** The number of files that were skipped because the file host was down. */
  not_tried: number;
  bytes: number;
}

const concurrency = 4;
/** The number of consecutive failures after which the file host is considered down. */
const maxHostFailures = 4;

/**
 * Downloads the files that are not yet complete, four at a time.
 * @param limit maximum number of files to download
 * @param onFile called after each file
 * @throws errors that affect all files, such as a full disk or denied access to the API; the signal's abort reason
 */
export async function downloadFiles(
  files: readonly LibraryFile[],
  options: DownloadOptions,
  limit: number,
  onFile: (result: FileResult, failure?: DownloadFailure) => void,
): Promise<DownloadSummary> {
  const { mirror, task } = options;
  createFolder(options.folder);
  const folder = realpathSync(options.folder);
  const log = new DownloadLog(mirror);
  const incomplete: LibraryFile[] = [];
  for (const file of files) {
    const download = log.get(file);
    const path = download && findCompleteFile(file, download, folder);
    if (!download || path === undefined) incomplete.push(file);
    // The folder has been moved since the file was downloaded.
    else if (path !== download.path) log.save({ ...download, path });
  }
  const targets = assignPaths(incomplete.slice(0, limit), folder, log);
  const counts = { downloaded: 0, failed: 0, not_tried: 0, bytes: 0 };
  let hostFailures = 0;
  task.update({ done: 0, total: targets.length });

  // An error that affects all files stops the transfers that are in progress.
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const queue = targets.values();
  async function work(): Promise<void> {
    for (const target of queue) {
      if (signal.aborted) return;
      if (hostFailures >= maxHostFailures) {
        counts.not_tried += 1;
        continue;
      }
      const { result, failure } = await downloadOne(target, log, { ...options, signal });
      if (failure?.kind === "unavailable") hostFailures += 1;
      if (failure) counts.failed += 1;
      else {
        hostFailures = 0;
        counts.downloaded += 1;
        counts.bytes += result.bytes ?? 0;
      }
      onFile(result, failure);
      task.update({ done: counts.downloaded + counts.failed });
    }
  }
  const workers = Array.from({ length: concurrency }, () => work().catch((error) => stop.abort(error)));
  await Promise.all(workers);
  signal.throwIfAborted();
  return { folder, selected: files.length, already_complete: files.length - incomplete.length, ...counts };
}

/**
 * Returns the path of a downloaded file if it is still in the output folder and its size has not changed. If the size
 * differs from the one in the library, the file is considered complete until the library's record changes.
 */
function findCompleteFile(
  { size, sinceAt }: LibraryFile,
  { bytes, downloaded_at, path: oldPath }: CompletedDownload,
  folder: string,
): string | undefined {
  const isOutdated = size !== null && size !== bytes && sinceAt > downloaded_at;
  const path = join(folder, basename(oldPath));
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return !isOutdated && stats?.isFile() && stats.size === bytes ? path : undefined;
}

type Target = Readonly<{ file: LibraryFile; path: string }>;

/** Assigns each file a path that is not used by any other file in the mirror or in this run. */
function assignPaths(files: readonly LibraryFile[], folder: string, log: DownloadLog): Target[] {
  const keys = new Set(files.map(fileKey));
  const others = [...log.all()].filter((download) => !keys.has(fileKey(download)));
  const taken = new Set(others.map(({ path }) => foldName(basename(path))));
  return files.map((file) => {
    const name = fileName(file, taken);
    taken.add(foldName(name));
    return { file, path: join(folder, name) };
  });
}

/**
 * Downloads a file, and records it in the mirror if it is complete.
 * @throws errors that affect all files
 */
async function downloadOne(
  { file, path }: Target,
  log: DownloadLog,
  options: DownloadOptions,
): Promise<{ result: FileResult; failure?: DownloadFailure }> {
  const { source, id, size: library_bytes } = file;
  try {
    const { bytes, sha256, resumedFrom } = await downloadWithRetries(file, path, options);
    log.save({ source, id, path, bytes, sha256, downloaded_at: formatInstant(options.clock.now()) });
    const details = { bytes, library_bytes, sha256, resumed_from: resumedFrom, error: null };
    return { result: { source, id, path, outcome: "downloaded", ...details } };
  } catch (error) {
    const failure = asDownloadFailure(error);
    if (!failure) throw error;
    const details = { bytes: null, library_bytes, sha256: null, resumed_from: null, error: failure.message };
    return { result: { source, id, path, outcome: "failed", ...details }, failure };
  }
}

const maxAttempts = 3;
/** The delays in milliseconds before the second and third attempts, without jitter. */
const retryDelays = [1_000, 5_000];

/**
 * Downloads a file in up to three attempts, each with a new signed URL. Resumes a partial file if the file host still
 * has the same version.
 * @throws DownloadFailure; file system and API errors; the signal's abort reason
 */
async function downloadWithRetries(
  file: LibraryFile,
  path: string,
  options: DownloadOptions,
): Promise<{ bytes: number; sha256: string; resumedFrom: number }> {
  const partial = await PartialFile.open(path);
  const hasAllBytes = partial.length === partial.version?.length;
  let isDownloaded = hasAllBytes && partial.length > 0 && partial.length === file.size;
  // The partial file is complete, but its size no longer matches the library's.
  if (hasAllBytes && !isDownloaded) await partial.restart(undefined);
  try {
    for (let attempt = 1; !isDownloaded; attempt += 1) {
      try {
        const url = await requestFileUrl(file, options);
        await transfer(url, partial, file.size, options);
        isDownloaded = true;
      } catch (error) {
        if (!(error instanceof DownloadFailure)) throw error;
        if (error.kind === "restart" || !partial.version) await partial.restart(undefined);
        if (error.kind === "permanent" || error.kind === "missing" || attempt === maxAttempts) throw error;
        const delayMs = (retryDelays[attempt - 1] ?? 0) * (0.5 + options.random());
        const waitMs = Math.min(error.retryAfterMs ?? delayMs, options.maxWaitMs);
        options.task.waiting(waitMs, error.message);
        await options.clock.sleep(waitMs, options.signal);
      }
    }
    return { bytes: partial.length, sha256: await partial.finish(), resumedFrom: partial.resumedFrom };
  } catch (error) {
    await partial.close();
    throw error;
  }
}

/** System error codes for problems that affect only one file. */
const fileErrorCodes = [
  "EISDIR",
  "ERR_FS_EISDIR",
  "EEXIST",
  "ENOTEMPTY",
  "ELOOP",
  "ENAMETOOLONG",
  "EILSEQ",
  "EINVAL",
  "EFBIG",
];

/** Converts an error to a DownloadFailure. Returns undefined for an error that affects all files. */
function asDownloadFailure(error: unknown): DownloadFailure | undefined {
  if (error instanceof DownloadFailure) return error;
  if (!(error instanceof Error) || !fileErrorCodes.includes(errorCode(error))) return undefined;
  return new DownloadFailure(`the file cannot be written: ${errorReason(error)}`);
}

/** A row in the `content_downloads` table. */
export interface CompletedDownload {
  source: string;
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  downloaded_at: string;
}

const columns = "source, id, path, bytes, sha256, downloaded_at";

export class DownloadLog {
  readonly #completed: Map<string, CompletedDownload>;

  constructor(private readonly mirror: Mirror) {
    const rows = mirror.db.prepare(`SELECT ${columns} FROM content_downloads`).all() as CompletedDownload[];
    this.#completed = new Map(rows.map((row) => [fileKey(row), row]));
  }

  get(file: { source: string; id: string }): CompletedDownload | undefined {
    return this.#completed.get(fileKey(file));
  }

  all(): Iterable<CompletedDownload> {
    return this.#completed.values();
  }

  save(download: CompletedDownload): void {
    const insert = this.mirror.db.prepare(
      `INSERT OR REPLACE INTO content_downloads (${columns}, synced_at)
       VALUES (@source, @id, @path, @bytes, @sha256, @downloaded_at, @downloaded_at)`,
    );
    this.mirror.transaction(() => insert.run(download));
    this.#completed.set(fileKey(download), download);
  }
}

/** Returns the key of a file's record. IDs are unique only within a source. */
export function fileKey({ source, id }: { source: string; id: string }): string {
  return `${source}/${id}`;
}
