import { type GlobalOptions, readSettings } from "../config/settings.js";
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
 * Opens the mirror for work that reads it in one transaction, and closes it afterwards. A signal during the work ends the process
 * at once, because a long SQLite statement cannot be interrupted (signals.ts).
 */
export async function readMirror(
  options: GlobalOptions,
  deps: Deps,
  work: (session: ReadSession) => Promise<void>,
): Promise<void> {
  const { dbPath } = await readSettings(options, deps);
  const reporter = new TerminalReporter(deps, options);
  const read = async (mirror: Mirror) => {
    const style = styleFor(deps.stdout, options, deps.env);
    const session = { deps, mirror, reporter, style, width: terminalWidth(deps.stdout) };
    await withReadTransaction(mirror, () => work(session));
  };
  try {
    await deps.withSignals("kill", () => withMirror(openMirrorReadOnly(dbPath, { reporter }), read));
  } catch (error) {
    throw await addRestoreHint(error, dbPath);
  } finally {
    reporter.close();
  }
}
