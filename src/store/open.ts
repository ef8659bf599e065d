import { ConfigurationError, MirrorBusy, MirrorUnusable } from "../errors.js";
import { type Reporter, silentReporter } from "../util/reporter.js";
import { loadSqlite } from "../util/sqlite.js";
import { brokenViews } from "./added-objects.js";
import {
  asMirrorError,
  busyMs,
  connect,
  createMirrorFile,
  type Mirror,
  setFileFormat,
  wrapDatabase,
  writeInfo,
} from "./database.js";
import { findCurrentRun } from "./lock.js";
import { backUpBeforeMigration } from "./mirror-copy.js";
import { checkMirrorPath, isWritable, withoutLogMode } from "./mirror-files.js";
import { hasOutdatedTables, rebuildOutdatedTables } from "./rebuild.js";
import { checkIdentity, migrate, schemaVersion } from "./schema.js";
import { createViews, findOutdatedViews } from "./views/all-views.js";

/** How long to wait for a different program that writes, in milliseconds. */
const migrationBusyMs = 10_000;

export interface OpenOptions {
  /** True for a copy of a mirror, such as a backup that is restored: it is migrated without a backup. */
  isCopy?: boolean;
  /** Learns where the backup before a migration is, and what of somebody's own views, indexes and triggers was lost. */
  reporter?: Pick<Reporter, "note" | "warn">;
}

/**
 * Opens the mirror for writing, creating it (mode 0600, its folder 0700) if there is none. A mirror of an older version is
 * backed up, and migrated to this version's tables in one transaction.
 * @throws MirrorUnusable if the file is no mirror, damaged, or written by a newer version (left untouched)
 */
export async function openMirror(path: string, options: OpenOptions = {}): Promise<Mirror> {
  const { isCopy = false, reporter = silentReporter } = options;
  if (!checkMirrorPath(path)) await createMirrorFile(path);
  return await connectAnd(path, false, async (mirror) => {
    const isOlder = schemaVersion(mirror) === "older";
    const backup = isOlder && !isCopy ? await backUpBeforeMigration(mirror) : null;
    setFileFormat(mirror.db);
    mirror.db.pragma("synchronous = NORMAL");
    mirror.db.pragma("cache_size = -16000");
    mirror.db.pragma("wal_autocheckpoint = 1000");
    mirror.db.pragma(`busy_timeout = ${migrationBusyMs}`);
    const lost = mirror.transaction(() => {
      const brokenBefore = isOlder ? brokenViews(mirror) : new Map<string, string>();
      migrate(mirror.db);
      const objects = [...rebuildOutdatedTables(mirror), ...createViews(mirror)];
      if (backup !== null) writeInfo(mirror, "last_backup", JSON.stringify(backup));
      if (!isOlder) return objects;
      const broken = [...brokenViews(mirror)].filter(([name]) => !brokenBefore.has(name));
      return [
        ...objects,
        ...broken.map(([name, reason]) => `the view \`${name}\` no longer works: ${reason}`),
      ];
    });
    if (backup !== null)
      reporter.note(
        `The mirror was migrated to the tables of this version. A backup from before: ${backup.path}`,
      );
    for (const text of lost) reporter.warn(text);
    mirror.db.pragma(`busy_timeout = ${busyMs}`);
    return mirror;
  });
}

/**
 * Opens the mirror for reading: never blocked by a sync, never blocking one. A mirror that an older version wrote is
 * brought up to date first, from what it holds.
 * @throws ConfigurationError if there is no mirror yet; MirrorBusy while an older version writes into it
 */
export async function openMirrorReadOnly(path: string, options: OpenOptions = {}): Promise<Mirror> {
  if (!checkMirrorPath(path)) throw noMirrorError(path);
  return await connectAnd(path, true, async (mirror) => {
    const version = schemaVersion(mirror);
    if (version === "none")
      throw new ConfigurationError(`The mirror is empty: ${path}.`, { hint: "run `brandapi sync` first" });
    if (version === "current" && !hasOutdatedTables(mirror) && findOutdatedViews(mirror).length === 0)
      return mirror;
    mirror.db.close();
    if (!isWritable(path))
      throw new MirrorUnusable(`An older version wrote this mirror, and it is read-only: ${path}.`, {
        hint: "open it once where it can be written, for example with `brandapi status`; a copy will do: name it with `--db`",
      });
    // Its tables would change from one statement of that run to the next.
    if (version === "older" && (await findCurrentRun(path)))
      throw new MirrorBusy(`A run holds this mirror, which an older version wrote: ${path}.`, {
        hint: "wait for it to end: then this version brings the mirror up to date",
      });
    (await openMirror(path, options)).db.close();
    return await connect(path, true);
  });
}

/**
 * Opens the mirror for reading; without one, an empty one in memory.
 * @throws MirrorUnusable if the file is no mirror of this version or an older one
 */
export async function openMirrorOrEmpty(path: string): Promise<Mirror> {
  const found = checkMirrorPath(path) ? await connectAnd(path, true, async (mirror) => mirror) : undefined;
  if (found && schemaVersion(found) !== "none") return found;
  found?.db.close();
  const Sqlite = await loadSqlite();
  const mirror = wrapDatabase({ db: new Sqlite(":memory:"), path, id: null });
  migrate(mirror.db);
  return mirror;
}

/**
 * Opens the mirror for a plan, which writes nothing: without a mirror, an empty one in memory; a mirror of an older
 * version as a migrated copy in memory.
 * @throws MirrorUnusable if the file is no mirror of this version or an older one
 */
export async function openMirrorForPlan(path: string): Promise<Mirror> {
  const mirror = await openMirrorOrEmpty(path);
  if (schemaVersion(mirror) !== "older") return mirror;
  const content = mirror.db.serialize();
  mirror.db.close();
  const Sqlite = await loadSqlite();
  const copy = wrapDatabase({ db: new Sqlite(withoutLogMode(content)), path, id: null });
  migrate(copy.db);
  rebuildOutdatedTables(copy);
  return copy;
}

/** Returns the error about a path without a mirror. */
export function noMirrorError(path: string): ConfigurationError {
  return new ConfigurationError(`No mirror yet: ${path}.`, {
    hint: "run `brandapi sync` first, or `brandapi demo`",
  });
}

/** Connects, and closes again if the file is no mirror or `prepare` fails. */
async function connectAnd(
  path: string,
  isReadOnly: boolean,
  prepare: (mirror: Mirror) => Promise<Mirror>,
): Promise<Mirror> {
  const mirror = await connect(path, isReadOnly);
  try {
    checkIdentity(mirror);
    return await prepare(mirror);
  } catch (error) {
    mirror.db.close();
    throw asMirrorError(error, path);
  }
}
