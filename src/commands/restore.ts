import { constants, copyFileSync, existsSync, linkSync, statSync } from "node:fs";
import { commandFor } from "../config/access.js";
import { expandPath } from "../config/folders.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorBusy, MirrorUnusable } from "../errors.js";
import { asBrandapiError } from "../lib/failures.js";
import {
  copyMirror,
  emptyLog,
  lastBackup,
  lockMirror,
  type Mirror,
  moveLogs,
  noteBackup,
  readInfo,
  realPlace,
  withFile,
} from "../mirror/index.js";
import { openMirror } from "../query/index.js";
import { keepOut, readKeptOut } from "../records/index.js";
import { createReporter } from "../ui/reporter.js";

/**
 * Puts a copy in the mirror's place, less the hosts that were forgotten since, and sets the present mirror aside.
 * @throws MirrorUnusable if the copy is damaged, or of another brand: nothing is changed
 */
export async function restore(file: string, { brand, dbPath, output, profile }: Settings, deps: Deps) {
  const from = expandPath(file, deps);
  if (!statSync(from).isFile())
    throw new MirrorUnusable(`A backup is a file: ${from}`, { hint: "name a file with `--restore`" });
  const db = realPlace(dbPath);
  const aside = `${db}.before-${deps.clock.now()}`;
  const kept = existsSync(db) ? aside : null;
  const lock = await lockMirror(db, { wait: false, ...deps });
  let forgotten: string[] | null = null;
  const replace = async (path: string) => {
    const present = await readPresent(db);
    const copy = await openMirror(path);
    try {
      const owner = present?.brand ?? brand?.id;
      if (owner !== undefined && owner !== readInfo(copy, "brand_id"))
        throw new MirrorUnusable(`The backup belongs to ${readInfo(copy, "brand_name")}: ${from}`, {
          hint: "choose another backup, or name its profile: `--profile NAME`",
        });
      if (present) {
        forgotten = present.forgotten;
        if (forgotten.length + present.omit.length > 0) keepOut(copy, forgotten, present.omit);
        if (present.backup) noteBackup(copy, present.backup);
      }
    } finally {
      copy.db.close();
    }
    if (present) await emptyLogOf(db);
    setAside(db, aside);
  };
  await copyMirror(from, db, deps.random, replace).finally(lock.release);
  const { note, warn } = createReporter(deps, output);
  if (forgotten === null)
    warn(
      "the mirror before could not be read: hosts that were forgotten since the backup are not known. " +
        `Forget them again: \`${commandFor("forget --host ID", profile)}\``,
    );
  if (kept) note(`The mirror before is kept: ${kept}`);
  note(`Next: \`${commandFor("sync", profile)}\` reads what came since.`);
  return { db, restored: from, kept, forgotten, text: `${db}: restored from ${from}` };
}

/** Returns what the copy takes over from the present mirror; null if that is damaged. */
async function readPresent(db: string) {
  const read = (mirror: Mirror) => {
    const brand = readInfo(mirror, "brand_id");
    return { brand, backup: lastBackup(mirror), ...readKeptOut(mirror) };
  };
  return await withFile(db, read).catch((error: unknown) => {
    if (asBrandapiError(error) instanceof MirrorBusy) throw error;
    return null;
  });
}

async function emptyLogOf(db: string): Promise<void> {
  if (await withFile(db, emptyLog)) return;
  throw new MirrorBusy("A program that reads the mirror has its log open.", {
    hint: "close that program, then run the same command again",
  });
}

/** Gives the mirror a second name: under its first one it is there until the copy takes that. */
function setAside(db: string, aside: string): void {
  try {
    if (existsSync(db)) linkSync(db, aside);
  } catch {
    // Some disks have no links.
    copyFileSync(db, aside, constants.COPYFILE_EXCL);
  }
  moveLogs(db, aside);
}
