import type { Command } from "commander";
import { exitCodes } from "../../src/errors.js";
import { buildProgram } from "../../src/program.js";
import { testDeps } from "./program.js";

/** Commander's tree as the program has it; nothing of it is run. */
export async function programTree(): Promise<Command> {
  return await buildProgram({ deps: testDeps(), argv: [], brandapi: async () => exitCodes.done });
}

/** The commands that do something: all but `help`. */
export const commands: readonly Command[] = (await programTree()).commands.filter(
  (one) => one.name() !== "help",
);

/** The command lines that its help shows. */
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
