import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { BrandapiError, MirrorUnusable } from "../errors.js";
import { detailResources, resources } from "../resources/registry.js";
import { tablesOf } from "../resources/table-shape.js";
import { createFolder } from "../util/files.js";
import { type Reporter, silentReporter } from "../util/reporter.js";
import { errorReason } from "../util/system-errors.js";
import { releaseTempFile } from "../util/temp-files.js";
import { type Backup, backupFolder, backupName, copyMirror } from "./backups.js";
import { type Mirror, readInfo, withWriteTransaction, writeInfo, writeJsonInfo } from "./database.js";
import { resolveMirrorPath } from "./mirror-files.js";
import { createViews, findOutdatedViews, hasOutdatedTables, rebuildOutdatedTables } from "./rebuild.js";
import { migrateSystemTables, schemaVersion } from "./schema.js";
import { quote, tableName } from "./table-sql.js";

export interface MigrationOptions {
  /** True if the mirror is a copy, such as a backup that is being restored. Copies are migrated without a backup. */
  isCopy?: boolean;
  /** Prints the path of the backup, and warnings about lost user-defined views, indexes and triggers. */
  reporter?: Pick<Reporter, "note" | "warn">;
}

export function isUpToDate(mirror: Mirror): boolean {
  return (
    schemaVersion(mirror) === "current" &&
    !hasOutdatedTables(mirror) &&
    findOutdatedViews(mirror).length === 0
  );
}

/**
 * Migrates all tables and views to this version in one transaction, after backing up the mirror if its version is
 * older. Other commands that open this mirror wait until the migration has finished.
 * @throws MirrorUnusable if the backup fails
 */
export async function migrateMirror(
  mirror: Mirror,
  { isCopy = false, reporter = silentReporter }: MigrationOptions,
): Promise<void> {
  const { backup, lost } = await withWriteTransaction(mirror, async () => {
    const isOlder = schemaVersion(mirror) === "older";
    const backup = isOlder && !isCopy ? await backUpBeforeMigration(mirror) : null;
    const brokenBefore = isOlder ? findBrokenViews(mirror) : null;
    const lost = [...migrateTables(mirror), ...createViews(mirror)];
    if (brokenBefore)
      for (const [name, reason] of findBrokenViews(mirror))
        if (!brokenBefore.has(name)) lost.push(`the view \`${name}\` no longer works: ${reason}`);
    if (backup) writeJsonInfo(mirror, "last_backup", backup);
    return { backup, lost };
  });
  if (backup)
    reporter.note(`The mirror was migrated to this version. Backup of the earlier version: ${backup.path}`);
  for (const text of lost) reporter.warn(text);
}

/** Migrates all tables. Returns a message for each user-defined table, view, index or trigger that was lost. */
export function migrateTables(mirror: Mirror): string[] {
  migrateSystemTables(mirror.db);
  return [...freeTableNames(mirror), ...rebuildOutdatedTables(mirror)];
}

async function backUpBeforeMigration({ path }: Mirror): Promise<Backup> {
  const place = resolveMirrorPath(path);
  const folder = backupFolder(place);
  try {
    createFolder(folder, 0o700);
    // Only one process can migrate the mirror at a time, so a fixed temporary name is safe.
    const { copy } = await copyMirror(place, folder, { random: () => 0, runGracefully: (work) => work() });
    const at = statSync(copy).mtime.toISOString();
    const backup = join(folder, backupName(place, at, "-before-migration"));
    renameSync(copy, backup);
    releaseTempFile(copy);
    return { at, path: backup };
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
 * Drops user-defined views and renames user-defined tables whose names are now needed for the tables of removed
 * records, which version 0.1.0 did not have.
 * @returns a message for each dropped view and renamed table
 */
function freeTableNames(mirror: Mirror): string[] {
  if (readInfo(mirror, "removed_tables") !== null) return [];
  writeInfo(mirror, "removed_tables", "separate");
  const find =
    "SELECT name, type, sql FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = ?";
  const shapes = [...resources, ...detailResources].flatMap(tablesOf);
  return shapes.flatMap((shape) => {
    const found = mirror.selectRow<{ name: string; type: string; sql: string }>(
      find,
      tableName(shape, "removed"),
    );
    if (!found) return [];
    const { name, sql, type } = found;
    if (type === "view") {
      mirror.db.exec(`DROP VIEW ${quote(name)}`);
      return `the view \`${name}\` was dropped, because the mirror now has a table with that name: ${sql}`;
    }
    const renamed = `${name}_renamed`;
    mirror.db.exec(`ALTER TABLE ${quote(name)} RENAME TO ${quote(renamed)}`);
    return `the table \`${name}\` was renamed to \`${renamed}\`, because the mirror now has a table with that name`;
  });
}
