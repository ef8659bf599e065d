import { closeSync, existsSync, openSync, rmSync, statSync, utimesSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Clock } from "../deps.js";
import { MirrorBusy } from "../errors.js";
import { loadSqlite } from "../lib/sqlite.js";
import { connect } from "./file.js";
import { checkPlace, idOf, realPlace } from "./place.js";
import { readUnderWay, type UnderWay, underWayText } from "./under-way.js";

/** Held for as long as a run writes. */
export interface Lock {
  readonly path: string;
  /** Which file it is, as `idOf` says. */
  readonly id: string;
  /** Which file the mirror was when it was locked; null where there was none. */
  readonly mirrorId: string | null;
  release(): void;
}

/**
 * One run at a time for a mirror. The lock is SQLite's own on a file beside the mirror, and so the operating
 * system's: it goes when the process goes, however it dies. The empty file stays beside a mirror; it means nothing by
 * itself, and goes where no mirror came to be.
 * @param wait queue until the other run ends
 * @param queued hears once of the run that is waited for
 * @throws MirrorBusy, and MirrorUnusable where no mirror can be
 */
export async function lockMirror(
  path: string,
  options: { wait: boolean; clock: Clock; signal: AbortSignal; queued?(text: string): void },
): Promise<Lock> {
  checkPlace(path);
  const mirrorPath = realPlace(path);
  const lockPath = `${mirrorPath}-lock`;
  let file = await openLock(lockPath);
  let isQueued = false;
  try {
    for (;;) {
      const refusal = take(file.db);
      const { id } = file;
      if (id === null || id !== idOf(lockPath)) {
        // Whoever held it has taken the file away: the lock of a file that is nowhere holds off nobody.
        file.db.close();
        file = await openLock(lockPath);
        continue;
      }
      if (refusal === null) {
        // Its time is when the run began, for whoever looks.
        utimesSync(lockPath, options.clock.now() / 1_000, options.clock.now() / 1_000);
        const own = { path: lockPath, id };
        const held = file.db;
        return { ...own, mirrorId: idOf(mirrorPath), release: () => release(held, mirrorPath, own) };
      }
      if (!("code" in refusal) || refusal.code !== "SQLITE_BUSY") throw refusal;
      if (!options.wait)
        throw new MirrorBusy(`Another run holds this mirror${await other(path, options.clock)}: ${path}.`, {
          hint: "wait for it to end, or queue behind it with `--wait`",
          cause: refusal,
        });
      if (!isQueued) options.queued?.(`waits for another run${await other(path, options.clock)}`);
      isQueued = true;
      await options.clock.sleep(250, options.signal);
    }
  } catch (error) {
    file.db.close();
    throw error;
  }
}

/** The run that holds the mirror now; null where none does. */
export async function runUnderWay(path: string): Promise<UnderWay | null> {
  const lockPath = `${existsSync(path) ? realPlace(path) : path}-lock`;
  const since = statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined || !(await isHeld(lockPath))) return null;
  const silent = { started_at: new Date(since).toISOString(), progress: null };
  if (!existsSync(path)) return silent;
  try {
    const mirror = await connect(path, true);
    try {
      return readUnderWay(mirror, since);
    } finally {
      mirror.db.close();
    }
  } catch {
    // A mirror that says nothing of itself is told about by whoever opens it.
    return silent;
  }
}

async function other(path: string, clock: Clock): Promise<string> {
  const run = await runUnderWay(path);
  return run === null ? "" : ` ${underWayText(run, clock.now())}`;
}

async function isHeld(lockPath: string): Promise<boolean> {
  const Sqlite = await loadSqlite();
  const db = new Sqlite(lockPath, { timeout: 0, readonly: true });
  try {
    db.prepare("SELECT 1 FROM sqlite_master").get();
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
  } finally {
    db.close();
  }
}

/** @returns null once it is held; otherwise what SQLite says */
function take(db: Database): Error | null {
  try {
    db.exec("BEGIN EXCLUSIVE");
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error;
  }
}

/** The lock's file, and which one it is: another can take its path meanwhile. */
async function openLock(lockPath: string): Promise<{ db: Database; id: string | null }> {
  const Sqlite = await loadSqlite();
  if (!existsSync(lockPath)) closeSync(openSync(lockPath, "a", 0o600));
  const id = idOf(lockPath);
  // Whoever only looks whether it is held is gone in a moment.
  const db = new Sqlite(lockPath, { timeout: 100 });
  return { db, id: id === idOf(lockPath) ? id : null };
}

function release(db: Database, mirrorPath: string, { path, id }: Pick<Lock, "path" | "id">): void {
  try {
    // While it is held: nobody can take it in between. Another file at its path is another run's.
    if (!existsSync(mirrorPath) && idOf(path) === id) rmSync(path, { force: true });
  } catch {
    // Some systems keep an open file: it means nothing by itself.
  } finally {
    db.close();
  }
}
