import { closeSync, existsSync, openSync, statSync, utimesSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Clock } from "../deps.js";
import { ConfigurationError, MirrorBusy } from "../errors.js";
import { pluralize } from "../util/format-text.js";
import { loadSqlite } from "../util/sqlite.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { formatDuration, formatInstant, formatMinute } from "../util/timestamps.js";
import { connect, loadJsonInfo, type Mirror, saveJsonInfo, withMirror } from "./database.js";
import { checkMirrorPath, createMirrorFolder, resolveMirrorPath } from "./mirror-files.js";

const pollMs = 250;

/**
 * Locks a mirror for one run. The lock is an SQLite lock on an empty file next to the mirror. The operating system
 * releases the lock when the process ends, and the file is never removed.
 * @param options.wait the value of `--wait`: true to wait for another run instead of throwing; undefined if the command
 * does not have the flag
 * @param options.onQueued called with a description of the run that holds the lock
 * @throws MirrorBusy if the mirror is locked and `wait` is false; MirrorUnusable if the path is a folder or a device
 */
export async function lockMirror(
  path: string,
  options: {
    wait?: boolean;
    clock: Clock;
    signal: AbortSignal;
    onQueued?(text: string): void;
  },
): Promise<{ release(): void }> {
  const { clock, onQueued, signal, wait } = options;
  checkMirrorPath(path);
  const lockPath = `${createMirrorFolder(path)}-lock`;
  // SQLite would create the file with mode 0644, which is readable by all users.
  if (!existsSync(lockPath)) closeSync(openSync(lockPath, "a", 0o600));
  const db = await openLockFile(lockPath);
  try {
    if (!tryLock(db)) {
      const other = await findRunningCommand(path);
      const which = other === null ? "" : ` ${describeRunningCommand(other, clock.now())}`;
      if (!wait)
        throw new MirrorBusy(`Another run is using this mirror${which}: ${path}.`, {
          hint: `run the command again after that run has ended${wait === undefined ? "" : ", or add `--wait`"}`,
        });
      onQueued?.(`waiting for another run${which}`);
      do await clock.sleep(pollMs, signal);
      while (!tryLock(db));
    }
    // Set the modification time, which `findRunningCommand` reads as the start of the run.
    utimesSync(lockPath, clock.now() / 1_000, clock.now() / 1_000);
    return { release: () => void db.close() };
  } catch (error) {
    db.close();
    throw errorCode(error).startsWith("SQLITE_") ? createLockFileError(lockPath, error) : error;
  }
}

async function openLockFile(path: string): Promise<Database> {
  const Sqlite = await loadSqlite();
  try {
    // Wait briefly, because another process may be holding the lock just to test it.
    return new Sqlite(path, { timeout: 100 });
  } catch (error) {
    throw createLockFileError(path, error);
  }
}

function createLockFileError(path: string, cause: unknown): ConfigurationError {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const reason = isFolder ? "it is a folder" : errorReason(cause);
  const isForeign = isFolder || errorCode(cause) === "SQLITE_NOTADB";
  return new ConfigurationError(`Cannot use the mirror's lock file ${path}: ${reason}`, {
    hint: isForeign ? "move it out of the way" : "check the permissions of this file and its folder",
    cause,
  });
}

/** Returns the command that is using a mirror, or null if there is none or the lock file cannot be read. */
export async function findRunningCommand(path: string): Promise<RunningCommand | null> {
  const lockPath = `${resolveMirrorPath(path)}-lock`;
  const stats = statSync(lockPath, { throwIfNoEntry: false });
  if (!stats?.isFile() || !(await isLocked(lockPath))) return null;
  const lockedMs = stats.mtimeMs;
  const progress = existsSync(path) ? await loadProgress(path) : null;
  // If the stored progress is older than the lock, it belongs to an earlier run that was killed.
  const isCurrent = progress !== null && Date.parse(progress.at) >= Math.floor(lockedMs);
  return { started_at: formatInstant(lockedMs), progress: isCurrent ? progress : null };
}

/**
 * Returns the progress that a command has most recently stored. Ignores errors, because they are reported when the
 * mirror is opened.
 */
async function loadProgress(path: string): Promise<StoredProgress | null> {
  const load = (mirror: Mirror) => loadJsonInfo<StoredProgress>(mirror, "running_command");
  return await withMirror(connect(path, { readonly: true }), load).catch(() => null);
}

function tryLock(db: Database): boolean {
  // With a journal in memory, a killed process leaves no journal file behind.
  return !isBusy(() => db.exec("PRAGMA journal_mode = memory; BEGIN EXCLUSIVE"));
}

async function isLocked(lockPath: string): Promise<boolean> {
  const Sqlite = await loadSqlite();
  let db: Database | undefined;
  try {
    const opened = new Sqlite(lockPath, { timeout: 0, readonly: true });
    db = opened;
    return isBusy(() => opened.prepare("SELECT 1 FROM sqlite_master").get());
  } catch (error) {
    // The lock file may be readable only by the user who runs the syncs, or may have been replaced by another program.
    if (errorCode(error).startsWith("SQLITE_")) return false;
    throw error;
  } finally {
    db?.close();
  }
}

function isBusy(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (errorCode(error) === "SQLITE_BUSY") return true;
    throw error;
  }
}

export interface RunningCommand {
  started_at: string;
  progress: StoredProgress | null;
}

export interface StoredProgress {
  command: string;
  resource: string | null;
  /** The resource's position among the command's resources, starting at 1. */
  position: number;
  of: number;
  requests: number;
  requests_left: number | null;
  at: string;
}

export function saveProgress(mirror: Mirror, progress: StoredProgress): void {
  mirror.transaction(() => saveJsonInfo(mirror, "running_command", progress));
}

/**
 * Describes a running command, for example `since 2026-11-22 04:57 UTC, 12m ago (sync of orders, 10 of 10, 431
 * requests, about 570 to go)`.
 */
export function describeRunningCommand({ started_at, progress }: RunningCommand, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(started_at)));
  return `since ${formatMinute(started_at)} UTC, ${age} ago (${describeProgress(progress)})`;
}

function describeProgress(progress: StoredProgress | null): string {
  if (progress === null) return "nothing read yet";
  const { command, of, position, requests, requests_left, resource } = progress;
  return [
    resource === null ? command : `${command} of ${resource}`,
    ...(of > 1 ? [`${position} of ${of}`] : []),
    pluralize(requests, "request"),
    ...(requests_left ? [`about ${requests_left} to go`] : []),
  ].join(", ");
}
