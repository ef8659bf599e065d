import { join } from "node:path";
import { type GlobalFlags, readSettings, refuseUnknownProfile, type Settings } from "../config/settings.js";
import { noteMisspelledVariables } from "../config/variables.js";
import type { Deps } from "../deps.js";
import { MirrorUnusable } from "../errors.js";
import { lastBackupHint } from "../store/backups.js";
import { type Mirror, withMirror, withReadTransaction } from "../store/database.js";
import { openMirrorForReading } from "../store/open.js";
import { pathExists } from "../util/files.js";
import { explainOpenError, explainSqlite, isDamaged } from "../util/system-errors.js";
import { createStyle, type Style, terminalWidth } from "../util/terminal.js";
import { TerminalReporter } from "./progress.js";

/** What a read-only command works with: the open mirror, and the settings for its output. */
export interface ReadSession {
  deps: Deps;
  /** Flags from the command line that `completeHint` adds to suggested commands. */
  flags: GlobalFlags;
  mirror: Mirror;
  reporter: TerminalReporter;
  style: Style;
  /** The terminal's width in columns; undefined if stdout is not a terminal. */
  width: number | undefined;
}

/** Opens the mirror, runs `work` in a read transaction, and closes the mirror. */
export async function readMirror<T>(
  flags: GlobalFlags,
  deps: Deps,
  work: (session: ReadSession) => Promise<T>,
): Promise<T> {
  const settings = readSettings(flags, deps);
  const { dbPath } = settings;
  if (flags.db === undefined && !pathExists(dbPath)) refuseUnknownProfile(settings);
  const reporter = new TerminalReporter(deps, flags);
  noteMisspelledVariables(settings, reporter.note);
  const style = createStyle(deps.stdout, flags, deps.env);
  const width = terminalWidth(deps.stdout);
  const missingHint = missingMirrorHint(settings, deps);
  try {
    return await withMirror(openMirrorForReading(dbPath, { reporter, missingHint }), (mirror) =>
      withReadTransaction(mirror, () => work({ deps, flags, mirror, reporter, style, width })),
    );
  } catch (error) {
    throw await explainMirrorError(error, dbPath);
  } finally {
    reporter.close();
  }
}

/** Returns the hint for a missing mirror. It depends on whether the user has a key and has run the demo. */
function missingMirrorHint({ key, missingReason, output }: Settings, { cwd }: Pick<Deps, "cwd">): string {
  const demo = join("brandapi-demo", "demo.sqlite");
  const ownBrand =
    key === undefined ? "run `brandapi login`, then `brandapi sync`" : "run `brandapi sync` first";
  if (output.db === undefined && pathExists(join(cwd, demo)))
    return `add \`--db ${demo}\` to use the demo's mirror; for your own brand, ${ownBrand}`;
  if (key === undefined && missingReason) return missingReason.hint;
  return key === undefined ? `${ownBrand}; without a key, try \`brandapi demo\`` : ownBrand;
}

/**
 * Adds the mirror's path to an error from SQLite. If the mirror is damaged, the hint is the command that restores the
 * newest backup. Returns other errors unchanged.
 */
export async function explainMirrorError(error: unknown, path: string): Promise<unknown> {
  const explained = isDamaged(error) ? explainOpenError(error, path) : (explainSqlite(error, path) ?? error);
  if (!(explained instanceof MirrorUnusable) || !isDamaged(explained.cause)) return explained;
  const { message, cause } = explained;
  const hint = await lastBackupHint(path);
  return hint === null ? explained : new MirrorUnusable(message, { hint, cause });
}
