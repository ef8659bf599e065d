import { accessSync, constants, copyFileSync, existsSync, linkSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Command, Option } from "commander";
import { commandFor } from "../config/access.js";
import { expandPath } from "../config/folders.js";
import { readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorBusy, MirrorUnusable, UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { asBrandapiError } from "../lib/failures.js";
import { makeFolder } from "../lib/make-folder.js";
import { formatInstant } from "../lib/times.js";
import {
  copyMirror,
  lockMirror,
  moveLogs,
  noteBackups,
  readBackups,
  readInfo,
  realPlace,
  withFile,
} from "../mirror/index.js";
import { openMirror, openMirrorReadOnly } from "../query/index.js";
import { keepOut, readKeptOut } from "../records/index.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { createReporter } from "../ui/reporter.js";
import { escapeLines } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";

/** A sync that asks without a rate limit writes nearly all the time: so long a moment between two answers is waited for. */
const patienceMs = 30_000;

interface BackupFlags extends GlobalOptions {
  keep: number;
  restore?: string;
}

export const about = "The copy is of one instant, and has its name once it is checked. It holds no key.";

export const examples = {
  "brandapi backup /mnt/disk/brandapi --keep 30": "copies on another disk",
  "brandapi backup --restore FILE": "go back to a copy",
};

export function define(command: Command): void {
  const restore = "put a copy in the mirror's place; the present mirror is kept beside it";
  command
    .argument("[dir]", "an existing folder (default: `backups` beside the mirror)")
    .addOption(parsed("--keep <n>", "keep the newest N copies in the folder; 0: all", parseCount).default(7))
    .addOption(new Option("--restore <file>", restore).conflicts("keep"));
}

export async function run(options: BackupFlags, { deps }: Context, dir: string | undefined): Promise<void> {
  const { json, keep, quiet, restore: file } = options;
  if (dir !== undefined && file !== undefined)
    throw new UsageError("`--restore` takes no folder.", { hint: "leave one of them out" });
  const settings = await readSettings(options, deps);
  const { text, ...done } = await deps.killable(async () =>
    file === undefined ? await backUp(dir, keep, settings, deps) : await restore(file, settings, deps),
  );
  if (json) printJson(deps.stdout, done);
  else if (!quiet) deps.stdout.write(`${escapeLines(text)}\n`);
}

async function backUp(dir: string | undefined, keep: number, { dbPath, profile }: Settings, deps: Deps) {
  (await openMirrorReadOnly(dbPath)).db.close();
  const folder = dir === undefined ? join(dirname(dbPath), "backups") : expandPath(dir, deps);
  if (dir === undefined) makeFolder(folder, 0o700);
  else accessSync(folder, constants.W_OK);
  const at = formatInstant(deps.clock.now());
  const path = join(folder, `${profile}-${at.replace(/[-:]|\.\d+/g, "")}.sqlite`);
  const records = await copyMirror(dbPath, path, deps.random, () =>
    withFile(dbPath, (mirror) => {
      mirror.db.pragma(`busy_timeout = ${patienceMs}`);
      noteBackups(mirror, [...readBackups(mirror).filter((one) => one.path !== path), { at, path }]);
    }),
  );
  const made = (await withFile(dbPath, readBackups)).map((one) => one.path);
  const removed = made.filter((one) => dirname(one) === folder).slice(0, -keep);
  for (const old of removed) rmSync(old, { force: true });
  const bytes = statSync(path).size;
  const done = `${path}: ${counted(records, "record")}, ${formatBytes(bytes)}, checked`;
  const text = [done, ...removed.map((old) => `removed: ${old}`)].join("\n");
  return { path, at, bytes, records, removed, text };
}

/**
 * Puts a copy in the mirror's place, less the hosts that were forgotten since, and sets the present mirror aside.
 * @throws MirrorUnusable if the copy is damaged, or of another brand: nothing is changed
 */
async function restore(file: string, { brand, dbPath, output, profile }: Settings, deps: Deps) {
  const from = expandPath(file, deps);
  if (!statSync(from).isFile())
    throw new MirrorUnusable(`A backup is a file: ${from}`, { hint: "name a file with `--restore`" });
  const { note, warn } = createReporter(deps, output);
  const db = realPlace(dbPath);
  const aside = `${db}.before-${deps.clock.now()}`;
  const kept = existsSync(db) ? aside : null;
  const lock = await lockMirror(db, { wait: false, ...deps });
  const replace = async (path: string) => {
    const present = await readPresent(db);
    const copy = await openMirror(path);
    try {
      const owner = present?.brand ?? brand?.id;
      if (owner !== undefined && owner !== readInfo(copy, "brand_id"))
        throw new MirrorUnusable(`The backup belongs to ${readInfo(copy, "brand_name")}: ${from}`, {
          hint: "choose another backup, or name its profile: `--profile NAME`",
        });
      noteBackups(copy, present?.backups ?? []);
      const { forgotten = [], omit = [] } = present ?? {};
      if (forgotten.length + omit.length > 0) keepOut(copy, forgotten, omit);
    } finally {
      copy.db.close();
    }
    if (!present)
      warn("the mirror before cannot be read: hosts that were forgotten since have to be forgotten again");
    if (kept) setAside(db, aside);
    moveLogs(db, aside);
  };
  await copyMirror(from, db, deps.random, replace).finally(lock.release);
  if (kept) note(`The mirror before is kept: ${kept}`);
  note(`Next: \`${commandFor("sync", profile)}\` reads what came since.`);
  return { db, restored: from, kept, text: `${db}: restored from ${from}` };
}

/** Returns what the copy takes over from the present mirror, all in its file; null if there is none, or it is damaged. */
async function readPresent(db: string) {
  return await withFile(db, (mirror) => {
    // Without a log there is nothing beside the file. A program that has it open prevents that.
    mirror.db.pragma("journal_mode = DELETE");
    return { brand: readInfo(mirror, "brand_id"), backups: readBackups(mirror), ...readKeptOut(mirror) };
  }).catch((error: unknown) => {
    if (asBrandapiError(error) instanceof MirrorBusy) throw error;
    return null;
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
