import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { MirrorUnusable } from "../errors.js";
import { damagedHint, errorCode } from "../util/system-errors.js";
import { quoteShellWord } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { asMirrorError, connect, type Mirror, readInfo, withMirror, writeInfo } from "./database.js";
import { lastBackup } from "./mirror-copy.js";

/** The UTC day on which the mirror's file was last checked for damage. */
const checkedOn = "checked_on";

/**
 * Checks the mirror's file for damage with `PRAGMA quick_check`, at most once a day (UTC).
 * @throws MirrorUnusable if it is damaged
 */
export function checkForDamage(mirror: Mirror, now: number): void {
  const today = formatInstant(now).slice(0, 10);
  if (readInfo(mirror, checkedOn) === today) return;
  const first = String(mirror.db.pragma("quick_check(1)", { simple: true }));
  if (first !== "ok")
    throw new MirrorUnusable(`The mirror is damaged (${first.replace(/\s+/g, " ")}): ${mirror.path}.`, {
      hint: damagedHint,
      cause: Object.assign(new Error(first), { code: "SQLITE_CORRUPT" }),
    });
  writeInfo(mirror, checkedOn, today);
}

/**
 * Returns an error about a damaged mirror with the command that restores the last backup; any other error unchanged.
 * @param profile backups in the default folder have its name
 */
export async function addRestoreHint(error: unknown, path: string, profile: string): Promise<unknown> {
  const cause = error instanceof MirrorUnusable ? error.cause : error;
  if (!/^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(cause))) return error;
  const backup = await findBackup(path, profile);
  const known = asMirrorError(error, path);
  if (backup === null || !(known instanceof MirrorUnusable)) return known;
  const hint = `restore the last backup: \`brandapi backup --restore ${quoteShellWord(backup)}\``;
  return new MirrorUnusable(known.message, { hint, cause });
}

/** Returns the last backup that the mirror knows; if the mirror cannot be read, the newest in the default folder. */
async function findBackup(path: string, profile: string): Promise<string | null> {
  const known = await withMirror(connect(path, true), lastBackup).catch(() => null);
  if (known) return known.path;
  const folder = join(dirname(path), "backups");
  const isBackup = (name: string) => name.replace(/\d{8}T\d+Z\.sqlite$/, "") === `${profile}-`;
  const names = existsSync(folder) ? readdirSync(folder).filter(isBackup).sort() : [];
  const newest = names.at(-1);
  return newest === undefined ? null : join(folder, newest);
}
