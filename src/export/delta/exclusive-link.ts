import { existsSync, statSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../util/system-errors.js";

/** The error codes of `link` on file systems without hard links, such as exFAT. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);
/** The maximum age of a lock file. Any older lock file was left by a killed process. */
const maxClaimMs = 60_000;

/**
 * Moves a file to a path where no file exists. If two processes try this at the same time, only one succeeds.
 * @param now milliseconds since 1970
 * @throws EEXIST if the path exists or another process is about to create it
 */
export async function linkExclusive(from: string, to: string, now: number): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!withoutLinks.has(errorCode(error))) throw error;
    return await renameExclusive(from, to, now);
  }
  // If the old name cannot be deleted, the second link that remains is harmless.
  await rm(from).catch(() => {});
}

/** Renames the file while holding a lock file. Used on file systems without hard links. */
async function renameExclusive(from: string, to: string, now: number): Promise<void> {
  const claim = join(dirname(to), `.${basename(to)}.claim.part`);
  const age = now - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN);
  if (age > maxClaimMs) await rm(claim, { force: true });
  await (await open(claim, "wx")).close();
  try {
    if (existsSync(to))
      throw Object.assign(new Error(`EEXIST: file already exists, ${to}`), { code: "EEXIST" });
    await rename(from, to);
  } finally {
    await rm(claim, { force: true });
  }
}
