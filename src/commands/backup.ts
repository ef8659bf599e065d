import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Command, Option } from "commander";
import { expandPath } from "../config/folders.js";
import { readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorBusy, UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { formatInstant } from "../lib/times.js";
import { noteBackup, readInfo, withCopy, withFile } from "../mirror/index.js";
import { openMirrorReadOnly } from "../query/index.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { escapeLines } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { restore } from "./restore.js";

/** How long to wait for a moment between two answers: a sync without a rate limit writes nearly all the time. */
const patienceMs = 30_000;

interface BackupFlags extends GlobalOptions {
  keep: number;
  restore?: string;
}

export const about =
  "The copy is of one instant, and gets its name when it has been checked. It holds no key.";

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
  const present = await openMirrorReadOnly(dbPath);
  const brand = readInfo(present, "brand_id");
  present.db.close();
  const folder = dir === undefined ? join(dirname(dbPath), "backups") : expandPath(dir, deps);
  if (dir === undefined) makeFolder(folder, 0o700);
  const older = await copiesIn(folder, profile, brand);
  const at = formatInstant(deps.clock.now());
  const path = join(folder, `${profile}-${at.replace(/[-:]|\.\d+/g, "")}.sqlite`);
  const records = await withCopy(dbPath, folder, deps.random, async (copy) => {
    if (existsSync(path))
      throw new MirrorBusy(`There is a backup of this second: ${path}`, {
        hint: "run the same command again",
      });
    // The copy knows itself, too, for a mirror that cannot be read when it is restored.
    for (const file of [copy, dbPath])
      await withFile(file, (mirror) => {
        mirror.db.pragma(`busy_timeout = ${patienceMs}`);
        noteBackup(mirror, { at, path });
      });
    renameSync(copy, path);
  });
  const removed = [...older, path].slice(0, -keep);
  for (const old of removed) rmSync(old, { force: true });
  const bytes = statSync(path).size;
  const made = `${path}: ${counted(records, "record")}, ${formatBytes(bytes)}, checked`;
  const text = [made, ...removed.map((old) => `removed: ${old}`)].join("\n");
  return { path, at, bytes, records, removed, text };
}

/** Returns the copies of a brand's mirror that were made for a profile, the oldest first. */
async function copiesIn(folder: string, profile: string, brand: string | null): Promise<string[]> {
  const copies: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (name.replace(/\d{8}T\d{6}Z\.sqlite$/, "") !== `${profile}-`) continue;
    const owner = await withFile(path, (copy) => readInfo(copy, "brand_id")).catch(() => undefined);
    if (owner === brand) copies.push(path);
  }
  return copies;
}
