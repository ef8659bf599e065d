import { lstatSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { ReadableTable } from "../query/readable-tables.js";
import { parenthesize } from "../query/sql-tokens.js";
import { checkCondition, explainRuntimeError } from "../query/user-sql.js";
import type { Mirror } from "../store/database.js";
import { createFolder } from "../util/files.js";
import type { Task } from "../util/reporter.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/timestamps.js";
import { DownloadFailure, type DownloadFileOptions, downloadFile } from "./download-file.js";
import { fileName, foldName } from "./file-name.js";

/** The filters for library files. Times are in milliseconds since the Unix epoch. */
interface FileSelection {
  /** An SQL condition on columns of the `content` table. */
  where: string | undefined;
  since: number | undefined;
  until: number | undefined;
}

/** A file in the mirrored content library (see "Content item" in the API documentation). */
export interface LibraryFile {
  source: string;
  id: string;
  filename: string | null;
  mimeType: string | null;
  /** The size in bytes, or null if the API does not report it. */
  size: number | null;
  createdAt: string | null;
  /** The time at which the current version of the file's record was first read. */
  sinceAt: string;
}

/**
 * Returns the selected files, newest first.
 * @param table the `content` table
 * @throws UsageError if SQLite rejects the condition
 */
export function selectFiles(mirror: Mirror, table: ReadableTable, selection: FileSelection): LibraryFile[] {
  const { where = "1", since = null, until = null } = selection;
  checkCondition(mirror, table, where);
  // If the API sends a number as the ID, the column is null, so the ID is taken from the record's key (`source/id`).
  const select = `SELECT coalesce(c.source, substr(r.key, 1, instr(r.key, '/') - 1)) AS source,
       coalesce(c.id, substr(r.key, instr(r.key, '/') + 1)) AS id, c.filename, c.mime_type AS mimeType,
       iif(c.file_size_bytes >= 0, c.file_size_bytes, NULL) AS size, c.created_at AS createdAt, r.since_at AS sinceAt
     FROM (SELECT * FROM content WHERE ${parenthesize(where)}) AS c JOIN records AS r USING (record_id)
     WHERE (@since IS NULL OR r.dated_ms >= @since) AND (@until IS NULL OR r.dated_ms < @until + 1)
     ORDER BY r.dated_ms DESC, r.key`;
  try {
    return mirror.selectRows<LibraryFile>(select, { since, until });
  } catch (error) {
    throw explainRuntimeError(error, "--where");
  }
}

interface DownloadOptions extends DownloadFileOptions {
  mirror: Mirror;
  folder: string;
  limit: number;
  task: Pick<Task, "update" | "waiting">;
}

/** The result of downloading a file, as printed by `--json`. */
interface FileResult {
  source: string;
  id: string;
  path: string;
  outcome: "downloaded" | "failed";
  bytes: number | null;
  /** The size in bytes according to the library, which can differ from the file's actual size. */
  library_bytes: number | null;
  sha256: string | null;
  /** The number of bytes that earlier runs downloaded; null if this run failed to complete the file. */
  resumed_from: number | null;
  error: string | null;
}

/** The number of files with each result, as printed by `--json`. */
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
 * @param onFile called after each file
 * @returns the summary; `hasMissing` is true if some of the files are no longer in the library
 * @throws errors that affect all files, such as a full disk or denied access to the API; the signal's abort reason
 */
export async function downloadFiles(
  files: readonly LibraryFile[],
  { mirror, folder: outputFolder, limit, ...options }: DownloadOptions,
  onFile: (result: FileResult) => void,
): Promise<{ summary: DownloadSummary; hasMissing: boolean }> {
  const { task } = options;
  createFolder(outputFolder);
  const folder = realpathSync(outputFolder);
  const downloads = loadDownloads(mirror);
  const incomplete: LibraryFile[] = [];
  for (const file of files) {
    const download = downloads.get(fileKey(file));
    const path = download && findCompleteFile(file, download, folder);
    if (!download || path === undefined) incomplete.push(file);
    // Update the stored path, because the output folder has been moved since the file was downloaded.
    else if (path !== download.path) saveDownload(mirror, { ...download, path });
  }
  const targets = assignPaths(incomplete.slice(0, limit), folder, downloads);
  const counts = { downloaded: 0, failed: 0, not_tried: 0, bytes: 0 };
  let hasMissing = false;
  let hostFailures = 0;
  task.update({ done: 0, total: targets.length });

  // An error that affects all files aborts the transfers in progress.
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const queue = targets.values();
  async function work(): Promise<void> {
    for (const target of queue) {
      if (hostFailures >= maxHostFailures) {
        counts.not_tried += 1;
        continue;
      }
      const { result, failure } = await downloadOne(mirror, target, { ...options, signal });
      if (failure?.kind === "missing") hasMissing = true;
      if (failure?.kind === "unavailable") hostFailures += 1;
      if (failure) counts.failed += 1;
      else {
        hostFailures = 0;
        counts.downloaded += 1;
        counts.bytes += result.bytes ?? 0;
      }
      onFile(result);
      task.update({ done: counts.downloaded + counts.failed });
    }
  }
  const workers = Array.from({ length: concurrency }, () => work().catch((error) => stop.abort(error)));
  await Promise.all(workers);
  signal.throwIfAborted();
  const already_complete = files.length - incomplete.length;
  return { summary: { folder, selected: files.length, already_complete, ...counts }, hasMissing };
}

/**
 * Returns the path of a downloaded file if it is still in the output folder and its size has not changed. Returns
 * undefined if the library's record has changed since the download and contains a different size. If the record has not
 * changed, ignores its size, which can be wrong.
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
function assignPaths(
  files: readonly LibraryFile[],
  folder: string,
  downloads: ReadonlyMap<string, CompletedDownload>,
): Target[] {
  const keys = new Set(files.map(fileKey));
  const others = [...downloads.values()].filter((download) => !keys.has(fileKey(download)));
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
  mirror: Mirror,
  { file, path }: Target,
  options: DownloadFileOptions,
): Promise<{ result: FileResult; failure?: DownloadFailure }> {
  const { source, id, size: library_bytes } = file;
  try {
    const { bytes, sha256, resumedFrom } = await downloadFile(file, path, options);
    saveDownload(mirror, {
      source,
      id,
      path,
      bytes,
      sha256,
      downloaded_at: formatInstant(options.clock.now()),
    });
    const details = { bytes, library_bytes, sha256, resumed_from: resumedFrom, error: null };
    return { result: { source, id, path, outcome: "downloaded", ...details } };
  } catch (error) {
    const failure = asDownloadFailure(error);
    if (!failure) throw error;
    const details = { bytes: null, library_bytes, sha256: null, resumed_from: null, error: failure.message };
    return { result: { source, id, path, outcome: "failed", ...details }, failure };
  }
}

/** The codes of system errors that affect only one file. */
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

interface CompletedDownload {
  source: string;
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  downloaded_at: string;
}

const downloadColumnsSql = "source, id, path, bytes, sha256, downloaded_at";

function loadDownloads(mirror: Mirror): Map<string, CompletedDownload> {
  const rows = mirror.selectRows<CompletedDownload>(`SELECT ${downloadColumnsSql} FROM content_downloads`);
  return new Map(rows.map((row) => [fileKey(row), row]));
}

function saveDownload(mirror: Mirror, download: CompletedDownload): void {
  const insert = `INSERT OR REPLACE INTO content_downloads (${downloadColumnsSql}, synced_at)
    VALUES (@source, @id, @path, @bytes, @sha256, @downloaded_at, @downloaded_at)`;
  mirror.transaction(() => mirror.execute(insert, download));
}

/** Returns the key of a file's record. It contains the source, because IDs are unique only within a source. */
function fileKey({ source, id }: { source: string; id: string }): string {
  return `${source}/${id}`;
}
