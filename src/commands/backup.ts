import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { expandPath } from "../config/folders.js";
import { readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorUnusable } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { formatInstant } from "../lib/times.js";
import { connect, copyMirror, lockMirror, readBackups, readInfo, writeInfo } from "../mirror/index.js";
import { openMirror, openMirrorOrNone, openMirrorReadOnly } from "../query/index.js";
import { keepOut, readKeptOut } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";

interface BackupFlags extends GlobalOptions {
  keep: number;
  restore?: string;
}

export const examples = {
  "brandapi backup /mnt/disk/brandapi --keep 30": "copies on another disk",
  "brandapi backup --restore FILE": "go back to a copy",
};

export function define(context: Context): Command {
  return new Command("backup")
    .description("The copy is of one instant, and has its name once it is checked. It holds no key.")
    .argument("[dir]", "an existing folder (default: `backups` beside the mirror)")
    .addOption(parsed("--keep <n>", "keep so many copies in the folder; 0: all", parseCount).default(7))
    .option("--restore <file>", "put a copy in the mirror's place; the present mirror is kept beside it")
    .action((dir, _, command: Command) => runBackup(dir, command.optsWithGlobals(), context));
}

async function runBackup(dir: string | undefined, options: BackupFlags, { deps }: Context): Promise<void> {
  const settings = await readSettings(options, deps);
  const { keep, restore: file } = options;
  const work = file === undefined ? backUp(dir, keep, settings, deps) : restore(file, settings, deps);
  const { text, ...done } = await work;
  if (options.json) printJson(deps.stdout, done);
  else if (!options.quiet) deps.stdout.write(`${escapeText(text)}\n`);
}

async function backUp(dir: string | undefined, keep: number, { dbPath, profile }: Settings, deps: Deps) {
  (await deps.killable(() => openMirrorReadOnly(dbPath))).db.close();
  const folder = dir === undefined ? join(dirname(dbPath), "backups") : expandPath(dir, deps);
  if (dir === undefined) makeFolder(folder, 0o700);
  const at = formatInstant(deps.clock.now());
  const path = join(folder, `${profile}-${at.replace(/[-:]|\.\d+/g, "")}.sqlite`);
  const records = await copyMirror(dbPath, path, deps.random);
  const mirror = await connect(dbPath, false);
  const all = [...readBackups(mirror).filter((one) => one.path !== path), { at, path }];
  const paths = all.map((one) => one.path);
  const removed = paths.filter((one) => dirname(one) === folder).slice(0, -keep);
  const left = all.filter((one) => !removed.includes(one.path));
  mirror.transaction(() => writeInfo(mirror, "backups", JSON.stringify(left)));
  mirror.db.close();
  for (const old of removed) rmSync(old, { force: true });
  const text = `${path}: ${counted(records, "record")}, checked; removed: ${removed.join(", ") || "none"}`;
  return { path, at, bytes: statSync(path).size, records, removed, text };
}

/**
 * Puts a copy in the mirror's place, less the hosts that were forgotten since, and sets the present mirror aside.
 * @throws MirrorUnusable if the copy is damaged, or of another brand: nothing is changed
 */
async function restore(file: string, { brand, dbPath: db }: Settings, deps: Deps) {
  const from = expandPath(file, deps);
  const aside = `${db}.before-${deps.clock.now()}`;
  const kept = existsSync(db) ? aside : null;
  const lock = await lockMirror(db, { wait: false, ...deps });
  const present = await openMirrorOrNone(db).catch(() => null);
  const owner = (present && readInfo(present, "brand_id")) ?? brand?.id;
  const forgotten = present ? readKeptOut(present).forgotten : [];
  present?.db.close();
  const replace = async (path: string) => {
    const copy = await openMirror(path);
    if (owner !== undefined && owner !== readInfo(copy, "brand_id"))
      throw new MirrorUnusable(`The backup belongs to ${readInfo(copy, "brand_name")}: ${from}`, {
        hint: "choose another backup, or name its profile: `--profile NAME`",
      });
    if (forgotten.length > 0) keepOut(copy, forgotten);
    copy.db.close();
    if (kept) linkSync(db, aside);
    // SQLite would read the new file with the log of the old one.
    for (const end of ["-wal", "-shm"]) if (existsSync(db + end)) renameSync(db + end, aside + end);
  };
  await copyMirror(from, db, deps.random, replace).finally(lock.release);
  const text = `${db}: restored; \`brandapi sync\` reads what came since. The mirror before: ${kept ?? "none"}`;
  return { db, restored: from, kept, text };
}
