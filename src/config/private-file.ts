import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, type Stats } from "node:fs";
import { open, realpath, rename, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";

/**
 * Refuses a file with a secret that other users of this machine may read (contract, section 2).
 * Only for a regular file of the current user, who can mend it; a pipe or a mounted secret of root is not theirs.
 */
export function checkPrivate(path: string, stat: Stats): void {
  if (!stat.isFile() || (stat.mode & 0o077) === 0 || !isOwn(stat, currentUser().uid)) return;
  throw new ConfigurationError(`Other users of this machine may read the key in ${path}`, {
    hint: `run \`chmod 600 ${quoteForShell(path)}\``,
  });
}

/**
 * Refuses a folder in which others could put a config file of theirs, with an address of theirs for the key. Whoever
 * runs as root may have been handed somebody's folder, as in a container.
 */
export function checkFolder(
  path: string,
  stat: Pick<Stats, "mode" | "uid">,
  user: number | undefined = currentUser().uid,
): void {
  if (user === windows) return;
  const isForeign = user !== undefined && user !== 0 && ![user, 0].includes(stat.uid);
  if (!isForeign && (stat.mode & 0o022) === 0) return;
  const isMendable = isOwn(stat, user) && (stat.mode & sticky) === 0;
  throw new ConfigurationError(
    isForeign
      ? `The config folder belongs to another user: ${path}`
      : `Other users of this machine may write to the config folder: ${path}`,
    {
      hint: isMendable
        ? `run \`chmod 700 ${quoteForShell(path)}\``
        : "name a folder of your own with BRANDAPI_CONFIG_DIR",
    },
  );
}

/**
 * Opens a file for reading, without waiting: a pipe that nobody writes to would hold up a thread, and with it the
 * program's end. Throws what the system says, and ENOTSUP for what is no file.
 * @param options.pipes a pipe is taken too; read it as a stream
 */
export function openToRead(path: string, options: { pipes?: boolean } = {}): { fd: number; stat: Stats } {
  // Windows has no such pipes.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stat = fstatSync(fd);
  if (stat.isFile() || (options.pipes && stat.isFIFO())) return { fd, stat };
  closeSync(fd);
  throw Object.assign(new Error("not a file"), { code: stat.isDirectory() ? "EISDIR" : "ENOTSUP" });
}

/**
 * Writes the whole file or nothing: beside it with mode 0600, then renamed. Missing folders are created 0700.
 * A symbolic link stays one: what it points to is replaced.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  makeFolder(dirname(target), 0o700);
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

/** Windows has no user numbers, and keeps permissions elsewhere. */
const windows = -1;
/** A folder like /tmp: shared on purpose. */
const sticky = 0o1000;

function isOwn(stat: Pick<Stats, "uid">, user: number | undefined): boolean {
  return user === undefined ? stat.uid !== 0 : user !== windows && stat.uid === user;
}

export function currentUser(): { uid?: number } {
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
