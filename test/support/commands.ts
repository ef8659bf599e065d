import type { Command } from "commander";
import { buildProgram } from "../../src/program.js";
import { testDeps } from "./program.js";

export const commands: readonly Command[] = (await buildProgram(testDeps())).commands.filter(
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
