import { existsSync } from "node:fs";
import { Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import { formatAge, formatInstant, minuteOf } from "../lib/times.js";
import { type Backup, firstRead, lastBackup, type Mirror, readInfo } from "../mirror/index.js";
import { findHeld, type KeptOut, readKeptOut } from "../records/index.js";
import { escapeText } from "../ui/text.js";

const oldBackupMs = 14 * 86_400_000;

/** The last backup, the profile's omitted members, and the mirror's forgotten hosts. */
type Kept = KeptOut & { last_backup: Backup | null };

export function keptOf(mirror: Mirror, omit: readonly string[]): Kept {
  return { last_backup: lastBackup(mirror), omit, forgotten: readKeptOut(mirror).forgotten };
}

/** Returns the lines of `status` about the backup, omitted members and forgotten hosts. */
export function keptText({ last_backup: backup, omit, forgotten }: Kept, now: number): string {
  const age = backup && formatAge(Math.max(0, now - Date.parse(backup.at)));
  const lines = [
    backup ? `\nLast backup: ${minuteOf(backup.at)}, ${age} ago, ${escapeText(backup.path)}` : "",
    omit.length > 0 ? `\nOmitted: ${escapeText(omit.join(", "))}` : "",
    forgotten.length > 0 ? `\nForgotten: ${counted(forgotten.length, "host")}` : "",
  ].join("");
  return lines && `${lines}\n`;
}

/** Returns how old the last backup is, and of a mirror without one, how old its data is. */
export function backupOf(mirror: Mirror, now: number): { text: string; isOld: boolean } {
  const backup = lastBackup(mirror);
  const isThere = backup !== null && existsSync(backup.path);
  const since = isThere ? backup.at : (firstRead(mirror) ?? formatInstant(now));
  const text = isThere
    ? `the last one is of ${minuteOf(since)}: ${backup.path}`
    : `there is none, and the mirror has data since ${minuteOf(since)}`;
  return { text, isOld: now - Date.parse(since) > oldBackupMs };
}

/** Returns that nothing of forgotten hosts is left but the id. @throws Incomplete if more is left */
export function checkForgotten(mirror: Mirror): string {
  const { forgotten } = readKeptOut(mirror);
  const hosts = counted(forgotten.length, "forgotten host");
  const left = forgotten.length === 0 ? 0 : findHeld(mirror).length;
  if (left === 0 && readInfo(mirror, "to_scrub") === null) return `${hosts}: nothing is left but the id`;
  const again = forgotten[0] === undefined ? "sync" : `forget --host ${forgotten[0]}`;
  throw new Incomplete(
    `${hosts}: more than the id is left in ${left > 0 ? counted(left, "record") : "free pages"}`,
    {
      hint: `close other programs that read the mirror, then run \`brandapi ${again}\``,
    },
  );
}
