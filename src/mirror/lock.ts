import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "../deps.js";
import { MirrorBusy } from "../errors.js";

/** Held for as long as a run writes. */
export interface Lock {
  release(): void;
}

/**
 * One run at a time for a mirror. The lock is SQLite's own on a file beside the mirror, and so the operating
 * system's: it goes when the process goes, however it dies. The empty file stays; it means nothing by itself.
 * @param wait queue until the other run ends
 * @throws MirrorBusy
 */
export async function lockMirror(
  path: string,
  options: { wait: boolean; clock: Clock; signal: AbortSignal },
): Promise<Lock> {
  const { default: Sqlite } = await import("better-sqlite3");
  const lockPath = `${realPath(path)}-lock`;
  closeSync(openSync(lockPath, "a", 0o600));
  const file = new Sqlite(lockPath, { timeout: 0 });
  for (;;) {
    try {
      file.exec("BEGIN EXCLUSIVE");
      return { release: () => file.close() };
    } catch (error) {
      const busy = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
      if (!busy || !options.wait) {
        file.close();
        if (!busy) throw error;
        throw new MirrorBusy(`Another run holds this mirror: ${path}.`, {
          hint: "wait for it to end, or queue behind it with `--wait`",
          cause: error,
        });
      }
    }
    try {
      await options.clock.sleep(250, options.signal);
    } catch (error) {
      file.close();
      throw error;
    }
  }
}

/** One mirror, one lock, whatever links lead to it; the mirror itself need not be there yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(realpathSync(folder), basename(path));
}
