import { constants, copyFileSync, existsSync, linkSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { commandFor } from "../config/access.js";
import { expandPath } from "../config/folders.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorUnusable } from "../errors.js";
import { codeOf } from "../lib/failures.js";
import {
  lastBackup,
  lockMirror,
  type Mirror,
  moveLogs,
  noteBackup,
  readInfo,
  realPlace,
  withCopy,
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
  const { note, warn } = createReporter(deps, output);
  const place = realPlace(dbPath);
  const aside = `${place}.before-${deps.clock.now()}`;
  const kept = existsSync(place) ? aside : null;
  const lock = await lockMirror(place, { wait: false, ...deps });
  let forgotten: string[] | null = null;
  const replace = async (path: string) => {
    const present = kept === null ? null : await readPresent(place);
    const copy = await openMirror(path);
    try {
      const [id, name] = [readInfo(copy, "brand_id"), readInfo(copy, "brand_name")];
      if (id !== (present?.brand ?? brand?.id ?? id))
        throw new MirrorUnusable(`The backup belongs to another brand, ${name} (${id}): ${from}`, {
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
    // Without a log there is nothing beside the file. A program that has the mirror open prevents that.
    if (present) await withFile(place, ({ db }) => db.pragma("journal_mode = DELETE"));
    else
      warn(
        `hosts that were forgotten since have to be forgotten again: \`${commandFor("forget --host ID", profile)}\``,
      );
    if (kept) setAside(place, kept);
    moveLogs(place, aside);
    renameSync(path, place);
  };
  await withCopy(from, dirname(place), deps.random, replace).finally(lock.release);
  if (kept) note(`The mirror before is kept: ${kept}`);
  note(`Next: \`${commandFor("sync", profile)}\` reads what came since.`);
  return { db: place, restored: from, kept, forgotten, text: `${place}: restored from ${from}` };
}

/** Returns what the copy takes over from the present mirror; null if that is damaged. */
async function readPresent(path: string) {
  const read = (mirror: Mirror) => {
    const brand = readInfo(mirror, "brand_id");
    return { brand, backup: lastBackup(mirror), ...readKeptOut(mirror) };
  };
  return await withFile(path, read).catch((error: Error) => {
    if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(codeOf(error.cause ?? error))) return null;
    throw error;
  });
}

/** Gives the mirror a second name: under its first one it is there until the copy takes that. */
function setAside(db: string, aside: string): void {
  try {
    linkSync(db, aside);
  } catch {
    // Some disks have no links.
    copyFileSync(db, aside, constants.COPYFILE_EXCL);
  }
}
