import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { ConfigurationError, UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { makeFolder } from "../lib/make-folder.js";
import { beginPart, endPart } from "../lib/parts.js";
import { formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { examples } from "./help.js";

interface BackupFlags extends GlobalOptions {
  keep?: number;
  restore?: string;
}

const keepByDefault = 7;

export function define(context: Context): Command {
  return new Command("backup")
    .description(
      "The copy is of one instant. It gets its name, PROFILE-TIME.sqlite, once SQLite has checked it and its rows " +
        "and last runs are those of the mirror. A copy holds all that the mirror holds, and no key.",
    )
    .argument("[dir]", "an existing folder (default: `backups` beside the mirror)")
    .addOption(
      parsed("--keep <n>", `keep so many of this brand in the folder (default: ${keepByDefault})`, parseKeep),
    )
    .option("--restore <file>", "put a copy in the mirror's place; the present mirror is kept beside it")
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

function parseKeep(text: string): number {
  const keep = parseCount(text);
  if (keep > 0) return keep;
  throw new UsageError("`--keep` keeps one copy at least.", { hint: "use a number from 1" });
}

async function runBackup(dir: string | undefined, options: BackupFlags, { deps }: Context): Promise<void> {
  const { readSettings } = await import("../config/settings.js");
  const { expandPath } = await import("../config/folders.js");
  const { openMirror, openMirrorReadOnly } = await import("../query/index.js");
  const { copyMirror, readInfo } = await import("../mirror/index.js");
  const { createReporter } = await import("../ui/reporter.js");
  if (options.restore !== undefined && (dir ?? options.keep) !== undefined)
    throw new UsageError("`--restore` takes neither a folder nor `--keep`.", { hint: "leave them out" });
  const settings = await readSettings(options, deps);
  if (options.restore !== undefined) {
    const { restoreMirror } = await import("./restore.js");
    return await restoreMirror(expandPath(options.restore, deps), settings, deps);
  }
  const mirror = await deps.killable(() => openMirrorReadOnly(settings.dbPath));
  try {
    const folder = dir === undefined ? join(dirname(settings.dbPath), "backups") : expandPath(dir, deps);
    if (dir === undefined) makeFolder(folder, 0o700);
    if (!existsSync(folder))
      throw new ConfigurationError(`The folder of the backups does not exist: ${folder}`, {
        hint: "check the path, or make the folder",
      });
    const at = formatInstant(deps.clock.now());
    const path = join(folder, `${settings.profile}-${fileTime(at)}.sqlite`);
    const part = await beginPart(join(folder, `${settings.profile}.sqlite`), deps.random);
    let records: number;
    try {
      records = await copyMirror(mirror, part, deps.signal);
      renameSync(part, path);
    } finally {
      for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(`${part}${end}`, { force: true });
      endPart(part);
    }
    const owner = readInfo(mirror, "brand_id");
    const removed = await removeOldest(folder, settings.profile, owner, options.keep ?? keepByDefault);
    const reporter = createReporter(deps, options);
    await note(settings.dbPath, { at, path }).catch((error: Error) =>
      reporter.warn(`the backup is whole, but \`status\` does not know of it: ${error.message}`),
    );
    const bytes = statSync(path).size;
    if (options.json) printJson(deps.stdout, { path, at, bytes, records, removed });
    else if (!options.quiet)
      deps.stdout.write(
        `${escapeText(path)}: ${counted(records, "record")}, ${formatBytes(bytes)}, checked\n` +
          removed.map((one) => `removed ${escapeText(one)}\n`).join(""),
      );
  } finally {
    mirror.db.close();
  }

  async function note(dbPath: string, newest: { at: string; path: string }): Promise<void> {
    const { noteBackup } = await import("../mirror/index.js");
    const writable = await openMirror(dbPath);
    try {
      noteBackup(writable, newest);
    } finally {
      writable.db.close();
    }
  }
}

/** Returns `2026-11-24T19:00:00.000Z` as `20261124T190000Z`. */
export function fileTime(at: string): string {
  return at.replace(/[-:]|\.\d+/g, "");
}

/** Removes the oldest copies of a brand beyond `keep`. @returns their paths */
async function removeOldest(folder: string, profile: string, owner: string | null, keep: number) {
  const { connect, readInfo } = await import("../mirror/index.js");
  const isOwn = async (path: string) => {
    const copy: Mirror | null = await connect(path, true).catch(() => null);
    try {
      return copy !== null && readInfo(copy, "brand_id") === owner;
    } catch {
      return false;
    } finally {
      copy?.db.close();
    }
  };
  const own: string[] = [];
  for (const name of readdirSync(folder).sort().reverse())
    if (name.startsWith(`${profile}-`) && /^\d{8}T\d{6}Z\.sqlite$/.test(name.slice(profile.length + 1)))
      if (await isOwn(join(folder, name))) own.push(join(folder, name));
  const old = own.slice(keep);
  for (const path of old) rmSync(path);
  return old;
}
