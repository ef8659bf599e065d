import type { Command, CommanderError } from "commander";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";

/** Returns commander's error in this program's words, with the nearest valid name, or the help to read, as its hint. */
export function asUsageError(cause: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const [text = ""] = cause.message.replace(/^error: /, "").split("\n");
  const typed = /'(.*?)'/.exec(text)?.[1] ?? "";
  const command = program.commands.find((one) => argv.includes(one.name()));
  const help = `see \`brandapi ${command ? `${command.name()} ` : ""}--help\``;
  const suggest = (near: string | undefined) => (near ? `did you mean \`${near}\`?` : help);
  switch (cause.code) {
    case "commander.help":
      return new UsageError("No command was given.", { hint: help, cause });
    case "commander.excessArguments": {
      const hint = command?.name() === "query" ? "put the statement in quotes" : help;
      return new UsageError(asSentence(text), { hint, cause });
    }
    case "commander.unknownCommand": {
      const near = nearest(
        typed,
        program.commands.map((one) => one.name()),
      );
      const hint = near ? `did you mean \`brandapi ${near}\`?` : "see `brandapi --help`";
      return new UsageError(`Unknown command: \`${typed}\`.`, { hint, cause });
    }
    case "commander.unknownOption": {
      const flags = [...(command?.options ?? []), ...program.options].flatMap(({ long }) => long ?? []);
      return new UsageError(asSentence(text), { hint: suggest(nearest(typed, flags)), cause });
    }
    case "commander.conflictingOption":
      return new UsageError(asSentence(text), { hint: "leave one of them out", cause });
    default: {
      const [, value = "", choices = ""] =
        /argument '(.*)' is invalid\. Allowed choices are (.+)\.$/.exec(text) ?? [];
      return new UsageError(asSentence(text), { hint: suggest(nearest(value, choices.split(", "))), cause });
    }
  }
}

function asSentence(text: string): string {
  const words = text.replace(/'([^']*)'/g, "`$1`").replace(/\.?$/, ".");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
