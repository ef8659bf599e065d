import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorUnusable } from "../errors.js";
import { formatInstant } from "../lib/times.js";
import { connect, findDamage, lockMirror, mirrorFiles, readInfo } from "../mirror/index.js";
import { openMirror } from "../query/index.js";
import { keepOut, readKeptOut } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { createReporter } from "../ui/reporter.js";
import { escapeText } from "../ui/text.js";

/**
 * Puts a copy in the mirror's place, and keeps the present mirror, with its log, under another name. The mirror's path
 * holds a whole mirror all the while.
 * @throws MirrorUnusable if the copy is damaged, or of another brand; then nothing was changed
 */
export async function restoreMirror(file: string, settings: Settings, deps: Deps): Promise<void> {
  const { clock, killable, signal } = deps;
  const { dbPath: db, output } = settings;
  const lock = await lockMirror(db, { wait: false, clock, signal });
  const temporary = `${db}-restored`;
  const clear = () => {
    for (const path of mirrorFiles(temporary)) rmSync(path, { force: true });
  };
  try {
    clear();
    copyFileSync(file, temporary);
    await killable(() => prepare(temporary, file, settings));
    const before = `${db}.before-${fileTime(formatInstant(clock.now()))}`;
    const kept = existsSync(db) ? before : null;
    if (kept) linkSync(db, kept);
    // SQLite would read the new file with the log of the old one.
    for (const end of ["-wal", "-shm"]) if (existsSync(db + end)) renameSync(db + end, before + end);
    renameSync(temporary, db);
    if (output.json) printJson(deps.stdout, { db, restored: file, kept });
    else if (!output.quiet) deps.stdout.write(`${escapeText(db)}: restored from ${escapeText(file)}\n`);
    const { note } = createReporter(deps, output);
    if (kept) note(`The mirror before is kept: ${escapeText(kept)}`);
    note("Next: `brandapi sync` reads what came since.");
  } finally {
    clear();
    lock.release();
  }
}

/** Checks a copy, and takes out of it the hosts that were forgotten since it was made. */
async function prepare(path: string, file: string, { brand, dbPath }: Settings): Promise<void> {
  const present = await readOwner(dbPath);
  const owner = present?.brand ?? brand?.id;
  const copy = await openMirror(path);
  try {
    const isForeign = owner !== undefined && owner !== readInfo(copy, "brand_id");
    const damage = isForeign ? `it belongs to ${readInfo(copy, "brand_name")}` : findDamage(copy);
    if (damage !== null)
      throw new MirrorUnusable(`The backup cannot be restored, ${damage}: ${file}`, {
        hint: "choose another backup, or name its profile: `--profile NAME`",
      });
    const forgotten = present?.forgotten ?? [];
    if (forgotten.length > 0) keepOut(copy, { ...readKeptOut(copy), forgotten });
  } finally {
    copy.db.close();
  }
}

/** Returns a mirror's brand, and the hosts that it forgot; null if the file is missing or cannot be read. */
export async function readOwner(path: string) {
  const mirror = await connect(path, false).catch(() => null);
  try {
    return mirror && { brand: readInfo(mirror, "brand_id"), forgotten: readKeptOut(mirror).forgotten };
  } catch {
    return null;
  } finally {
    mirror?.db.close();
  }
}

/** Returns `2026-11-24T19:00:00.000Z` as `20261124T190000Z`. */
export function fileTime(at: string): string {
  return at.replace(/[-:]|\.\d+/g, "");
}
