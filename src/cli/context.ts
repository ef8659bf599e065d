import type { Deps } from "../deps.js";
import type { ExitCode } from "../errors.js";

/** The context of a command, besides its options and arguments. */
export interface Context {
  deps: Deps;
  /** The command line, after `brandapi`. */
  argv: readonly string[];
  /** The profile's name while a command runs for every profile. */
  profile?: string;
  /** Runs another command line of this program and returns its exit code. Throws what that command throws. */
  brandapi(argv: readonly string[], deps: Deps): Promise<ExitCode>;
}
