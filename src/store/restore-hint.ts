import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { MirrorUnusable } from "../errors.js";
import { errorCode } from "../util/system-errors.js";
import { quoteShellWord } from "../util/text.js";
import { asMirrorError, connect, withMirror } from "./database.js";
import { backupFolder, isBackupName, lastBackup } from "./mirror-copy.js";

/** Adds the command that restores the newest backup to an error about a damaged mirror. Returns other errors unchanged. */
export async function addRestoreHint(error: unknown, path: string): Promise<unknown> {
  const cause = error instanceof MirrorUnusable ? error.cause : error;
  if (!/^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(cause))) return error;
  const mirrorError = asMirrorError(error, path);
  const backup = await findBackup(path);
  if (backup === null || !(mirrorError instanceof MirrorUnusable)) return mirrorError;
  const hint = `restore the last backup: \`brandapi backup --restore ${quoteShellWord(backup)}\``;
  return new MirrorUnusable(mirrorError.message, { hint, cause });
}

/** Returns the newest backup recorded in the mirror; if the mirror cannot be read, the newest in the default folder. */
async function findBackup(path: string): Promise<string | null> {
  const last = await withMirror(connect(path, true), lastBackup).catch(() => null);
  if (last) return last.path;
  const folder = backupFolder(path);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => isBackupName(name, path)) : [];
  const newest = names.sort().at(-1);
  return newest === undefined ? null : join(folder, newest);
}
