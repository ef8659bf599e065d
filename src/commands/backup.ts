import { readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, Option } from "commander";
import { expandPath } from "../config/folders.js";
import { readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { formatInstant } from "../lib/times.js";
import { copyMirror, type Mirror, noteBackup, readInfo, withFile } from "../mirror/index.js";
import { openMirrorReadOnly } from "../query/index.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { escapeLines } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { restore } from "./restore.js";

/** A sync that asks without a rate limit writes nearly all the time: so long a moment between two answers is waited for. */
const patienceMs = 30_000;

interface BackupFlags extends GlobalOptions {
  keep: number;
  restore?: string;
}

export const examples = {
  "brandapi backup /mnt/disk/brandapi --keep 30": "copies on another disk",
  "brandapi backup --restore FILE": "go back to a copy",
};

export function define(context: Context): Command {
  const about = "put a copy in the mirror's place; the present mirror is kept beside it";
  return new Command("backup")
    .description("The copy is of one instant, and has its name once it is checked. It holds no key.")
    .argument("[dir]", "an existing folder (default: `backups` beside the mirror)")
    .addOption(parsed("--keep <n>", "keep the newest N copies in the folder; 0: all", parseCount).default(7))
    .addOption(new Option("--restore <file>", about).conflicts("keep"))
    .action((dir, _, command: Command) => runBackup(dir, command.optsWithGlobals(), context));
}

async function runBackup(dir: string | undefined, options: BackupFlags, { deps }: Context): Promise<void> {
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
  const at = formatInstant(deps.clock.now());
  const path = join(folder, `${profile}-${at.replace(/[-:]|\.\d+/g, "")}.sqlite`);
  const note = (mirror: Mirror) => {
    mirror.db.pragma(`busy_timeout = ${patienceMs}`);
    noteBackup(mirror, { at, path });
  };
  const records = await copyMirror(dbPath, path, deps.random, async (copy) => {
    // The copy notes itself too, for a mirror that cannot be read when it is restored.
    for (const file of [copy, dbPath]) await withFile(file, note);
  });
  const removed = (await copiesIn(folder, profile, await readBrand(path))).slice(0, -keep);
  for (const old of removed) rmSync(old, { force: true });
  const bytes = statSync(path).size;
  const made = `${path}: ${counted(records, "record")}, ${formatBytes(bytes)}, checked`;
  const text = [made, ...removed.map((old) => `removed: ${old}`)].join("\n");
  return { path, at, bytes, records, removed, text };
}

/** Returns the copies of a brand's mirror that were made for a profile, the oldest first. */
async function copiesIn(
  folder: string,
  profile: string,
  brand: string | null | undefined,
): Promise<string[]> {
  const copies: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const isCopy = name.replace(/\d{8}T\d{6}Z\.sqlite$/, "") === `${profile}-`;
    if (isCopy && (await readBrand(join(folder, name))) === brand) copies.push(join(folder, name));
  }
  return copies;
}

/** Returns the id of a copy's brand, null if it has none; undefined if the file cannot be read. */
async function readBrand(path: string): Promise<string | null | undefined> {
  return await withFile(path, (copy) => readInfo(copy, "brand_id")).catch(() => undefined);
}
