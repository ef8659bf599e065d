import { ConfigurationError, MirrorBusy, MirrorUnusable } from "../errors.js";
import { type Reporter, silentReporter } from "../util/reporter.js";
import { loadSqlite } from "../util/sqlite.js";
import { backUpBeforeMigration } from "./backups.js";
import {
  asMirrorError,
  beginTransaction,
  busyMs,
  connect,
  createMirrorFile,
  Mirror,
  setFileFormat,
  writeInfo,
} from "./database.js";
import { findCurrentRun } from "./lock.js";
import { checkMirrorPath, isWritable, withoutLogMode } from "./mirror-files.js";
import { createViews, findOutdatedViews, hasOutdatedTables, rebuildOutdatedTables } from "./rebuild.js";
import { checkIdentity, migrate, schemaVersion } from "./schema.js";
import { findBrokenViews } from "./user-objects.js";
/*
 * The ways to open a mirror:
 *
 * | function             | without a file   | mirror of an older version | writes          |
 * | -------------------- | ---------------- | -------------------------- | --------------- |
 * | `openMirror`         | creates a mirror | migrates it                | yes             |
 * | `openMirrorReadOnly` | throws           | migrates it                | only to migrate |
 * | `openMirrorOrEmpty`  | empty, in memory | leaves it unchanged        | no              |
 * | `openMirrorForPlan`  | empty, in memory | migrates a copy in memory  | no              |
 */

export interface OpenOptions {
  /** True for a copy, such as a backup that is being restored. A copy is not backed up before it is migrated. */
  isCopy?: boolean;
  /**
   * Prints the path of a backup, and warnings about user-defined views, indexes and triggers that were lost.
   */
  reporter?: Pick<Reporter, "note" | "warn">;
  /** The next step if the mirror does not exist. */
  missingHint?: string;
}

/** How long `openMirror` waits for another program that is writing to the mirror or migrating it. */
const openingBusyMs = 10_000;

/**
 * Opens a mirror for writing, or creates it (0600) if it does not exist. Backs up and migrates a mirror from
 * an older version.
 * @throws MirrorUnusable if the file is damaged, is not a mirror, or was written by a newer version; the file
 * is not changed
 */
export async function openMirror(path: string, options: OpenOptions = {}): Promise<Mirror> {
  if (!checkMirrorPath(path)) await createMirrorFile(path);
  return await connectAnd(path, { readonly: false }, async (mirror) => {
    const { db } = mirror;
    db.pragma(`busy_timeout = ${openingBusyMs}`);
    setFileFormat(db);
    db.pragma("synchronous = NORMAL");
    db.pragma("cache_size = -16000");
    db.pragma("wal_autocheckpoint = 1000");
    await updateTables(mirror, options);
    db.pragma(`busy_timeout = ${busyMs}`);
    return mirror;
  });
}

/**
 * Updates all tables and views to this version in one transaction. Backs up a mirror from an older version
 * first.
 */
async function updateTables(
  mirror: Mirror,
  { isCopy = false, reporter = silentReporter }: OpenOptions,
): Promise<void> {
  // Other commands that open this mirror wait here until the migration is complete.
  const commit = beginTransaction(mirror);
  const isOlder = schemaVersion(mirror) === "older";
  const backup = isOlder && !isCopy ? await backUpBeforeMigration(mirror) : null;
  const brokenBefore = isOlder ? findBrokenViews(mirror) : null;
  migrate(mirror.db);
  const lost = [...rebuildOutdatedTables(mirror), ...createViews(mirror)];
  if (brokenBefore)
    for (const [name, reason] of findBrokenViews(mirror))
      if (!brokenBefore.has(name)) lost.push(`the view \`${name}\` no longer works: ${reason}`);
  if (backup) writeInfo(mirror, "last_backup", JSON.stringify(backup));
  commit();
  if (backup)
    reporter.note(`The mirror was migrated to this version. Backup of the earlier version: ${backup.path}`);
  for (const text of lost) reporter.warn(text);
}

/**
 * Opens a mirror for reading, without waiting for a sync. Migrates a mirror from an older version first.
 * @throws ConfigurationError if the mirror does not exist; MirrorBusy while an older version is writing to it
 */
export async function openMirrorReadOnly(path: string, options: OpenOptions = {}): Promise<Mirror> {
  if (!checkMirrorPath(path)) throw noMirrorError(path, options.missingHint);
  return await connectAnd(path, { readonly: true }, async (mirror) => {
    const version = schemaVersion(mirror);
    if (version === "none")
      throw new ConfigurationError(`The mirror is empty: ${path}.`, { hint: "run `brandapi sync` first" });
    if (version === "current" && !hasOutdatedTables(mirror) && findOutdatedViews(mirror).length === 0)
      return mirror;
    mirror.db.close();
    if (!isWritable(path))
      throw new MirrorUnusable(`The mirror was written by an older version and is read-only: ${path}.`, {
        hint: "make it writable and run `brandapi status`, or open a copy with `--db`",
      });
    // A migration would change the tables between two statements of the run by the older version.
    if (version === "older" && (await findCurrentRun(path)))
      throw new MirrorBusy(`An older version is writing to the mirror: ${path}.`, {
        hint: "to migrate the mirror, run the same command again after that run has ended",
      });
    (await openMirror(path, options)).db.close();
    return await connect(path, { readonly: true });
  });
}

/**
 * Opens a mirror for reading without migrating it. Opens an empty in-memory mirror if it does not exist.
 * @throws MirrorUnusable if the file is not a mirror or was written by a newer version
 */
export async function openMirrorOrEmpty(path: string): Promise<Mirror> {
  const mirror = checkMirrorPath(path)
    ? await connectAnd(path, { readonly: true }, async (opened) => opened)
    : null;
  if (mirror && schemaVersion(mirror) !== "none") return mirror;
  mirror?.db.close();
  const Sqlite = await loadSqlite();
  const empty = new Mirror(new Sqlite(":memory:"), path, null);
  migrate(empty.db);
  return empty;
}

/**
 * Opens a mirror for a plan, without writing to the file. Opens an empty in-memory mirror if it does not
 * exist, and a migrated in-memory copy if it is from an older version.
 * @throws MirrorUnusable if the file is not a mirror or was written by a newer version
 */
export async function openMirrorForPlan(path: string): Promise<Mirror> {
  const mirror = await openMirrorOrEmpty(path);
  if (schemaVersion(mirror) !== "older") return mirror;
  const content = mirror.db.serialize();
  mirror.db.close();
  const Sqlite = await loadSqlite();
  const copy = new Mirror(new Sqlite(withoutLogMode(content)), path, null);
  migrate(copy.db);
  rebuildOutdatedTables(copy);
  return copy;
}

export function noMirrorError(path: string, hint = "run `brandapi sync` first"): ConfigurationError {
  return new ConfigurationError(`No mirror yet: ${path}.`, { hint });
}

/** Opens a file and checks that it is a mirror. Closes it if the check or `prepare` fails. */
async function connectAnd(
  path: string,
  mode: { readonly: boolean },
  prepare: (mirror: Mirror) => Promise<Mirror>,
): Promise<Mirror> {
  const mirror = await connect(path, mode);
  try {
    checkIdentity(mirror);
    return await prepare(mirror);
  } catch (error) {
    mirror.db.close();
    throw asMirrorError(error, path);
  }
}
