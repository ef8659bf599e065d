import type { Command, CommanderError } from "commander";
import { UsageError } from "../errors.js";
import { abbreviateArguments } from "../util/redact-keys.js";
import { closestName, suggestName } from "../util/suggestions.js";
import { findCommandName } from "./flags.js";

/** Returns commander's error in this program's words, with the nearest valid name, or the help to read, as its hint. */
export function toUsageError(cause: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const message = abbreviateArguments(cause.message, argv)
    .replace(/^error: /, "")
    .replace(/\.$/, "");
  const [text = "", choices = ""] = message.split(/ Allowed choices are |\n/);
  const invalid = /(?:argument|value) '(.*?)' is invalid/.exec(text)?.[1];
  const typed = invalid ?? /'(.*?)'/.exec(text)?.[1] ?? "";
  const argument = /is invalid for argument '(.*?)'/.exec(text)?.[1];
  const name = findCommandName(argv);
  const command = program.commands.find((one) => one.name() === name);
  const options = [...(command?.options ?? []), ...program.options];
  const meant = (names: readonly string[]) => {
    const near = closestName(typed, names);
    return near && `did you mean \`${near}\`?`;
  };
  const unknown = (what: string) => `Unknown ${what}: '${typed}'`;
  const quotes = command?.name() === "query" ? "put the statement in quotes" : undefined;
  const wordings: Record<string, readonly [message: string, hint?: string | undefined]> = {
    "commander.help": ["No command was given"],
    "commander.unknownCommand": [unknown("command"), meant(program.commands.map((one) => one.name()))],
    "commander.unknownOption": [text, meant(options.flatMap(({ long }) => long ?? []))],
    "commander.invalidArgument": [
      argument ? unknown(argument) : text,
      suggestName(typed, choices.split(", ")),
    ],
    "commander.conflictingOption": [text, "leave one of them out"],
    "commander.excessArguments": [text, quotes],
  };
  const [sentence, hint] = wordings[cause.code] ?? [text];
  const help = `see \`brandapi ${command ? `${command.name()} ` : ""}--help\``;
  const words = sentence.replace(/'([^']*)'/g, "`$1`").replace(/\.?$/, ".");
  return new UsageError(words.charAt(0).toUpperCase() + words.slice(1), { hint: hint ?? help, cause });
}
