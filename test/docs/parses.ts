import { CommanderError } from "commander";
import { UsageError } from "../../src/errors.js";
import { findResource } from "../../src/resources/registry.js";
import { programTree } from "../support/commands.js";

/**
 * Parses a command line as the program does, without running the command.
 * @returns the error message, or an empty string if there is none
 */
export async function parses(words: readonly string[]): Promise<string> {
  const program = await programTree();
  const wrong: string[] = [];
  for (const command of program.commands)
    command.action((...received) => {
      const takesResources = command.registeredArguments.some((one) => one.name() === "resource");
      const names = takesResources ? [received[0] ?? []].flat() : [];
      wrong.push(
        ...names.filter((name) => !findResource(name)).map((name) => `Unknown resource: \`${name}\`.`),
      );
    });
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError || error instanceof UsageError)) throw error;
    if (!("exitCode" in error) || error.exitCode !== 0) wrong.push(error.message);
  }
  return wrong.join("; ");
}
