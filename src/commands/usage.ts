import type { Command, CommanderError } from "commander";
import { UsageError } from "../errors.js";
import { nearest, suggest } from "../lib/nearest.js";

/** Returns commander's error in this program's words, with the nearest valid name, or the help to read, as its hint. */
export function asUsageError(cause: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const [text = ""] = cause.message.replace(/^error: /, "").split("\n");
  const typed = /'(.*?)'/.exec(text)?.[1] ?? "";
  const command = program.commands.find((one) => argv.includes(one.name()));
  const help = `see \`brandapi ${command ? `${command.name()} ` : ""}--help\``;
  const meant = (names: readonly string[]) => {
    const near = nearest(typed, names);
    return near ? `did you mean \`${near}\`?` : help;
  };
  const usage = (message: string, hint: string) => new UsageError(asSentence(message), { hint, cause });
  switch (cause.code) {
    case "commander.help":
      return usage("No command was given", help);
    case "commander.excessArguments":
      return usage(text, command?.name() === "query" ? "put the statement in quotes" : help);
    case "commander.unknownCommand":
      return usage(`Unknown command: '${typed}'`, meant(program.commands.map((one) => one.name())));
    case "commander.unknownOption":
      return usage(
        text,
        meant([...(command?.options ?? []), ...program.options].flatMap(({ long }) => long ?? [])),
      );
    case "commander.conflictingOption":
      return usage(text, "leave one of them out");
    case "commander.invalidArgument": {
      const [said = "", choices = ""] = text.replace(/\.$/, "").split(" Allowed choices are ");
      const value = /(?:argument|value) '(.*?)' is invalid/.exec(said)?.[1] ?? "";
      const argument = /for argument '(.*?)'/.exec(said)?.[1];
      return usage(
        argument ? `Unknown ${argument}: '${value}'` : said,
        suggest(value, choices.split(", ")) ?? help,
      );
    }
    default:
      return usage(text, help);
  }
}

function asSentence(text: string): string {
  const words = text.replace(/'([^']*)'/g, "`$1`").replace(/\.?$/, ".");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
