import { type GlobalOptions, readSettings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { type Mirror, withMirror, withReadTransaction } from "../store/database.js";
import { openMirrorReadOnly } from "../store/open.js";
import { addRestoreHint } from "../store/restore-hint.js";
import { type Style, styleFor } from "../util/terminal.js";
import { terminalWidth } from "../util/terminal-text.js";
import { TerminalReporter } from "./progress.js";

/** The means of a command that reads the mirror. */
export interface ReadSession {
  deps: Deps;
  mirror: Mirror;
  reporter: TerminalReporter;
  /** How stdout is written to; `width`: the terminal's columns, undefined for files and pipes. */
  style: Style;
  width: number | undefined;
}

/** Opens one state of the mirror for reading, as long as `work` takes. A signal meanwhile ends the process at once. */
export async function readMirror(
  options: GlobalOptions,
  deps: Deps,
  work: (reading: ReadSession) => Promise<void>,
): Promise<void> {
  const { dbPath } = await readSettings(options, deps);
  const reporter = new TerminalReporter(deps, options);
  const read = async (mirror: Mirror) => {
    const style = styleFor(deps.stdout, options, deps.env);
    const reading = { deps, mirror, reporter, style, width: terminalWidth(deps.stdout) };
    await withReadTransaction(mirror, () => work(reading));
  };
  try {
    await deps.withSignals("kill", () => withMirror(openMirrorReadOnly(dbPath, { reporter }), read));
  } catch (error) {
    throw await addRestoreHint(error, dbPath);
  } finally {
    reporter.close();
  }
}
