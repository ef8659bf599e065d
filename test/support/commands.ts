import type { Command } from "commander";
import { scanCommandLine } from "../../src/cli/flags.js";
import { exitCodes } from "../../src/errors.js";
import { buildProgram } from "../../src/program.js";
import { testDeps } from "./program.js";

export async function programTree(): Promise<Command> {
  return await buildProgram({
    deps: testDeps(),
    commandLine: scanCommandLine([]),
    brandapi: async () => exitCodes.done,
  });
}

/** All commands except `help`. */
export const commands: readonly Command[] = (await programTree()).commands.filter(
  (command) => command.name() !== "help",
);

/** Returns the example command lines from the command's help. */
export function examplesOf(command: Command): string[] {
  let help = "";
  command
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
    })
    .outputHelp();
  return [...help.matchAll(/^ {2}\$ (.+)$/gm)].map(([, line = ""]) => line);
}
