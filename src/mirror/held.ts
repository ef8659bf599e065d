import { rmSync } from "node:fs";
import type { MirrorUnusable } from "../errors.js";
import { openBeginning } from "./beginning.js";
import { connect } from "./file.js";
import type { Lock } from "./lock.js";
import { type Log, openLog } from "./log.js";
import { type Loss, lossError } from "./loss.js";
import type { Mirror } from "./mirror.js";
import { idOf } from "./place.js";

/**
 * What a run holds of a mirror.
 * @throws MirrorUnusable, each of them, once the mirror, its log or its lock is gone, or is not what it was
 */
export interface Held {
  /** Before a transaction: proves what the files hold. */
  begin(): void;
  /** Before it is kept: looks whether they are still there. */
  look(): void;
  /** After it: proves what the files hold, and keeps the log short. */
  settle(): void;
  /** Closes the mirror. What came into its place is left alone. */
  end(): void;
}

/** With so many pages in it, the log is brought into the mirror's own file. */
const mostPages = 1_000;

/**
 * Holds a mirror for a run, until `end`. SQLite knows its files by their open handles: it would go on writing into one
 * that is gone, leave its log beside the one that came, and bring in a log that was cut. So each transaction looks
 * first, and nothing is brought from the log into the mirror that was not proven before.
 * @param path as the person named it: a link that is turned elsewhere leads to another mirror
 */
export async function holdMirror(mirror: Mirror, path: string, lock: Lock): Promise<Held> {
  const { db } = mirror;
  /** As long as it is open, closing the first connection neither brings in the log nor takes it away. */
  let second: Mirror | null = null;
  let lost: MirrorUnusable | null = null;
  let version = versionOf(mirror);
  /** Another program has written, and may again. */
  let isShared = false;
  const isLogged = db.pragma("journal_mode", { simple: true }) === "wal";
  const logPath = `${mirror.path}-wal`;
  const beside = [logPath, `${mirror.path}-shm`].map((one) => ({ path: one, id: idOf(one) }));
  // Between the lock and here the mirror was read, to see whose it is: that has to be this one.
  if (lock.mirrorId !== null && lock.mirrorId !== mirror.id) lose("replaced", path);
  // Only while it is where it was opened, what lies beside it is its own.
  lookAtMirror();
  const beginning = openBeginning(mirror.path);
  const log = isLogged ? openOwnLog() : null;

  function openOwnLog(): Log {
    try {
      return openLog(logPath, beginning.expect);
    } catch (error) {
      return lose("log", logPath, error);
    }
  }

  function lose(loss: Loss, at: string, cause?: unknown): never {
    lost = lossError(loss, at, cause);
    throw lost;
  }

  function lookAtMirror(): void {
    const now = idOf(path);
    if (now !== mirror.id) lose(now === null ? "removed" : "replaced", path);
  }

  function look(): void {
    if (lost) throw lost;
    lookAtMirror();
    for (const one of beside) if (idOf(one.path) !== one.id) lose("log", one.path);
    if (idOf(lock.path) !== lock.id) lose("lock", lock.path);
  }

  function begin(): void {
    look();
    check();
  }

  function settle(): void {
    look();
    if (check() >= mostPages) bringIn();
  }

  /** @returns how many pages of the log wait to be brought in */
  function check(): number {
    const { loss, waiting } = prove();
    if (loss) lose(loss, loss === "log" ? logPath : path);
    return waiting;
  }

  /** What is wrong with what the files hold, and how many pages of the log wait to be brought in. */
  function prove(): { loss: Loss | null; waiting: number } {
    if (!log) return { loss: null, waiting: 0 };
    for (;;) {
      const { pages, waiting } = progressOf(mirror);
      const isLogged = log.holds(pages) || waiting === 0;
      // Only what SQLite brings in from the log changes the mirror's own file.
      const isOwn = beginning.isOwn();
      if (isLogged && isOwn) return { loss: null, waiting };
      const before = version;
      version = versionOf(mirror);
      if (version === before) return { loss: isLogged ? "overwritten" : "log", waiting };
      // Another program wrote, by SQLite's own rules, and may have brought the log in and begun it anew.
      beginning.allow();
      isShared = true;
    }
  }

  function bringIn(): void {
    if (!log) return;
    try {
      db.pragma("wal_checkpoint(PASSIVE)");
      if (progressOf(mirror).waiting === 0 && beginning.isOwn()) beginning.accept();
    } catch (error) {
      // A full disk, say: the log stays, and the next transaction that needs room tells it.
      if (prove().loss) lose("torn", logPath, error);
    }
  }

  function close(): void {
    const isSound = prove().loss === null;
    const isInPlace = () => idOf(mirror.path) === mirror.id;
    // Where it was moved away, it takes along what was kept.
    if (isSound && !isInPlace()) bringIn();
    // SQLite itself brings in what is left, and takes the log away.
    if (isSound && isInPlace()) second?.db.close();
    db.close();
    second?.db.close();
    // What came into its place must not meet its log.
    if (!isSound || !isInPlace())
      for (const one of beside) if (one.id !== null && idOf(one.path) === one.id) rmSync(one.path);
    log?.close();
    const isOwn = !isLogged || isShared || beginning.isOwn();
    beginning.close();
    if (lost) return;
    // Closing took the log away: the mirror itself is what is left to look at.
    lookAtMirror();
    if (!isOwn) lose("overwritten", path);
  }

  function end(): void {
    try {
      if (db.inTransaction) db.exec("ROLLBACK");
      begin();
      bringIn();
    } finally {
      close();
    }
  }

  try {
    second = isLogged ? await connect(mirror.path, true) : null;
    db.pragma("wal_autocheckpoint = 0");
    // No copy from before this run has the number that this writes into the mirror's first page.
    mirror.transaction(() => db.pragma(`user_version = ${db.pragma("user_version", { simple: true })}`));
    settle();
    bringIn();
    return { begin, look, settle, end };
  } catch (error) {
    close();
    throw error;
  }
}

/** Another one after each write by another connection than this. */
function versionOf({ db }: Mirror): number {
  return Number(db.pragma("data_version", { simple: true }));
}

/** How many pages are in the log, and how many of these are not in the mirror's own file yet. */
function progressOf({ db }: Mirror): { pages: number; waiting: number } {
  const [row] = db.pragma("wal_checkpoint(NOOP)") as { log: number; checkpointed: number }[];
  const { log: pages = 0, checkpointed = 0 } = row ?? {};
  return { pages, waiting: pages - checkpointed };
}
