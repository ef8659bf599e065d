import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, MirrorUnusable } from "../errors.js";
import { formatInstant } from "../lib/times.js";
import {
  checkIdentity,
  connect,
  findDamage,
  lastBackup,
  lockMirror,
  type Mirror,
  mirrorFiles,
  noteBackup,
  readInfo,
} from "../mirror/index.js";
import { openMirror, openMirrorOrNone } from "../query/index.js";
import { keepOut, readKeptOut } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { createReporter } from "../ui/reporter.js";
import { escapeText } from "../ui/text.js";
import { fileTime } from "./backup.js";

/**
 * Puts a copy in the mirror's place, and keeps the present mirror, with its log, under another name. Hosts forgotten
 * since the copy was made are taken out of it first.
 * @throws MirrorUnusable if the copy is damaged, or of another brand; then nothing was changed
 */
export async function restoreMirror(file: string, settings: Settings, deps: Deps): Promise<void> {
  const { clock, killable, signal } = deps;
  const { brand: expected, dbPath } = settings;
  if (!existsSync(file))
    throw new ConfigurationError(`There is no such backup: ${file}`, { hint: "check the path" });
  const lock = await lockMirror(dbPath, { wait: false, clock, signal });
  const temporary = `${dbPath}-restored`;
  const clear = () => {
    for (const one of mirrorFiles(temporary)) rmSync(one, { force: true });
  };
  try {
    const present = await openMirrorOrNone(dbPath).catch((error: unknown) => {
      // A damaged mirror is what a backup is for.
      if (error instanceof MirrorUnusable) return null;
      throw error;
    });
    try {
      clear();
      copyFileSync(file, temporary);
      await killable(async () => {
        await checkBackup(temporary, file, present, expected);
        await forgetAgain(temporary, present);
      });
    } finally {
      present?.db.close();
    }
    const kept = `${dbPath}.before-${fileTime(formatInstant(clock.now()))}`;
    const hasMirror = existsSync(dbPath);
    for (const end of ["-wal", "-shm", ""])
      if (existsSync(dbPath + end)) renameSync(dbPath + end, kept + end);
    renameSync(temporary, dbPath);
    const { json, quiet } = settings.output;
    if (json) printJson(deps.stdout, { db: dbPath, restored: file, kept: hasMirror ? kept : null });
    else if (!quiet) {
      deps.stdout.write(`${escapeText(dbPath)}: restored from ${escapeText(file)}\n`);
      if (hasMirror) deps.stdout.write(`The mirror before is kept: ${escapeText(kept)}\n`);
    }
    createReporter(deps, settings.output).note("Next: `brandapi sync` reads what came since.");
  } finally {
    clear();
    lock.release();
  }
}

async function checkBackup(
  path: string,
  named: string,
  present: Mirror | null,
  expected: Settings["brand"],
): Promise<void> {
  const copy = await connect(path, true);
  try {
    checkIdentity(copy);
    const damage = findDamage(copy);
    if (damage !== null)
      throw new MirrorUnusable(`The backup is damaged (${damage}): ${named}`, {
        hint: "choose an older one",
      });
    const owner = (present && readInfo(present, "brand_id")) ?? expected?.id;
    if (owner !== undefined && owner !== readInfo(copy, "brand_id"))
      throw new MirrorUnusable(
        `The backup belongs to another brand, ${readInfo(copy, "brand_name")}: ${named}`,
        {
          hint: "name its profile, `--profile NAME`, or another file, `--db PATH`",
        },
      );
  } finally {
    copy.db.close();
  }
}

async function forgetAgain(path: string, present: Mirror | null): Promise<void> {
  const copy = await openMirror(path);
  try {
    const { forgotten } = present ? readKeptOut(present) : { forgotten: [] };
    const known = readKeptOut(copy).forgotten;
    const since = forgotten.filter((id) => !known.includes(id));
    const backup = present && lastBackup(present);
    if (backup) noteBackup(copy, backup);
    if (since.length > 0) keepOut(copy, { forgotten: since });
  } finally {
    copy.db.close();
  }
}
