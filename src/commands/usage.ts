import type { Command, CommanderError } from "commander";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";

/** Commander's complaint in this program's words, with the nearest valid name or where to look as its hint. */
export function asUsageError(cause: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const [text = ""] = cause.message.replace(/^error: /, "").split("\n");
  const quoted = /'(.*?)'/.exec(text)?.[1] ?? "";
  const commands = program.commands.map((one) => one.name());
  const command = program.commands.find((one) => argv.includes(one.name()));
  const seeHelp = `see \`brandapi ${command ? `${command.name()} ` : ""}--help\``;
  if (cause.code === "commander.help")
    return new UsageError("No command was given.", { hint: "see `brandapi --help`", cause });
  if (cause.code === "commander.unknownCommand") {
    const near = nearest(quoted, commands);
    const hint = near ? `did you mean \`brandapi ${near}\`?` : "see `brandapi --help`";
    return new UsageError(`Unknown command: \`${quoted}\`.`, { hint, cause });
  }
  const flags = [...(command?.options ?? []), ...program.options].flatMap(({ long }) => long ?? []);
  const choices = /argument '(.*)' is invalid\. Allowed choices are (.+)\.$/.exec(text);
  const near =
    cause.code === "commander.unknownOption"
      ? nearest(quoted, flags)
      : nearest(choices?.[1] ?? "", choices?.[2]?.split(", ") ?? []);
  return new UsageError(asSentence(text), { hint: near ? `did you mean \`${near}\`?` : seeHelp, cause });
}

function asSentence(text: string): string {
  const words = text.replace(/'([^']*)'/g, "`$1`").replace(/\.?$/, ".");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
