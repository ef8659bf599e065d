import type { Command, Option } from "commander";
import { exitMeanings } from "../../src/errors.js";
import { formats } from "../../src/export/formats/index.js";
import { table } from "./markdown.js";
import { programTree } from "./program.js";

const commands = programTree().commands.filter((one) => one.name() !== "help");

/** The documents' parts that follow from the registries of commands, formats and exit codes. */
export function commandSections(): [name: string, text: string][] {
  return [
    ["commands", overview()],
    ["flags everywhere", flagTable(programTree().options)],
    ...commands
      .filter(({ options }) => options.length > 0)
      .map((command): [string, string] => [`flags ${command.name()}`, flagTable(command.options)]),
    ["formats", formatTable()],
    ["exit codes", exitTable()],
  ];
}

function overview(): string {
  return table(
    ["command", "does"],
    commands.map((command) => [`[\`${usage(command)}\`](#${command.name()})`, command.summary()]),
  );
}

function usage(command: Command): string {
  const words = command.registeredArguments.map((one) => {
    const name = one.name() + (one.variadic ? "..." : "");
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

function flagTable(options: readonly Option[]): string {
  return table(
    ["flag", "does"],
    options.map(({ flags, description, argChoices }) => [
      `\`${flags}\``,
      argChoices ? `${description}: ${argChoices.map((choice) => `\`${choice}\``).join(", ")}` : description,
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
