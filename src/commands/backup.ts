import { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { beginPart, endPart } from "../lib/parts.js";
import { formatInstant } from "../lib/times.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { examples } from "./help.js";

interface BackupFlags extends GlobalOptions {
  keep: number;
  restore?: string;
}

export function define(context: Context): Command {
  return new Command("backup")
    .description(
      "The copy is of one instant. It gets its name, PROFILE-TIME.sqlite, once SQLite has checked it and its rows " +
        "and last runs are those of the mirror. A copy holds all that the mirror holds, and no key.",
    )
    .argument("[dir]", "an existing folder (default: `backups` beside the mirror)")
    .addOption(parsed("--keep <n>", "keep so many of this brand in the folder", parseCount).default(7))
    .addOption(
      new Option(
        "--restore <file>",
        "put a copy in the mirror's place; the present mirror is kept beside it",
      ).conflicts("keep"),
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi backup", "a copy beside the mirror; the newest 7 are kept"],
        ["brandapi backup /mnt/disk/brandapi --keep 30", "copies on another disk"],
        ["brandapi backup --restore FILE", "go back to a copy"],
      ),
    )
    .action((dir: string | undefined, _, command: Command) =>
      runBackup(dir, command.optsWithGlobals(), context),
    );
}

async function runBackup(dir: string | undefined, options: BackupFlags, { deps }: Context): Promise<void> {
  const { readSettings } = await import("../config/settings.js");
  const { expandPath } = await import("../config/folders.js");
  const { connect, copyMirror, noteBackup } = await import("../mirror/index.js");
  const { openMirrorReadOnly } = await import("../query/index.js");
  const { fileTime, restoreMirror } = await import("./restore.js");
  if (options.keep < 1 || (dir !== undefined && options.restore !== undefined))
    throw new UsageError("`--keep` begins at 1, and `--restore` takes no folder.", {
      hint: "see `brandapi help backup`",
    });
  const settings = await readSettings(options, deps);
  const { dbPath, profile } = settings;
  if (options.restore !== undefined)
    return await restoreMirror(expandPath(options.restore, deps), settings, deps);
  const folder = dir === undefined ? join(dirname(dbPath), "backups") : expandPath(dir, deps);
  (await deps.killable(() => openMirrorReadOnly(dbPath))).db.close();
  if (dir === undefined) makeFolder(folder, 0o700);
  const part = await beginPart(join(folder, `${profile}.sqlite`), deps.random);
  const mirror = await connect(dbPath, false);
  const at = formatInstant(deps.clock.now());
  const path = join(folder, `${profile}-${fileTime(at)}.sqlite`);
  let records: number;
  try {
    records = await copyMirror(mirror, part, deps.signal);
    renameSync(part, path);
    noteBackup(mirror, { at, path });
  } finally {
    mirror.db.close();
    for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(part + end, { force: true });
    endPart(part);
  }
  const removed = await removeOldest(folder, profile, path, options.keep);
  const bytes = statSync(path).size;
  if (options.json) return printJson(deps.stdout, { path, at, bytes, records, removed });
  if (options.quiet) return;
  const about = `${counted(records, "record")}, ${formatBytes(bytes)}, checked`;
  deps.stdout.write(`${escapeText(path)}: ${about}\n`);
  for (const one of removed) deps.stdout.write(`removed ${escapeText(one)}\n`);
}

/** Removes the oldest copies of a profile's brand beyond `keep`. @returns their paths */
async function removeOldest(folder: string, profile: string, newest: string, keep: number) {
  const { readOwner } = await import("./restore.js");
  const brand = (await readOwner(newest))?.brand;
  const own: string[] = [];
  for (const name of readdirSync(folder).sort().reverse()) {
    const path = join(folder, name);
    if (name.replace(/\d{8}T\d{6}Z\.sqlite$/, "") === `${profile}-`)
      if ((await readOwner(path))?.brand === brand) own.push(path);
  }
  const removed = own.slice(keep);
  for (const path of removed) rmSync(path);
  return removed;
}
