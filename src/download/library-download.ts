import { lstatSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { Mirror } from "../store/database.js";
import { createFolder } from "../util/files.js";
import type { Task } from "../util/reporter.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/times.js";
import { fileName, foldName } from "./file-name.js";
import { type DownloadLog, downloadKey, type LibraryFile, openDownloadLog } from "./library-files.js";
import { type FetchOptions, fetchFile } from "./transfer.js";

/**
 * Thrown if one file cannot be fetched and the others still can. The message follows the file's name, and never holds a
 * URL. `missing`: the library no longer has the file; `again`: another try may succeed; `restart`: only from the first byte; `host`: the file host cannot be reached or
 * keeps failing, which the next file may meet too.
 */
export class DownloadFailure extends Error {
  constructor(
    message: string,
    readonly kind: "final" | "missing" | "again" | "restart" | "host" = "final",
    /** Milliseconds that the file host asks to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

export interface DownloadOptions extends FetchOptions {
  mirror: Mirror;
  task: Pick<Task, "update" | "waiting">;
  /** The output folder. */
  folder: string;
}

/** The result of one file; `resumed_from` counts the bytes that an earlier run had left. */
export interface FileResult {
  source: string;
  id: string;
  /** Absolute. */
  path: string;
  outcome: "downloaded" | "failed";
  bytes: number | null;
  /** The library's size, which can be wrong; null if it has none. */
  library_bytes: number | null;
  sha256: string | null;
  resumed_from: number | null;
  error: string | null;
}

/** The result of a run, in files; `bytes` counts those downloaded. */
export interface DownloadSummary {
  folder: string;
  selected: number;
  already_complete: number;
  downloaded: number;
  failed: number;
  /** Files that were left alone because the file host had stopped answering. */
  not_tried: number;
  bytes: number;
}

/** Files on their way at once. */
const atOnce = 4;
/** The file host counts as down after this many files in a row that failed because of it. */
const mostHostFailures = 4;

/**
 * Fetches files, four at a time, into one folder; those that are complete there are left alone. A file that cannot be
 * fetched does not stop the others.
 * @param limit at most this many are fetched
 * @param onFile called as each file ends, with its failure if it failed
 * @throws errors that concern every file: the API's refusals, a full disk, the signal's reason
 */
export async function downloadFiles(
  files: readonly LibraryFile[],
  access: DownloadOptions,
  limit: number,
  onFile: (result: FileResult, failure?: DownloadFailure) => void,
): Promise<DownloadSummary> {
  const { task } = access;
  createFolder(access.folder);
  const folder = realpathSync(access.folder);
  const log = openDownloadLog(access.mirror);
  const wanted = files.filter((file) => !isComplete(file, folder, log));
  const queue = withPaths(wanted.slice(0, limit), folder, log);
  const counts = { downloaded: 0, failed: 0, not_tried: 0, bytes: 0 };
  let done = 0;
  let hostFailures = 0;
  task.update({ done, total: queue.length });

  async function settle({ file, path }: Placed, signal: AbortSignal): Promise<void> {
    const { source, id } = file;
    const about = { source, id, path };
    const library_bytes = file.size;
    try {
      const { bytes, sha256, resumedFrom } = await fetchFile(file, path, { ...access, signal });
      hostFailures = 0;
      log.finish({ ...about, bytes, sha256, downloaded_at: formatInstant(access.clock.now()) });
      counts.downloaded += 1;
      counts.bytes += bytes;
      const got = { bytes, library_bytes, sha256, resumed_from: resumedFrom };
      onFile({ ...about, outcome: "downloaded", ...got, error: null });
    } catch (error) {
      const failure = failureOf(error);
      if (!failure) throw error;
      if (failure.kind === "host") hostFailures += 1;
      counts.failed += 1;
      const nothing = { bytes: null, library_bytes, sha256: null, resumed_from: null };
      onFile({ ...about, outcome: "failed", ...nothing, error: failure.message }, failure);
    }
    done += 1;
    task.update({ done });
  }

  // One failure of every file stops those under way.
  const stop = new AbortController();
  const signal = AbortSignal.any([access.signal, stop.signal]);
  const next = queue.values();
  const work = async () => {
    for (const placed of next)
      if (hostFailures >= mostHostFailures) counts.not_tried += 1;
      else if (!signal.aborted) await settle(placed, signal).catch((error) => stop.abort(error));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  signal.throwIfAborted();
  return { folder, selected: files.length, already_complete: files.length - wanted.length, ...counts };
}

/**
 * True if the folder holds a complete file, by the mirror's row and its size. Updates the path if the folder was moved.
 * If the library's size is wrong, the file is complete until the library's entry changes.
 */
function isComplete(file: LibraryFile, folder: string, log: DownloadLog): boolean {
  const row = log.complete.get(downloadKey(file));
  if (row === undefined) return false;
  if (file.size !== null && file.size !== row.bytes && file.sinceAt > row.downloaded_at) return false;
  const path = join(folder, basename(row.path));
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there?.isFile() || there.size !== row.bytes) return false;
  if (path !== row.path) log.finish({ ...row, path });
  return true;
}

type Placed = Readonly<{ file: LibraryFile; path: string }>;

/** Gives each file a name that no other file of the mirror or of this run has. */
function withPaths(files: readonly LibraryFile[], folder: string, log: DownloadLog): Placed[] {
  const own = new Set(files.map(downloadKey));
  const others = [...log.complete.values()].filter((row) => !own.has(downloadKey(row)));
  const taken = new Set(others.map(({ path }) => foldName(basename(path))));
  return files.map((file) => {
    const name = fileName(file, taken);
    taken.add(foldName(name));
    return { file, path: join(folder, name) };
  });
}

/** The system's errors that concern one file. */
const ofOneFile = [
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

/** Returns an error as one file's failure; undefined if it concerns every file. */
function failureOf(error: unknown): DownloadFailure | undefined {
  if (error instanceof DownloadFailure) return error;
  if (!(error instanceof Error) || !ofOneFile.includes(errorCode(error))) return undefined;
  return new DownloadFailure(`cannot write it: ${errorReason(error)}`);
}
