import { existsSync, realpathSync, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../config/key.js";
import { currentUser } from "../config/private-file.js";
import { shellWord } from "../lib/shell.js";
import { systemFailure } from "../lib/system-errors.js";
import { mirrorFiles } from "../mirror/index.js";

/** A file or folder that cannot be written: why, and what mends it. */
export interface Closed {
  place: string;
  why: string;
  hint: string;
  cause: unknown;
}

/**
 * Looks whether a database can be written, or made: SQLite makes files beside it, so its folder counts too.
 * @returns the first place that cannot be written; undefined where all can
 */
export async function findClosed(path: string): Promise<Closed | undefined> {
  const file = existsSync(path) ? realpathSync(path) : path;
  const files = mirrorFiles(file).filter((one) => existsSync(one));
  for (const place of [dirname(file), ...files]) {
    const there = existing(place);
    const isFile = files.includes(place);
    try {
      // With a slash at its end, what is no folder is told as that.
      if (isFile) await access(place, constants.R_OK | constants.W_OK);
      else await access(`${there}/`, constants.W_OK | constants.X_OK);
    } catch (cause) {
      const { code = "", hint = "check the path" } = systemFailure(cause) ?? {};
      const isDenied = code === "EACCES" || code === "EPERM";
      return { place, why: reasonOf(cause), hint: isDenied ? mend(place, there) : hint, cause };
    }
  }
  return undefined;
}

/** The command that lets this user write: never one that takes another's folder over for what is missing in it. */
function mend(place: string, there: string): string {
  const stat = statSync(there);
  const access = stat.isDirectory() ? "u+rwx" : "u+rw";
  if (stat.uid === currentUser().uid) return `run \`chmod ${access} ${shellWord(there)}\``;
  const make = place === there ? "" : `sudo mkdir -p ${shellWord(place)} && `;
  return `run \`${make}sudo chown "$(id -u)" ${shellWord(place)}\`, or name a place of your own`;
}

/** The path, or the nearest folder above it that is there. */
export function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}
