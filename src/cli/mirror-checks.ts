import { existsSync, readdirSync, realpathSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Incomplete } from "../errors.js";
import { findLastBackup } from "../store/mirror/backups.js";
import type { Mirror } from "../store/mirror/database.js";
import { findUnredacted, mustBeScrubbed } from "../store/redaction/redact-mirror.js";
import { readRedactionRules } from "../store/redaction/redaction-rules.js";
import { readFirstReadAt } from "../store/state/runs.js";
import { formatBytes, pluralize, quoteShellWord } from "../util/text.js";
import { formatInstant, formatMinute } from "../util/times.js";
import { dayMs } from "../util/timestamp.js";

/** The minimum free disk space, even for a small mirror. */
const minFreeBytes = 200 * 1024 ** 2;

/** Checks the free disk space in the mirror's folder, or in the nearest existing parent folder. */
export function checkDisk(mirror: string): { text: string; hint?: string } {
  let folder = dirname(mirror);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return checkFreeSpace({
    freeBytes: bavail * bsize,
    mirrorBytes: statSync(mirror, { throwIfNoEntry: false })?.size ?? 0,
  });
}

/** Returns the free disk space, and a hint if there is no room for a copy of the mirror and its log. */
export function checkFreeSpace({ freeBytes, mirrorBytes }: { freeBytes: number; mirrorBytes: number }) {
  const free = `${formatBytes(freeBytes)} free`;
  if (freeBytes >= Math.max(minFreeBytes, 2 * mirrorBytes)) return { text: free };
  return {
    text: `nearly full: ${free}, and the mirror takes ${formatBytes(mirrorBytes)}`,
    hint: "free some space: a backup, a migration and `brandapi forget` each need as much space as the mirror",
  };
}

/**
 * Returns the date of the last backup, and a hint if it is older than two weeks. If there is no backup, the age of
 * the oldest data counts.
 */
export function checkBackup(mirror: Mirror, now: number): { text: string; hint?: string } {
  const last = findLastBackup(mirror);
  const since = last?.at ?? readFirstReadAt(mirror) ?? formatInstant(now);
  const text = last
    ? `the last backup was made on ${formatMinute(last.at)}: ${last.path}`
    : `there is no backup, and the mirror has data since ${formatMinute(since)}`;
  if (now - Date.parse(since) <= 14 * dayMs) return { text };
  return { text, hint: "run `brandapi backup`: the API cannot restore the history of changes" };
}

/** Lists the mirrors that `backup --restore` replaced. They are never deleted automatically. */
export function checkReplacedMirrors(path: string): { text: string; hint?: string } {
  const realPath = existsSync(path) ? realpathSync(path) : path;
  const folder = dirname(realPath);
  const prefix = `${basename(realPath)}.before-`;
  const old = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : [];
  if (old.length === 0) return { text: "no replaced mirrors" };
  const paths = old.sort().map((name) => join(folder, name));
  return {
    text: `replaced by a restore, and not affected by \`brandapi forget\`: ${paths.join(", ")}`,
    hint: `delete what you no longer need: \`rm ${paths.map(quoteShellWord).join(" ")}\``,
  };
}

/** Checks that the mirror contains no data of forgotten hosts or omitted members. @throws Incomplete if it does */
export function checkForgotten(mirror: Mirror): { text: string } {
  const { forgotten } = readRedactionRules(mirror);
  if (!mustBeScrubbed(mirror) && findUnredacted(mirror).length === 0) {
    if (forgotten.length === 0) return { text: "no host was forgotten" };
    return { text: `${pluralize(forgotten.length, "forgotten host")}: only the ID is kept` };
  }
  const again = forgotten[0] === undefined ? "sync" : `forget --host ${forgotten[0]}`;
  throw new Incomplete("The mirror still contains data of a forgotten host or an omitted member.", {
    hint: `close other programs that read the mirror, free some space, then run \`brandapi ${again}\``,
  });
}
