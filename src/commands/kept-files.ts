import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { expandPath } from "../config/folders.js";
import type { GlobalOptions } from "../config/options.js";
import { configFile } from "../config/profiles.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { mirrorFiles } from "../mirror/index.js";

/** A file that was named on the command line, as the person did, and the flag that it is of. */
export interface NamedFile {
  flag: string;
  file: string | undefined;
}

/** What a run goes by. */
interface Run {
  options: GlobalOptions;
  settings: Pick<Settings, "dbPath" | "configDir">;
  deps: Deps;
}

/**
 * Refuses to write over what the program reads or keeps: a file is replaced as a whole, and a mirror or a key with it.
 * @param written what the command is about to write: all of it, since nothing is written where one is refused
 * @param read what it reads besides the mirror, the settings and the key
 * @throws UsageError that names the file
 */
export function refuseKept(
  written: readonly NamedFile[],
  read: readonly NamedFile[],
  { options, settings, deps }: Run,
): void {
  const mirror = realPlace(settings.dbPath);
  const whose = new Map(mirrorFiles(mirror).map((one) => [one, "the mirror itself"]));
  whose.set(realPlace(configFile(settings.configDir)), "the one with the settings");
  for (const { flag, file } of [...read, { flag: "--key-file", file: options.keyFile }])
    if (file !== undefined) whose.set(realPlace(expandPath(file, deps)), ofFlag(flag));
  for (const { flag, file } of written) {
    if (file === undefined) continue;
    const place = realPlace(expandPath(file, deps));
    const owner = whose.get(place) ?? ofFlag(flag);
    if (owner !== ofFlag(flag) && isReplaced(place))
      throw new UsageError(`The file to write is ${owner}: ${file}.`, {
        hint: `name another file with \`${flag}\``,
      });
    whose.set(place, owner);
  }
}

function ofFlag(flag: string): string {
  return `the one of \`${flag}\``;
}

/** Where a file is or will be, whatever links lead to it. */
function realPlace(path: string): string {
  try {
    return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
  } catch {
    // A folder that is not there yet, or a pipe by the name of its descriptor.
    return resolve(path);
  }
}

/** What is there and no plain file, such as a terminal, is written to, and stays what it is. */
function isReplaced(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isFile() !== false;
}
