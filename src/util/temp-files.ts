import { rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/** This process's incomplete temporary files. */
const ownTempFiles = new Set<string>();

/** A file name can have at most 255 bytes, so only the start of the target's name is used. */
const maxTargetCharacters = 60;

/**
 * Returns a path next to `target` for a temporary file. The caller creates the file and renames it to
 * `target` when it is complete. The name contains the process ID. Also removes temporary files for `target`
 * that killed processes left behind.
 * @param random returns a number in [0, 1)
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

/** Unregisters a temporary file that was renamed or removed. */
export function releaseTempFile(path: string): void {
  ownTempFiles.delete(path);
}

/** Removes all of this process's temporary files before it exits. */
export function removeTempFiles(): void {
  for (const path of ownTempFiles)
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

async function removeStaleFiles(folder: string, stem: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(stem))) {
    const path = join(folder, name);
    // A database can have additional files, such as its journal.
    const [, suffix = "", pid] =
      /^(([1-9]\d*)-[0-9a-z]{6}\.part)(?:-journal|-wal|-shm)?$/.exec(name.slice(stem.length)) ?? [];
    if (pid !== undefined && !isInUse(Number(pid), join(folder, stem + suffix)))
      await rm(path, { force: true }).catch(() => {});
  }
}

/**
 * True if the process that created a temporary file is still running. In containers, every run can have the
 * same process ID.
 */
function isInUse(pid: number, path: string): boolean {
  if (pid === process.pid) return ownTempFiles.has(path);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Returns the host name for use in file names, because process IDs are valid only on one machine. */
function thisHost(): string {
  return hostname()
    .replace(/[^\w-]/g, "")
    .slice(0, 32);
}
