import { readFileSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

const ownTempFiles = new Set<string>();

/**
 * The maximum number of characters that a temporary file's name takes from its target's name. File systems limit names
 * to 255 bytes.
 */
const maxTargetCharacters = 60;

/**
 * Returns the path of a temporary file next to `target`. The caller creates the file, and renames it to `target` when
 * it is complete. Also removes the temporary files that killed processes left for `target`.
 */
export async function reserveTempFile(target: string, random: () => number): Promise<string> {
  const folder = dirname(target);
  const stem = `.${basename(target).slice(0, maxTargetCharacters)}.${thisHost()}-`;
  await removeStaleFiles(folder, stem);
  const suffix = String(Math.floor(random() * 1e6)).padStart(6, "0");
  const path = join(folder, `${stem}${process.pid}-${suffix}.part`);
  ownTempFiles.add(path);
  return path;
}

/** Stops tracking a temporary file. Must be called after the file has been renamed or removed. */
export function releaseTempFile(path: string): void {
  ownTempFiles.delete(path);
}

export function removeTempFiles(): void {
  for (const path of ownTempFiles)
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

async function removeStaleFiles(folder: string, stem: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(stem))) {
    const path = join(folder, name);
    // Also match the additional files of a temporary database, such as its journal.
    const [, suffix = "", pid] =
      /^(([1-9]\d*)-[0-9a-z]{6}\.part)(?:-journal|-wal|-shm)?$/.exec(name.slice(stem.length)) ?? [];
    if (pid !== undefined && !isInUse(Number(pid), join(folder, stem + suffix)))
      await rm(path, { force: true }).catch(() => {});
  }
}

/**
 * True if the process that created the file is still running. A file with this process's ID may be left over from an
 * earlier run, because every run in a container can have the same ID.
 */
function isInUse(pid: number, path: string): boolean {
  if (pid === process.pid) return ownTempFiles.has(path);
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/**
 * True if the process has ended, but its parent has not read its exit status. In a container without an init process,
 * killed processes can remain in this state. Always false on systems without `/proc`.
 */
function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** Returns the host name, which is part of temporary files' names because process IDs are unique only within a host. */
function thisHost(): string {
  return hostname()
    .replace(/[^\w-]/g, "")
    .slice(0, 32);
}
