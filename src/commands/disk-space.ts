import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes } from "../ui/numbers.js";

/** A disk with less free space is nearly full, however small the mirror is. */
const minFreeBytes = 200 * 1024 ** 2;

/** Checks the disk of a mirror, which may not exist yet. */
export function checkDisk(mirror: string): { text: string; hint?: string } {
  let folder = dirname(mirror);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return judgeDisk({
    freeBytes: bavail * bsize,
    mirrorBytes: statSync(mirror, { throwIfNoEntry: false })?.size ?? 0,
  });
}

/** Returns the free space, with a hint if it is too little for a copy of the mirror and its log. */
export function judgeDisk({ freeBytes, mirrorBytes }: { freeBytes: number; mirrorBytes: number }) {
  const free = `${formatBytes(freeBytes)} free`;
  if (freeBytes >= Math.max(minFreeBytes, 2 * mirrorBytes)) return { text: free };
  return {
    text: `nearly full: ${free}, and the mirror has ${formatBytes(mirrorBytes)}`,
    hint: "free some space: a backup, a migration and `brandapi forget` need as much space again as the mirror has",
  };
}
