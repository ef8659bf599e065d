import { type GlobalFlags, readSettings } from "../config/settings.js";
import { noteMisspelledVariables } from "../config/variables.js";
import type { Deps } from "../deps.js";
import { type Mirror, withMirror, withReadTransaction } from "../store/database.js";
import { openMirrorForReading } from "../store/open.js";
import { pathExists } from "../util/files.js";
import { createStyle, type Style, terminalWidth } from "../util/terminal.js";
import { createMissingMirrorError, explainMirrorError } from "./mirror-errors.js";
import { TerminalReporter } from "./progress.js";

/** The open mirror and the output settings of a read-only command. */
export interface ReadSession {
  deps: Deps;
  mirror: Mirror;
  reporter: TerminalReporter;
  style: Style;
  /** The terminal's width in columns; undefined if stdout is not a terminal. */
  width: number | undefined;
}

/**
 * Opens the mirror, runs `work` in a read transaction, and closes the mirror. Reads all settings, including the key, so
 * that an invalid environment variable is reported.
 */
export async function withReadSession<T>(
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
      withReadTransaction(mirror, () => work({ deps, mirror, reporter, style, width })),
    );
  } catch (error) {
    throw await explainMirrorError(error, dbPath);
  } finally {
    reporter.close();
  }
}
