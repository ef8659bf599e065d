import { closeSync, existsSync, openSync, statSync, utimesSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Clock } from "../deps.js";
import { MirrorBusy } from "../errors.js";
import { loadSqlite } from "../util/sqlite.js";
import { errorCode } from "../util/system-errors.js";
import { connect, type Mirror, withMirror } from "./database.js";
import { checkMirrorPath, resolveMirrorPath } from "./mirror-files.js";
import { type CurrentRun, currentRunText, readCurrentRun } from "./run-progress.js";

const pollMs = 250;

/**
 * Locks a mirror for one run. The lock is SQLite's own on an empty file beside the mirror, and so the system's: it ends
 * with the process, however that dies. The file stays.
 * @param wait queue until the other run ends
 * @param queued is called once with a sentence about the run that is waited for
 * @throws MirrorBusy, or MirrorUnusable if no mirror can be at this path
 */
export async function lockMirror(
  path: string,
  options: { wait: boolean; clock: Clock; signal: AbortSignal; queued?(text: string): void },
): Promise<{ release(): void }> {
  const { clock, queued, signal, wait } = options;
  checkMirrorPath(path);
  const lockPath = `${resolveMirrorPath(path)}-lock`;
  // SQLite alone would create it readable for everybody: 0644.
  if (!existsSync(lockPath)) closeSync(openSync(lockPath, "a", 0o600));
  const Sqlite = await loadSqlite();
  // A process that only looks whether the lock is held is gone in a moment.
  const db = new Sqlite(lockPath, { timeout: 100 });
  try {
    for (let isQueued = false; !tryLock(db); isQueued = true) {
      const other = isQueued && wait ? null : await findCurrentRun(path);
      const which = other === null ? "" : ` ${currentRunText(other, clock.now())}`;
      if (!wait)
        throw new MirrorBusy(`Another run holds this mirror${which}: ${path}.`, {
          hint: "wait for it to end; `sync`, `verify` and `download` queue behind it with `--wait`",
        });
      if (!isQueued) queued?.(`waits for another run${which}`);
      await clock.sleep(pollMs, signal);
    }
    // The file's time says when the run began.
    utimesSync(lockPath, clock.now() / 1_000, clock.now() / 1_000);
    return { release: () => void db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Returns the run that holds the mirror now; null if there is none. */
export async function findCurrentRun(path: string): Promise<CurrentRun | null> {
  const lockPath = `${existsSync(path) ? resolveMirrorPath(path) : path}-lock`;
  const since = statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined || !(await isLocked(lockPath))) return null;
  const silent = { started_at: new Date(since).toISOString(), progress: null };
  if (!existsSync(path)) return silent;
  const read = (mirror: Mirror) => readCurrentRun(mirror, since);
  // Opening the mirror for its own sake reports what is wrong with it.
  return await withMirror(connect(path, true), read).catch(() => silent);
}

/** Takes the lock, unless another process has it. @returns true if it was taken */
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
