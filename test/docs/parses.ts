import { CommanderError } from "commander";
import { asUsageError } from "../../src/commands/usage.js";
import { UsageError } from "../../src/errors.js";
import { programTree } from "../support/commands.js";

/**
 * Parses a command line as the program does, without running the command.
 * @returns the error; empty if there is none
 */
export async function parses(words: readonly string[]): Promise<string> {
  const program = await programTree();
  for (const command of program.commands) command.action(() => {});
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) return asUsageError(error, program, words).message;
  }
  return "";
}
