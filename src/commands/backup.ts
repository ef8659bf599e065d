import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import type { Context } from "../cli/context.js";
import { completeHint } from "../cli/error-output.js";
import { parseCount, parsedOption, parsePath } from "../cli/flags.js";
import { TerminalReporter } from "../cli/progress.js";
import { expandPath } from "../config/folders.js";
import { type GlobalOptions, readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { MirrorUnusable, UsageError } from "../errors.js";
import { readInfo, withMirror, withMirrorFile, writeInfo } from "../store/database.js";
import { lockMirror } from "../store/lock.js";
import {
  backupFolder,
  backupName,
  copyMirror,
  isBackupName,
  readOrigin,
  replaceMirror,
} from "../store/mirror-copy.js";
import { resolveMirrorPath } from "../store/mirror-files.js";
import { openMirror, openMirrorReadOnly } from "../store/open.js";
import { redactMirror, scrubFile } from "../store/redaction.js";
import { readRedactionRules } from "../store/redaction-rules.js";
import { checkIdentity } from "../store/schema.js";
import { createFolder } from "../util/files.js";
import { errorCode } from "../util/system-errors.js";
import { printJson } from "../util/terminal.js";
import { escapeLines } from "../util/terminal-text.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";

type BackupFlags = GlobalOptions & { keep: number; restore?: string };

export const about =
  "The copy is a consistent snapshot, checked before it gets its final name. It contains no key.";

export const examples = {
  "brandapi backup /mnt/disk/brandapi --keep 30": "keep 30 copies on another disk",
  "brandapi backup --restore FILE": "replace the mirror with a backup",
};

export function define(command: Command): void {
  const restore = "replace the mirror with this copy; the current mirror is kept next to it";
  command
    .argument("[dir]", "an existing folder (default: `backups` next to the mirror)", parsePath)
    .addOption(
      parsedOption("--keep <n>", "number of copies to keep in the folder; 0 keeps all", parseCount).default(
        7,
      ),
    )
    .addOption(parsedOption("--restore <file>", restore, parsePath).conflicts("keep"));
}

export async function run(options: BackupFlags, { deps }: Context, dir: string | undefined): Promise<void> {
  const { json, keep, quiet, restore: file } = options;
  if (dir !== undefined && file !== undefined)
    throw new UsageError("`--restore` takes no folder.", { hint: "omit one of them" });
  const settings = await readSettings(options, deps);
  const { text, ...done } = await deps.withSignals("kill", async () =>
    file === undefined ? await backUp(dir, keep, settings, deps) : await restore(file, settings, deps),
  );
  if (json) printJson(deps.stdout, done);
  else if (!quiet) deps.stdout.write(`${escapeLines(text)}\n`);
}

async function backUp(dir: string | undefined, keep: number, { dbPath, output }: Settings, deps: Deps) {
  const reporter = new TerminalReporter(deps, output);
  // Another mirror with the same file name may have its copies in this folder.
  const origin = await withMirror(openMirrorReadOnly(dbPath, { reporter }), readOrigin);
  const folder = dir === undefined ? backupFolder(dbPath) : expandPath(dir, deps);
  if (dir === undefined) createFolder(folder, 0o700);
  const older: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (!isBackupName(name, dbPath)) continue;
    if (resolveMirrorPath(path) === resolveMirrorPath(dbPath)) continue;
    const copied = await withMirrorFile(path, readOrigin).catch(() => null);
    if (copied !== null && copied === origin) older.push(path);
  }
  const at = formatInstant(deps.clock.now());
  const path = join(folder, backupName(dbPath, at));
  const { copy, records } = await copyMirror(dbPath, folder, deps);
  // The copy has the note, too, because the mirror may be gone or damaged when the copy is restored.
  for (const file of [copy, dbPath])
    await withMirrorFile(file, (mirror) => {
      // A sync without a rate limit writes nearly all the time.
      mirror.db.pragma("busy_timeout = 30000");
      writeInfo(mirror, "last_backup", JSON.stringify({ at, path }));
    });
  renameSync(copy, path);
  const removed = [...older, path].slice(0, -keep);
  for (const old of removed) rmSync(old, { force: true });
  const made = `${path}: ${pluralize(records, "record")}, checked`;
  const text = [made, ...removed.map((old) => `removed: ${old}`)].join("\n");
  return { path, at, records, removed, text };
}

/**
 * Puts a copy in the mirror's place, without the hosts that were forgotten since, and sets the present mirror aside.
 * @throws MirrorUnusable if the copy is damaged, or of another brand: nothing is changed
 */
async function restore(file: string, { brand, dbPath, output }: Settings, deps: Deps) {
  const reporter = new TerminalReporter(deps, output);
  const { note, warn } = reporter;
  const from = expandPath(file, deps);
  if (!statSync(from).isFile())
    throw new MirrorUnusable(`A backup is a file: ${from}`, { hint: "name a file with `--restore`" });
  const db = resolveMirrorPath(dbPath);
  const aside = `${db}.before-${deps.clock.now()}`;
  const lock = await lockMirror(db, { wait: false, ...deps });
  try {
    const kept = existsSync(db) ? aside : null;
    const present = kept === null ? null : await readPresent(db);
    // A damaged mirror may have lost its runs only.
    const origin = present && (await withMirrorFile(db, readOrigin).catch(() => null));
    const { copy } = await copyMirror(from, dirname(db), deps);
    await withMirror(openMirror(copy, { isCopy: true, reporter }), (mirror) => {
      const [id, name] = [readInfo(mirror, "brand_id"), readInfo(mirror, "brand_name")];
      if (id !== (present?.brand ?? brand?.id ?? id))
        throw new MirrorUnusable(`The backup belongs to another brand, ${name} (${id}): ${from}`, {
          hint: "choose another backup, or name its profile: `--profile NAME`",
        });
      if (origin !== null && readOrigin(mirror) !== origin)
        warn(`the backup is of another mirror of this brand, with a history of its own: ${from}`);
      // Without a list since, the copy keeps its own: the next sync finds that it differs from the profile's.
      if (present) {
        const { lost } = redactMirror(
          mirror,
          present.forgotten,
          present.omit.length > 0 ? present.omit : undefined,
        );
        for (const each of lost) warn(each);
      }
      if (!scrubFile(mirror))
        throw new MirrorUnusable(`The disk is full: ${db}`, { hint: "free some space" });
      if (present?.backup) writeInfo(mirror, "last_backup", present.backup);
      // On a full disk the log would stay behind, and with it what it holds.
      mirror.db.pragma("journal_mode = DELETE");
    });
    const unknown = "hosts forgotten after this backup must be forgotten again: `brandapi forget --host ID`";
    if (!present) warn(completeHint(unknown, output));
    // Ends the log, so the mirror is one file. Fails if another program has it open.
    if (present) await withMirrorFile(db, (mirror) => mirror.db.pragma("journal_mode = DELETE"));
    replaceMirror(copy, db, aside);
    if (kept) note(`The previous mirror is kept: ${kept}`);
    note(completeHint("Next: `brandapi sync` reads what is newer.", output));
    return { db, restored: from, kept, text: `${db}: restored from ${from}` };
  } finally {
    lock.release();
  }
}

/** Returns what the copy takes over from the present mirror; null if that is damaged. */
async function readPresent(path: string) {
  return await withMirrorFile(path, (mirror) => {
    checkIdentity(mirror);
    const [brand, backup] = ["brand_id", "last_backup"].map((name) => readInfo(mirror, name));
    return { brand, backup, ...readRedactionRules(mirror) };
  }).catch((error: Error) => {
    if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(errorCode(error.cause ?? error))) return null;
    throw error;
  });
}
