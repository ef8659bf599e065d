import { readInfo, writeInfo } from "./info.js";
import type { Mirror } from "./mirror.js";

/** The newest copy of a mirror. `at`: ISO 8601. */
export interface Backup {
  at: string;
  path: string;
}

export function noteBackup(mirror: Mirror, backup: Backup): void {
  mirror.transaction(() => writeInfo(mirror, "last_backup", JSON.stringify(backup)));
}

export function lastBackup(mirror: Mirror): Backup | null {
  return JSON.parse(readInfo(mirror, "last_backup") ?? "null") as Backup | null;
}
