import { forgetInfo, readInfo } from "./info.js";
import type { Mirror } from "./mirror.js";

/**
 * Writes a mirror's file anew if something was taken out of it for good: until then its free pages and its log hold it.
 * @returns false if another program that reads the mirror keeps its log from being emptied
 */
export function scrub(mirror: Mirror): boolean {
  if (readInfo(mirror, "to_scrub") === null) return true;
  const { db } = mirror;
  db.exec("VACUUM");
  const [{ busy }] = db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
  if (busy === 0) mirror.transaction(() => forgetInfo(mirror, "to_scrub"));
  return busy === 0;
}
