import { existsSync } from "node:fs";
import { counted } from "../lib/counted.js";
import { formatAge, formatInstant, minuteOf } from "../lib/times.js";
import { type Backup, firstRead, lastBackup, type Mirror, readInfo } from "../mirror/index.js";
import { findHeld, readKeptOut } from "../records/index.js";
import { escapeText } from "../ui/text.js";

/** Milliseconds: after two weeks without a backup it is time for one. */
const oldBackupMs = 14 * 86_400_000;

/** What `status` says of backups, and of what the mirror does not keep. */
interface Kept {
  last_backup: Backup | null;
  /** The profile's list. */
  omit: readonly string[];
  /** Ids of hosts. */
  forgotten: readonly string[];
}

export function keptOf(mirror: Mirror, omit: readonly string[]): Kept {
  return { last_backup: lastBackup(mirror), omit, forgotten: readKeptOut(mirror).forgotten };
}

/** Returns the lines of it; empty if there is nothing to say. */
export function keptText({ last_backup: backup, omit, forgotten }: Kept, now: number): string {
  const lines: string[] = [];
  if (backup)
    lines.push(
      `Last backup: ${minuteOf(backup.at)}, ${formatAge(Math.max(0, now - Date.parse(backup.at)))} ago, ${escapeText(backup.path)}`,
    );
  if (omit.length > 0) lines.push(`Omitted: ${escapeText(omit.join(", "))}`);
  if (forgotten.length > 0) lines.push(`Forgotten: ${counted(forgotten.length, "host")}`);
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

/** What a check found. `wrong`: the hint, if something is to be done. */
interface Finding {
  text: string;
  wrong?: string;
}

/** Returns how old the last backup is; of a mirror without one, how long it was read. */
export function backupOf(mirror: Mirror, now: number): Finding {
  const backup = lastBackup(mirror);
  const isThere = backup !== null && existsSync(backup.path);
  const since = isThere ? backup.at : (firstRead(mirror) ?? formatInstant(now));
  const text = isThere
    ? `the last one is of ${minuteOf(since)}: ${backup.path}`
    : `there is none, and the mirror has data since ${minuteOf(since)}`;
  if (now - Date.parse(since) <= oldBackupMs) return { text };
  return { text, wrong: "run `brandapi backup`: the history of changes cannot be read again" };
}

/** Returns what is still stored of forgotten hosts and omitted members. */
export function leftIn(mirror: Mirror): Finding {
  const { forgotten, omit } = readKeptOut(mirror);
  const { changes, records, snapshots, versions } = findHeld(mirror);
  const rows = Object.values(records).reduce((sum, count) => sum + count, versions + changes + snapshots);
  const what = `${counted(forgotten.length, "forgotten host")}, ${counted(omit.length, "omitted member")}`;
  if (rows === 0 && readInfo(mirror, "to_scrub") === null)
    return { text: `${what}: nothing is left of them` };
  const left = rows > 0 ? `${counted(rows, "row")} still hold them` : "free pages of the file may hold them";
  const again = forgotten[0] === undefined ? "sync" : `forget --host ${forgotten[0]}`;
  return {
    text: `${what}: ${left}`,
    wrong: `close other programs that read the mirror, then run \`brandapi ${again}\``,
  };
}
