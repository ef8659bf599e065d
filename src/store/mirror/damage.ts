import { MirrorUnusable } from "../../errors.js";
import { damagedHint } from "../../util/system-errors.js";
import { formatInstant } from "../../util/times.js";
import { type Mirror, readInfo, writeInfo } from "./database.js";

/**
 * Checks a mirror's file and its indexes. This takes longer than `checkForDamage`.
 * @returns the first problem, or null if there is none
 */
export function findDamage({ db }: Pick<Mirror, "db">): string | null {
  const first = String(db.pragma("integrity_check(1)", { simple: true }));
  return first === "ok" ? null : first;
}

/**
 * Runs `PRAGMA quick_check` on the mirror file, at most once a day (UTC).
 * @throws MirrorUnusable if the file is damaged
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

const checkedOn = "checked_on";
