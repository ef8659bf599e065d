import { join } from "node:path";
import type { Reporter, Task } from "../lib/reporter.js";
import { formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import { type DownloadLog, downloadKey, type LibraryFile, nameOf, openDownloadLog } from "./catalogue.js";
import { FileFailed } from "./failure.js";
import { type FetchedFile, type FileAccess, fetchFile } from "./fetch-file.js";
import { completeAt, explainFileError, openFolder } from "./folder.js";
import { watchHost } from "./host.js";
import { createMeter } from "./meter.js";
import { fileName, foldName } from "./name.js";
import { runEach } from "./pool.js";

export interface DownloadAccess extends FileAccess {
  mirror: Mirror;
  reporter: Pick<Reporter, "detail">;
  task: Pick<Task, "update" | "waiting">;
  /** The output folder. */
  folder: string;
}

/** What became of one file. */
export interface FileResult {
  source: string;
  id: string;
  /** Absolute. */
  path: string;
  outcome: "downloaded" | "failed";
  bytes: number | null;
  sha256: string | null;
  /** Bytes that an earlier run had left, and that were not fetched again. */
  resumed_from: number | null;
  /** Why it failed. */
  error: string | null;
}

/** What a run came to, in files; `bytes` counts those downloaded. */
export interface DownloadSummary {
  folder: string;
  selected: number;
  already_complete: number;
  downloaded: number;
  failed: number;
  /** Left alone because the file host had stopped answering. */
  not_tried: number;
  bytes: number;
}

/**
 * Fetches files, four at a time, into one folder; those that are complete there already are left alone.
 * A file that cannot be had does not stop the others.
 * @param limit at most this many are fetched
 * @param onFile called as each file ends
 * @throws what concerns every file: the API's refusals, a full disk, the signal's reason
 */
export async function downloadFiles(
  files: readonly LibraryFile[],
  access: DownloadAccess,
  limit: number,
  onFile: (result: FileResult) => void,
): Promise<DownloadSummary> {
  const folder = await openFolder(access.folder);
  const log = openDownloadLog(access.mirror);
  const { wanted, complete } = divide(files, folder, log);
  const chosen = nameAll(wanted.slice(0, limit), log);
  const summary: DownloadSummary = {
    folder,
    selected: files.length,
    already_complete: complete,
    downloaded: 0,
    failed: 0,
    not_tried: 0,
    bytes: 0,
  };
  const meterFor = createMeter(
    chosen.map(({ file }) => file.size),
    (progress) => access.task.update(progress),
  );
  const host = watchHost(access.maxWaitMs, access.clock);

  async function fetchOne(file: LibraryFile, name: string, own: FileAccess): Promise<FetchedFile> {
    const path = join(folder, name);
    const meter = meterFor(file.size);
    let last: number | null = null;
    const memory = {
      validator: () => log.validatorOf(path, file),
      remember: (validator: string | null) => log.rememberValidator(path, file, validator),
    };
    try {
      return await fetchFile(file, { folder, name, memory }, own, {
        length(length, total) {
          // The first length is what an earlier run had left.
          if (last !== null && length > last) host.brought(length - last);
          last = length;
          meter.set(length, total);
        },
        called: host.called,
        waiting(ms, reason) {
          access.task.waiting(ms, reason);
          access.reporter.detail(`${name}: ${reason}; again in ${Math.round(ms)} ms`);
        },
      });
    } catch (error) {
      meter.drop();
      throw explainFileError(error, folder);
    }
  }

  async function settle({ file, name }: Named, own: FileAccess): Promise<void> {
    if (host.isDown) {
      summary.not_tried += 1;
      return;
    }
    const { source, id } = file;
    const path = join(folder, name);
    const about = { source, id, path };
    try {
      const { bytes, sha256, resumedFrom } = await fetchOne(file, name, own);
      host.finished();
      log.finish({ ...about, bytes, sha256, downloaded_at: formatInstant(access.clock.now()) });
      summary.downloaded += 1;
      summary.bytes += bytes;
      onFile({ ...about, outcome: "downloaded", bytes, sha256, resumed_from: resumedFrom, error: null });
    } catch (error) {
      if (!(error instanceof FileFailed)) throw error;
      if (error.hostDown) host.failed();
      summary.failed += 1;
      const nothing = { bytes: null, sha256: null, resumed_from: null };
      onFile({ ...about, outcome: "failed", ...nothing, error: error.message });
    }
  }

  await withStop(access.signal, (signal, stop) => {
    const own = { ...access, signal };
    return runEach(chosen, (each) => settle(each, own), stop);
  });
  return summary;
}

/** A signal that also aborts when one file's failure is every file's. */
async function withStop(
  outer: AbortSignal,
  work: (signal: AbortSignal, stop: (reason: unknown) => void) => Promise<void>,
): Promise<void> {
  const inner = new AbortController();
  const pass = () => inner.abort(outer.reason);
  outer.throwIfAborted();
  outer.addEventListener("abort", pass, { once: true });
  try {
    await work(inner.signal, (reason) => inner.abort(reason));
  } finally {
    outer.removeEventListener("abort", pass);
  }
}

/** What is still to be fetched. A complete file that was moved with its folder is found by its name. */
function divide(files: readonly LibraryFile[], folder: string, log: DownloadLog) {
  const wanted = files.filter((file) => {
    const row = log.complete.get(downloadKey(file));
    const path = completeAt(folder, file, row);
    if (row === undefined || path === null) return true;
    if (path !== row.path) log.finish({ ...row, path });
    return false;
  });
  return { wanted, complete: files.length - wanted.length };
}

interface Named {
  file: LibraryFile;
  name: string;
}

/** Names that no other file of the mirror has, nor another of this run. */
function nameAll(files: readonly LibraryFile[], log: DownloadLog): Named[] {
  const own = new Set(files.map(downloadKey));
  const taken = new Set(
    [...log.complete].filter(([key]) => !own.has(key)).map(([, row]) => foldName(nameOf(row))),
  );
  return files.map((file) => {
    const name = fileName(file, taken);
    taken.add(foldName(name));
    return { file, name };
  });
}
