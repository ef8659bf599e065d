import { rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/**
 * Files that stand beside another until they are whole and take its name. Each bears the process that writes it: what a
 * killed one left behind is known, and cleared away by the next process that writes the same file.
 */
const begun = new Set<string>();

/** Letters of the target's name in the part's name, which may have at most 255 bytes. */
const mostLetters = 60;

/**
 * Clears away what dead processes left of `target`, and returns a path for this process's part, for the caller to create.
 * @param random a number in [0, 1)
 */
export async function reserveTempFile(target: string, random: () => number): Promise<string> {
  const folder = dirname(target);
  const stem = `.${basename(target).slice(0, mostLetters)}.${thisHost()}-`;
  await clearDead(folder, stem);
  const suffix = String(Math.floor(random() * 1e6)).padStart(6, "0");
  const path = join(folder, `${stem}${process.pid}-${suffix}.part`);
  begun.add(path);
  return path;
}

/** Forgets a part that was renamed or removed. */
export function releaseTempFile(path: string): void {
  begun.delete(path);
}

/** Removes every part of this process, which is about to end. */
export function removeTempFiles(): void {
  for (const path of begun)
    for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(path + end, { force: true });
}

async function clearDead(folder: string, stem: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(stem))) {
    const path = join(folder, name);
    // SQLite keeps a journal beside a part that is a database.
    const [, part = "", pid] =
      /^(([1-9]\d*)-[0-9a-z]{6}\.part)(?:-journal|-wal|-shm)?$/.exec(name.slice(stem.length)) ?? [];
    if (pid !== undefined && !isWriting(Number(pid), join(folder, stem + part)))
      await rm(path, { force: true }).catch(() => {});
  }
}

/** In a container every run can have the same number: what is not begun here is not this one's. */
function isWriting(pid: number, path: string): boolean {
  if (pid === process.pid) return begun.has(path);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** The number of a process means something on its own machine only. */
function thisHost(): string {
  return hostname()
    .replace(/[^\w-]/g, "")
    .slice(0, 32);
}
