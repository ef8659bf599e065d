import type { Deps } from "../deps.js";
import type { ExitCode } from "../errors.js";

/** The surroundings of a command, besides its arguments and options. */
export interface Context {
  deps: Deps;
  /** The profile's name while a command goes through all of them: JSON lines carry it. */
  profile?: string;
  /** The program's exit code if no error is thrown. */
  exitCode: ExitCode;
  /**
   * Prints an error as the program does at its end, for a command that goes on.
   * @param profile set if the error belongs to one profile of several
   * @returns the error's exit code
   */
  tell(error: unknown, profile?: string): ExitCode;
  /** Runs another command line of this program; throws what that command throws. */
  brandapi(argv: readonly string[], deps: Deps): Promise<void>;
}
