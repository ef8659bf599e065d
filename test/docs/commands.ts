import type { CommandSpec, Flag } from "../../src/commands/command.js";
import { globalFlags } from "../../src/commands/globals.js";
import { inHelpOrder } from "../../src/commands/groups.js";
import { commands } from "../../src/commands/index.js";
import { exitMeanings } from "../../src/errors.js";
import { formats } from "../../src/export/formats/index.js";
import { table } from "./markdown.js";

/** The documents' parts that follow from the registries of commands, formats and exit codes. */
export function commandSections(): [name: string, text: string][] {
  return [
    ["commands", overview()],
    ["flags everywhere", flagTable(globalFlags)],
    ...commands
      .filter(({ flags }) => flags.length > 0)
      .map((spec): [string, string] => [`flags ${spec.name}`, flagTable(spec.flags)]),
    ["formats", formatTable()],
    ["exit codes", exitTable()],
  ];
}

function overview(): string {
  return table(
    ["command", "does"],
    inHelpOrder(commands).map((spec) => [`[\`${usage(spec)}\`](#${spec.name})`, spec.summary]),
  );
}

function usage({ name, arguments: args }: CommandSpec): string {
  return [name, ...args.map(({ syntax }) => syntax)].join(" ");
}

function flagTable(flags: readonly Flag[]): string {
  return table(
    ["flag", "does", "default"],
    flags.map(({ flags: spelling, about, choices, shown }) => [
      `\`${spelling}\``,
      choices ? `${about}: ${choices.map((choice) => `\`${choice}\``).join(", ")}` : about,
      shown === undefined ? "" : `\`${shown}\``,
    ]),
  );
}

function formatTable(): string {
  return table(
    ["flag", "gives", "chosen by the name of `-o`"],
    formats.map(({ flag, about, extensions }) => [
      `\`${flag}\``,
      about,
      extensions.map((extension) => `\`${extension}\``).join(", "),
    ]),
  );
}

function exitTable(): string {
  return table(
    ["code", "meaning"],
    Object.entries(exitMeanings).map(([code, meaning]) => [code, meaning]),
  );
}
