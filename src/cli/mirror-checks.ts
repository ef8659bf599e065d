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

/** The minimum of free space, however small the mirror is. */
const minFreeBytes = 200 * 1024 ** 2;

/** Checks the free space on the disk of the mirror, which may not exist yet. */
export function checkDisk(mirror: string): { text: string; hint?: string } {
  let folder = dirname(mirror);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return checkFreeSpace({
    freeBytes: bavail * bsize,
    mirrorBytes: statSync(mirror, { throwIfNoEntry: false })?.size ?? 0,
  });
}

/** Returns the free space, with a hint if the disk has no room for a copy of the mirror and its log. */
export function checkFreeSpace({ freeBytes, mirrorBytes }: { freeBytes: number; mirrorBytes: number }) {
  const free = `${formatBytes(freeBytes)} free`;
  if (freeBytes >= Math.max(minFreeBytes, 2 * mirrorBytes)) return { text: free };
  return {
    text: `nearly full: ${free}, and the mirror has ${formatBytes(mirrorBytes)}`,
    hint: "free some space: a backup, a migration and `brandapi forget` need as much space again as the mirror has",
  };
}

/**
 * Returns the age of the last backup, with a hint if it is old. Without a backup, the age of the oldest data counts.
 */
export function checkBackup(mirror: Mirror, now: number): { text: string; hint?: string } {
  const last = findLastBackup(mirror);
  const since = last?.at ?? readFirstReadAt(mirror) ?? formatInstant(now);
  const text = last
    ? `the last one was made on ${formatMinute(last.at)}: ${last.path}`
    : `none can be found, and the mirror has data since ${formatMinute(since)}`;
  if (now - Date.parse(since) <= 14 * dayMs) return { text };
  return { text, hint: "run `brandapi backup`: the history of changes cannot be read again" };
}

/** Lists the mirrors that `backup --restore` replaced, because nothing deletes them. */
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

/** Checks that no data of a forgotten host or an omitted member is left. @throws Incomplete */
export function checkForgotten(mirror: Mirror): { text: string } {
  const { forgotten } = readRedactionRules(mirror);
  if (!mustBeScrubbed(mirror) && findUnredacted(mirror).length === 0) {
    if (forgotten.length === 0) return { text: "no host is forgotten" };
    return { text: `${pluralize(forgotten.length, "forgotten host")}: only the ID is left` };
  }
  const again = forgotten[0] === undefined ? "sync" : `forget --host ${forgotten[0]}`;
  throw new Incomplete("The mirror still holds data of a forgotten host, or an omitted member.", {
    hint: `close other programs that read the mirror, free some space, then run \`brandapi ${again}\``,
  });
}
