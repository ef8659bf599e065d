import { join } from "node:path";
import { explainMissing, refuseUnknownProfile } from "../config/missing-credentials.js";
import { type GlobalFlags, readSettings, type Settings } from "../config/settings.js";
import { noteMisspelledVariables } from "../config/variables.js";
import type { Deps } from "../deps.js";
import { type ConfigurationError, MirrorUnusable } from "../errors.js";
import { lastBackupHint } from "../store/backups.js";
import { type Mirror, withMirror, withReadTransaction } from "../store/database.js";
import { createNoMirrorError, openMirrorForReading } from "../store/open.js";
import { pathExists } from "../util/files.js";
import { explainOpenError, explainSqlite, isDamaged } from "../util/system-errors.js";
import { createStyle, type Style, terminalWidth } from "../util/terminal.js";
import { TerminalReporter } from "./progress.js";

/** The open mirror and the output settings of a read-only command. */
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
  const reporter = new TerminalReporter(deps, flags);
  noteMisspelledVariables(flags, deps.env, reporter.note);
  const style = createStyle(deps.stdout, flags, deps.env);
  const width = terminalWidth(deps.stdout);
  try {
    if (!pathExists(dbPath)) throw createMissingMirrorError(settings, deps);
    return await withMirror(openMirrorForReading(dbPath, { reporter }), (mirror) =>
      withReadTransaction(mirror, () => work({ deps, flags, mirror, reporter, style, width })),
    );
  } catch (error) {
    throw await explainMirrorError(error, dbPath);
  } finally {
    reporter.close();
  }
}

/**
 * Creates the error for a missing mirror. The hint depends on whether the user passed a path, has a key, and has run
 * the demo.
 * @throws ConfigurationError if the profile is unknown
 */
export function createMissingMirrorError(settings: Settings, deps: Deps): ConfigurationError {
  const { dbPath, key, passedFlags } = settings;
  const firstSync =
    key === undefined ? "run `brandapi login`, then `brandapi sync`" : "run `brandapi sync` first";
  if (passedFlags.db !== undefined) return createNoMirrorError(dbPath, `check the path, or ${firstSync}`);
  refuseUnknownProfile(settings, deps);
  const demo = join("brandapi-demo", "demo.sqlite");
  if (pathExists(join(deps.cwd, demo)))
    return createNoMirrorError(
      dbPath,
      `add \`--db ${demo}\` to use the demo's mirror; for your own brand, ${firstSync}`,
    );
  if (key !== undefined) return createNoMirrorError(dbPath, firstSync);
  const missing = explainMissing(settings, deps);
  return createNoMirrorError(dbPath, missing?.hint ?? `${firstSync}; without a key, try \`brandapi demo\``);
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
