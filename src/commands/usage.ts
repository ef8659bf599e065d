import type { Command, CommanderError } from "commander";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";

/** Commander's complaint in this program's words, with the nearest valid name or where to look as its hint. */
export function asUsageError(error: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const command = argv.find((word) => program.commands.some((one) => one.name() === word));
  const seeHelp = `see \`brandapi ${command ? `${command} --help` : "--help"}\``;
  const names = program.commands.map((one) => one.name());
  if (error.code === "commander.help") {
    const asked = argv[argv.indexOf("help") + 1];
    if (argv.includes("help") && asked) return unknownCommand(asked, names);
    return new UsageError("No command was given.", { hint: "see `brandapi --help`", cause: error });
  }
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  if (error.code === "commander.unknownCommand") return unknownCommand(quoted(first), names);
  const hint = nearestChoice(first) ?? suggested(rest.join(" ")) ?? seeHelp;
  return new UsageError(asSentence(first), { hint, cause: error });
}

function unknownCommand(typed: string, names: readonly string[]): UsageError {
  const near = nearest(typed, names);
  return new UsageError(`Unknown command: \`${typed}\`.`, {
    hint: near ? `did you mean \`brandapi ${near}\`?` : "see `brandapi --help`",
  });
}

/** "option '--a <b>' argument 'c' is invalid. Allowed choices are d, e." */
function nearestChoice(message: string): string | undefined {
  const match = /argument '(.*)' is invalid\. Allowed choices are (.+)\.$/.exec(message);
  const near = nearest(match?.[1] ?? "", match?.[2]?.split(", ") ?? []);
  return near && `did you mean \`${near}\`?`;
}

function suggested(lines: string): string | undefined {
  const names = /Did you mean (?:one of )?(.+?)\?\)/.exec(lines)?.[1];
  return names && `did you mean \`${names.split(", ").join("` or `")}\`?`;
}

function asSentence(text: string): string {
  const words = text.replace(/'([^']*)'/g, "`$1`").replace(/\.?$/, ".");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function quoted(text: string): string {
  return /'(.*)'/.exec(text)?.[1] ?? text;
}
