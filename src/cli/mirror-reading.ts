import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { addRestoreHint } from "../store/mirror/backups.js";
import { type Mirror, withMirror, withReadTransaction } from "../store/mirror/database.js";
import { openMirrorReadOnly } from "../store/mirror/open.js";
import { type Style, styleFor } from "../util/terminal.js";
import { terminalWidth } from "../util/terminal-text.js";
import { TerminalReporter } from "./progress.js";

/** What a command needs to read the mirror and to print. */
export interface ReadSession {
  deps: Deps;
  mirror: Mirror;
  reporter: TerminalReporter;
  /** The style of stdout. */
  style: Style;
  /** The columns of the terminal; undefined if stdout is a file or a pipe. */
  width: number | undefined;
}

/**
 * Opens the mirror for work that reads it in one transaction, and closes it when the work has ended. A signal kills the process,
 * because a long SQLite statement cannot be interrupted (signals.ts).
 */
export async function readMirror<T>(
  flags: GlobalFlags,
  deps: Deps,
  work: (session: ReadSession) => Promise<T>,
): Promise<T> {
  const { dbPath } = await readSettings(flags, deps);
  const reporter = new TerminalReporter(deps, flags);
  const style = styleFor(deps.stdout, flags, deps.env);
  const width = terminalWidth(deps.stdout);
  const read = (mirror: Mirror) =>
    withReadTransaction(mirror, () => work({ deps, mirror, reporter, style, width }));
  try {
    return await deps.runKillable(() => withMirror(openMirrorReadOnly(dbPath, { reporter }), read));
  } catch (error) {
    throw await addRestoreHint(error, dbPath);
  } finally {
    reporter.close();
  }
}
