import { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, Option } from "commander";
import { expandPath } from "../config/folders.js";
import { readSettings } from "../config/settings.js";
import { UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { beginPart, endPart } from "../lib/parts.js";
import { formatInstant } from "../lib/times.js";
import { connect, copyMirror, noteBackup } from "../mirror/index.js";
import { openMirrorReadOnly } from "../query/index.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { examples } from "./help.js";
import { fileTime, readOwner, restoreMirror } from "./restore.js";

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
  if (options.keep < 1 || (dir !== undefined && options.restore !== undefined))
    throw new UsageError("`--keep` begins at 1, and `--restore` takes no folder.", {
      hint: "see `brandapi help backup`",
    });
  const settings = await readSettings(options, deps);
  const { dbPath, profile } = settings;
  if (options.restore !== undefined)
    return await restoreMirror(expandPath(options.restore, deps), settings, deps);
  (await deps.killable(() => openMirrorReadOnly(dbPath))).db.close();
  const folder = dir === undefined ? join(dirname(dbPath), "backups") : expandPath(dir, deps);
  if (dir === undefined) makeFolder(folder, 0o700);
  const at = formatInstant(deps.clock.now());
  const path = join(folder, `${profile}-${fileTime(at)}.sqlite`);
  const part = await beginPart(join(folder, `${profile}.sqlite`), deps.random);
  const mirror = await connect(dbPath, false);
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
  const brand = (await readOwner(path))?.brand;
  const own: string[] = [];
  for (const name of readdirSync(folder).sort().reverse())
    if (name.replace(/\d{8}T\d{6}Z\.sqlite$/, "") === `${profile}-`)
      if ((await readOwner(join(folder, name)))?.brand === brand) own.push(join(folder, name));
  const removed = own.slice(options.keep);
  for (const old of removed) rmSync(old);
  const bytes = statSync(path).size;
  if (options.json) return printJson(deps.stdout, { path, at, bytes, records, removed });
  const lines = [`${path}: ${counted(records, "record")}, ${formatBytes(bytes)}, checked`];
  for (const old of removed) lines.push(`removed ${old}`);
  if (!options.quiet) deps.stdout.write(lines.map((line) => `${escapeText(line)}\n`).join(""));
}
