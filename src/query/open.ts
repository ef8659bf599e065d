import { ConfigurationError, MirrorBusy } from "../errors.js";
import { loadSqlite } from "../lib/sqlite.js";
import {
  asMirrorError,
  busyMs,
  checkIdentity,
  checkPlace,
  closeMirror,
  connect,
  createFile,
  layOut,
  type Mirror,
  migrate,
  mirrorOf,
  runUnderWay,
  schemaVersion,
} from "../mirror/index.js";
import { isOutdated, reproject } from "../records/index.js";
import { createViews, viewsToMake } from "./create-views.js";

/** How long to wait for a different program that writes, in milliseconds. */
const patienceMs = 10_000;

/**
 * Opens the mirror for writing, creating it (mode 0600, its folder 0700) where there is none, and migrates it
 * to this version's tables in one transaction.
 * @throws MirrorUnusable when the file is no mirror, damaged, or written by a newer version (left untouched)
 */
export async function openMirror(path: string): Promise<Mirror> {
  if (!checkPlace(path)) await createFile(path);
  const mirror = await connect(path, false);
  try {
    checkIdentity(mirror);
    layOut(mirror.db);
    mirror.db.pragma("synchronous = NORMAL");
    mirror.db.pragma("cache_size = -16000");
    mirror.db.pragma("wal_autocheckpoint = 1000");
    mirror.db.pragma(`busy_timeout = ${patienceMs}`);
    mirror.transaction(() => {
      migrate(mirror.db);
      reproject(mirror);
      createViews(mirror);
    });
    mirror.db.pragma(`busy_timeout = ${busyMs}`);
    return mirror;
  } catch (error) {
    closeMirror(mirror);
    throw asMirrorError(error, path);
  }
}

/**
 * Opens the mirror for reading: never blocked by a sync, never blocking one. A mirror that an older version wrote is
 * brought up to date first, from what it holds.
 * @throws ConfigurationError when there is no mirror yet; MirrorBusy while an older version writes into it
 */
export async function openMirrorReadOnly(path: string): Promise<Mirror> {
  if (!checkPlace(path))
    throw new ConfigurationError(`No mirror yet: ${path}.`, {
      hint: "run `brandapi sync` first, or `brandapi demo`",
    });
  const mirror = await connect(path, true);
  try {
    checkIdentity(mirror);
    const version = schemaVersion(mirror);
    if (version === "none")
      throw new ConfigurationError(`The mirror is empty: ${path}.`, { hint: "run `brandapi sync` first" });
    if (version === "current" && !isOutdated(mirror) && viewsToMake(mirror).length === 0) return mirror;
    mirror.db.close();
    // It would be taken by surprise: its tables would be other ones from one statement to the next.
    if (version === "older" && (await runUnderWay(path)))
      throw new MirrorBusy(`A run holds this mirror, which an older version wrote: ${path}.`, {
        hint: "wait for it to end: then this version brings the mirror up to date",
      });
    (await openMirror(path)).db.close();
    return await connect(path, true);
  } catch (error) {
    mirror.db.close();
    throw asMirrorError(error, path);
  }
}

/**
 * Opens the mirror for reading; without one, an empty one in memory.
 * @throws MirrorUnusable when what is there is no mirror of this version or an older one
 */
export async function openMirrorOrNone(path: string): Promise<Mirror> {
  if (checkPlace(path)) {
    const mirror = await connect(path, true);
    try {
      checkIdentity(mirror);
      if (schemaVersion(mirror) !== "none") return mirror;
      mirror.db.close();
    } catch (error) {
      mirror.db.close();
      throw asMirrorError(error, path);
    }
  }
  const Sqlite = await loadSqlite();
  const mirror = mirrorOf({ db: new Sqlite(":memory:"), path, id: null });
  migrate(mirror.db);
  return mirror;
}
