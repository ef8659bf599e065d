import type { Deps } from "../deps.js";
import type { ExitCode } from "../errors.js";

/** What a command receives in addition to its flags and arguments. */
export interface Context {
  deps: Deps;
  /** The words on the command line after `brandapi`. */
  argv: readonly string[];
  /** The name of the current profile, if the command runs for all profiles. */
  profile?: string;
  /** Runs another `brandapi` command and returns its exit code. Throws the error of that command. */
  brandapi(argv: readonly string[], deps: Deps): Promise<ExitCode>;
}
