import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { BrandapiError, ConfigurationError, MirrorBusy, MirrorUnusable } from "../errors.js";
import { allResources } from "../resources/registry.js";
import { listTableShapes } from "../resources/table-shape.js";
import { createFolder, pathExists } from "../util/files.js";
import { type Reporter, silentReporter } from "../util/reporter.js";
import { loadSqlite } from "../util/sqlite.js";
import { errorReason } from "../util/system-errors.js";
import { releaseTempFile, reserveTempFile } from "../util/temp-files.js";
import { type Backup, backupFolder, backupName, copyMirror } from "./backups.js";
import {
  busyMs,
  connect,
  loadInfo,
  Mirror,
  saveInfo,
  saveJsonInfo,
  withWriteTransaction,
} from "./database.js";
import {
  clearLogMode,
  createMirrorFolder,
  isWritable,
  moveLogFiles,
  resolveMirrorPath,
} from "./mirror-files.js";
import { findRunningCommand } from "./mirror-lock.js";
import { checkOwner, loadOwner, type OwnerBrand, saveOwner } from "./owner.js";
import { createOrRebuildTables, createViews, findOutdatedViews, hasOutdatedTables } from "./rebuild.js";
import { checkIsMirror, migrateSystemTables, schemaVersion, withWritableSchema } from "./schema.js";
import { explainOpenError } from "./sqlite-errors.js";
import { quote, tableName } from "./table-sql.js";

/*
 * The ways to open a mirror:
 *
 * | function               | without a file   | mirror of an older version | writes          |
 * | ---------------------- | ---------------- | -------------------------- | --------------- |
 * | `openMirror`           | creates a mirror | backs it up, migrates it   | yes             |
 * | `openMirrorForReading` | throws           | backs it up, migrates it   | only to migrate |
 * | `openMirrorOrEmpty`    | empty, in memory | leaves it unchanged        | no              |
 * | `openMirrorForPlan`    | empty, in memory | migrates a copy in memory  | no              |
 *
 * If the file is damaged, is not a mirror, or was written by a newer version, all of them throw MirrorUnusable and
 * leave the file unchanged.
 */

/**
 * The maximum time, in milliseconds, that `openMirror` waits while another program writes to or migrates the mirror.
 */
const openingBusyMs = 10_000;

/** True if the file exists and is not empty. */
export function mirrorExists(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

interface OpenOptions extends MigrationOptions {
  /**
   * The key's brand and the profile's brand. The mirror must belong to the key's brand. If `brands` is omitted, the
   * mirror's owner is not checked.
   */
  brands?: { ofKey: OwnerBrand; ofProfile: OwnerBrand | undefined };
}

/**
 * Opens a mirror for writing. A new mirror has mode 0600.
 * @throws MirrorUnusable if the key belongs to a different brand than the mirror or, for a new mirror, the profile; no
 *   mirror is created or migrated in that case
 */
export async function openMirror(path: string, options: OpenOptions = {}): Promise<Mirror> {
  const { brands } = options;
  if (!mirrorExists(path)) {
    if (brands) checkOwner(null, brands.ofKey, brands.ofProfile);
    createMirrorFile(path);
  }
  const mirror = await connect(path);
  return await closeOnError(mirror, async () => {
    if (brands && schemaVersion(mirror) !== "none")
      checkOwner(loadOwner(mirror), brands.ofKey, brands.ofProfile);
    mirror.db.pragma(`busy_timeout = ${openingBusyMs}`);
    // Records take up about a kilobyte each, so pages larger than SQLite's default waste less space.
    mirror.db.pragma("page_size = 16384");
    // A negative cache size is in KiB. A positive one is a number of pages, so larger pages would take up more memory.
    mirror.db.pragma("cache_size = -16000");
    mirror.db.pragma("journal_mode = WAL");
    mirror.db.pragma("synchronous = NORMAL");
    await migrateMirror(mirror, options);
    if (brands) saveOwner(mirror, brands.ofKey);
    mirror.db.pragma(`busy_timeout = ${busyMs}`);
    return mirror;
  });
}

/** Returns the result of `work`. If `work` throws, closes the mirror and explains errors from SQLite. */
async function closeOnError<T>(mirror: Mirror, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    mirror.db.close();
    throw explainOpenError(error, mirror.path) ?? error;
  }
}

/**
 * Opens an existing mirror for reading, without waiting for a sync.
 * @throws ConfigurationError if the mirror is empty; MirrorBusy if an older version of brandapi is writing to it
 */
export async function openMirrorForReading(path: string, options: MigrationOptions = {}): Promise<Mirror> {
  const mirror = await connect(path, { readonly: true });
  const isCurrent = await closeOnError(mirror, () => {
    if (schemaVersion(mirror) === "none")
      throw new ConfigurationError(`The mirror is empty: ${path}.`, { hint: "run `brandapi sync` first" });
    return isUpToDate(mirror);
  });
  if (isCurrent) return mirror;
  mirror.db.close();
  if (!isWritable(path))
    throw new MirrorUnusable(`The mirror was written by an older version and is read-only: ${path}.`, {
      hint: "make it writable and run `brandapi status`, or open a copy with `--db`",
    });
  // Report a run of an older version at once, instead of waiting for its transactions.
  await checkNoRun(path);
  const migrated = await openMirror(path, { ...options, isLocked: false });
  migrated.db.close();
  return await connect(path, { readonly: true });
}

export async function openMirrorOrEmpty(path: string): Promise<Mirror> {
  if (pathExists(path)) {
    const mirror = await connect(path, { readonly: true });
    if (schemaVersion(mirror) !== "none") return mirror;
    mirror.db.close();
  }
  const Sqlite = await loadSqlite();
  const empty = new Mirror(new Sqlite(":memory:"), path, null);
  migrateSystemTables(empty.db);
  return empty;
}

export async function openMirrorForPlan(path: string): Promise<Mirror> {
  const mirror = await openMirrorOrEmpty(path);
  if (!mirror.hasFile) return mirror;
  const outdated = await closeOnError(mirror, () => (isUpToDate(mirror) ? null : mirror.db.serialize()));
  if (outdated === null) return mirror;
  mirror.db.close();
  const Sqlite = await loadSqlite();
  const copy = new Mirror(new Sqlite(clearLogMode(outdated)), path, null);
  copy.transaction(() => migrateTables(copy));
  return copy;
}

/** Creates an empty file (mode 0600) and its folder. */
function createMirrorFile(path: string): void {
  const realPath = createMirrorFolder(path);
  moveLogFiles(realPath, `${realPath}-old`);
  // SQLite would create the file with mode 0644, which is readable by all users.
  closeSync(openSync(realPath, "a", 0o600));
}

interface MigrationOptions {
  /**
   * True if the mirror is a copy, such as a backup that is being restored. A copy is not backed up before it is
   * migrated.
   */
  isCopy?: boolean;
  /**
   * False if this command has not locked the mirror. In that case, it must not migrate the mirror while an older
   * version is syncing, because the migration would change tables that the sync is writing to.
   */
  isLocked?: boolean;
  /**
   * Prints the path of the backup, and warnings about user-defined objects, such as views, that were renamed or lost.
   */
  reporter?: Pick<Reporter, "note" | "warn">;
}

function isUpToDate(mirror: Mirror): boolean {
  return (
    schemaVersion(mirror) === "current" &&
    !hasOutdatedTables(mirror) &&
    findOutdatedViews(mirror).length === 0
  );
}

/**
 * Migrates all tables and views to this version in one transaction. Backs up the mirror first if it was written by an
 * older version. Other commands that open this mirror wait until the migration has finished.
 */
async function migrateMirror(
  mirror: Mirror,
  { isCopy = false, isLocked = true, reporter = silentReporter }: MigrationOptions,
): Promise<void> {
  const { backup, warnings } = await withWriteTransaction(mirror, async () => {
    // Check again, because a newer version may have migrated the mirror while this transaction waited for the lock.
    checkIsMirror(mirror);
    // A run locks the mirror before opening it. A run that starts after this check waits for this transaction and then
    // finds the migrated mirror.
    if (!isLocked && !isUpToDate(mirror)) await checkNoRun(mirror.path);
    const isOlder = schemaVersion(mirror) === "older";
    const backup = isOlder && !isCopy ? await backUpBeforeMigration(mirror) : null;
    const brokenBefore = isOlder ? findBrokenViews(mirror) : null;
    const warnings = [...migrateTables(mirror), ...createViews(mirror)];
    if (brokenBefore)
      for (const [name, reason] of findBrokenViews(mirror))
        if (!brokenBefore.has(name)) warnings.push(`the view \`${name}\` no longer works: ${reason}`);
    if (backup) saveJsonInfo(mirror, "last_backup", backup);
    return { backup, warnings };
  });
  if (backup)
    reporter.note(`The mirror was migrated to this version. Backup of the earlier version: ${backup.path}`);
  for (const text of warnings) reporter.warn(text);
}

async function checkNoRun(path: string): Promise<void> {
  if (await findRunningCommand(path))
    throw new MirrorBusy(`An older version is writing to the mirror: ${path}.`, {
      hint: "wait until it has finished, then run the same command again to migrate the mirror",
    });
}

/**
 * Migrates all tables. Returns a message for each user-defined table, view, index or trigger that was renamed or
 * dropped.
 */
function migrateTables(mirror: Mirror): string[] {
  migrateSystemTables(mirror.db);
  return [...freeRemovedTableNames(mirror), ...createOrRebuildTables(mirror)];
}

async function backUpBeforeMigration({ path }: Mirror): Promise<Backup> {
  const realPath = resolveMirrorPath(path);
  const folder = backupFolder(realPath);
  try {
    createFolder(folder, 0o700);
    // Only one process can migrate the mirror at a time, so a fixed temporary name is safe.
    const copyPath = await reserveTempFile(join(folder, "mirror.sqlite"), () => 0);
    await copyMirror(realPath, copyPath);
    const at = statSync(copyPath).mtime.toISOString();
    const backupPath = join(folder, backupName(realPath, at, "-before-migration"));
    renameSync(copyPath, backupPath);
    releaseTempFile(copyPath);
    return { at, path: backupPath };
  } catch (error) {
    const hint =
      error instanceof BrandapiError ? error.hint : `make sure that this is a writable folder: ${folder}`;
    throw new MirrorUnusable(
      `The mirror was not migrated to this version because it could not be backed up (${errorReason(error)}): ${folder}`,
      { hint, cause: error },
    );
  }
}

function findBrokenViews(mirror: Mirror): Map<string, string> {
  const broken = new Map<string, string>();
  for (const name of mirror.selectValues<string>("SELECT name FROM main.sqlite_master WHERE type = 'view'"))
    try {
      mirror.db.prepare(`SELECT * FROM ${quote(name)}`);
    } catch (error) {
      broken.set(name, error instanceof Error ? error.message : String(error));
    }
  return broken;
}

/**
 * Frees table names such as `roster_removed` in a mirror from an early version, which has no tables for removed
 * records. Drops user-defined views with these names, and renames user-defined tables. The names come from the resource
 * declarations, so this step cannot be one of the migrations in `schema.ts`.
 * @returns a message for each dropped view and renamed table
 */
function freeRemovedTableNames(mirror: Mirror): string[] {
  if (loadInfo(mirror, "removed_tables") !== null) return [];
  saveInfo(mirror, "removed_tables", "separate");
  const find =
    "SELECT name, type, sql FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = ?";
  return allResources.flatMap(listTableShapes).flatMap((shape) => {
    const removedName = tableName(shape, "removed");
    const found = mirror.selectRow<{ name: string; type: string; sql: string }>(find, removedName);
    if (!found) return [];
    const { name, sql, type } = found;
    if (type === "view") {
      mirror.db.exec(`DROP VIEW ${quote(name)}`);
      return `the view \`${name}\` was dropped, because brandapi now uses its name for a table: ${sql}`;
    }
    const renamed = `${name}_renamed`;
    withWritableSchema(mirror.db, () =>
      mirror.db.exec(`ALTER TABLE ${quote(name)} RENAME TO ${quote(renamed)}`),
    );
    return `the table \`${name}\` was renamed to \`${renamed}\`, because brandapi now uses the old name for a table of its own`;
  });
}
