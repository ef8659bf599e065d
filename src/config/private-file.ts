import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";

/**
 * Refuses a file with a secret that other users of this machine may read (contract, section 2).
 * Only for a regular file of the current user, who can mend it; a pipe or a mounted secret of root is not theirs.
 */
export function checkPrivate(path: string, stat: Stats): void {
  if (!stat.isFile() || (stat.mode & 0o077) === 0 || !isOwn(stat)) return;
  throw new ConfigurationError(`Other users of this machine may read the key in ${path}`, {
    hint: `run \`chmod 600 ${quoteForShell(path)}\``,
  });
}

/**
 * Writes the whole file or nothing: beside it with mode 0600, then renamed. Missing folders are created 0700.
 * A symbolic link stays one: what it points to is replaced.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const beside = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

function isOwn(stat: Stats): boolean {
  // Windows reports -1 and keeps permissions elsewhere.
  const { uid } = currentUser();
  return uid === undefined ? stat.uid !== 0 : uid >= 0 && stat.uid === uid;
}

function currentUser(): { uid?: number } {
  try {
    return { uid: userInfo().uid };
  } catch {
    // A container's made-up user id has no entry in the system's list of users.
    return {};
  }
}

function quoteForShell(path: string): string {
  return /^[\w./@%+:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
