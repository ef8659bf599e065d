import { closeSync, existsSync, openSync, statSync, utimesSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Clock } from "../../deps.js";
import { MirrorBusy } from "../../errors.js";
import { loadSqlite } from "../../util/sqlite.js";
import { errorCode } from "../../util/system-errors.js";
import { type CurrentRun, describeCurrentRun, readCurrentRun } from "../state/run-status.js";
import { connect, type Mirror, withMirror } from "./database.js";
import { checkMirrorPath, resolveMirrorPath } from "./mirror-files.js";

const pollMs = 250;

/**
 * Locks a mirror for one run, using an SQLite lock on an empty file next to it. The operating system releases
 * the lock when the process ends. The file is never removed.
 * @param wait true to wait for the other run to end
 * @param onQueued called with a description of the run that holds the lock
 * @throws MirrorBusy if the mirror is locked and `wait` is false; MirrorUnusable if the path is a folder or a
 * device
 */
export async function lockMirror(
  path: string,
  options: { wait: boolean; clock: Clock; signal: AbortSignal; onQueued?(text: string): void },
): Promise<{ release(): void }> {
  const { clock, onQueued, signal, wait } = options;
  checkMirrorPath(path);
  const lockPath = `${resolveMirrorPath(path)}-lock`;
  // SQLite would create a world-readable file (0644).
  if (!existsSync(lockPath)) closeSync(openSync(lockPath, "a", 0o600));
  const Sqlite = await loadSqlite();
  // The timeout allows for other processes that take the lock briefly to test it.
  const db = new Sqlite(lockPath, { timeout: 100 });
  try {
    for (let isQueued = false; !tryLock(db); isQueued = true) {
      const other = isQueued && wait ? null : await findCurrentRun(path);
      const which = other === null ? "" : ` ${describeCurrentRun(other, clock.now())}`;
      if (!wait)
        throw new MirrorBusy(`Another run is using this mirror${which}: ${path}.`, {
          hint: "run the command again after that run has ended, or add `--wait` to `sync`, `verify` or `download`",
        });
      if (!isQueued) onQueued?.(`waiting for another run${which}`);
      await clock.sleep(pollMs, signal);
    }
    // `findCurrentRun` reports the lock file's modification time as the start time of the run.
    utimesSync(lockPath, clock.now() / 1_000, clock.now() / 1_000);
    return { release: () => void db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Returns the run that has locked a mirror, or null if the mirror is not locked. */
export async function findCurrentRun(path: string): Promise<CurrentRun | null> {
  const lockPath = `${existsSync(path) ? resolveMirrorPath(path) : path}-lock`;
  const since = statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined || !(await isLocked(lockPath))) return null;
  const unknown = { started_at: new Date(since).toISOString(), progress: null };
  if (!existsSync(path)) return unknown;
  const read = (mirror: Mirror) => readCurrentRun(mirror, since);
  // Problems with the mirror are ignored here, because the command that opens it reports them.
  return await withMirror(connect(path, { readonly: true }), read).catch(() => unknown);
}

function tryLock(db: Database): boolean {
  return !isBusy(() => db.exec("BEGIN EXCLUSIVE"));
}

async function isLocked(lockPath: string): Promise<boolean> {
  const Sqlite = await loadSqlite();
  const db = new Sqlite(lockPath, { timeout: 0, readonly: true });
  try {
    return isBusy(() => db.prepare("SELECT 1 FROM sqlite_master").get());
  } finally {
    db.close();
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
