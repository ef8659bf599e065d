import { type Command, Help } from "commander";
import type { Deps } from "../deps.js";
import { durationForms, timeForms } from "../lib/times.js";

/** The headings of a command's own flags, and of those that every command takes. */
export const ownFlags = "Options:";
export const flagsEverywhere = "Flags everywhere:";

/** What the program's help says last. */
export const closing = `
Each command's own help has examples: \`brandapi help sync\`.
Flags that every command takes, such as --profile: \`brandapi help flags\`.
No key yet? \`brandapi demo\` shows everything against a built-in sandbox.`;

/** The same for a command: the flags of everywhere would bury its own. */
export const commandClosing = "Flags that every command takes, such as --profile: `brandapi help flags`.";

/** `export <table>`, without the `[options]` that every command has. */
export function subcommandTerm(command: Command): string {
  const words = command.registeredArguments.map((one) => {
    const name = one.name() + (one.variadic ? "..." : "");
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

/** As commander lays it out, but without the flags of everywhere; where there are commands, they come first. */
export function formatHelp(command: Command, help: Help): string {
  const sections = sectionsOf(command, help).filter((section) => !section.startsWith(flagsEverywhere));
  if (command.commands.length === 0) return `${sections.join("\n\n")}\n`;
  const isFlags = (section: string) => section.startsWith(ownFlags);
  return `${[...sections.filter((one) => !isFlags(one)), ...sections.filter(isFlags)].join("\n\n")}\n`;
}

/** `brandapi help flags`: what every command takes, and the forms of the times and durations that some of them do. */
export function flagsHelp(program: Command, width: number): string {
  const help = program.createHelp();
  help.prepareContext({ helpWidth: width });
  const flags = sectionsOf(program, help).find((section) => section.startsWith(flagsEverywhere)) ?? "";
  const more = [
    "They stand before the command's name or after it. A flag goes before the environment, the environment before " +
      "what the profile has stored.",
    `Times, all UTC: ${timeForms}.`,
    `Durations: ${durationForms}.`,
  ];
  return `${[flags, ...more.map((text) => wrapped(program, text, "", width))].join("\n\n")}\n`;
}

/** A line after `mark`, its second line on indented under the first. */
export function wrapped(command: Command, line: string, mark: string, width: number): string {
  const indent = " ".repeat(mark.length);
  const text = command.createHelp().boxWrap(line, Math.max(20, width - mark.length));
  return text.replace(/^/gm, indent).replace(indent, mark);
}

/** As wide as the terminal, or as `COLUMNS` says where there is none, but no wider than reads well. */
export function helpWidth({ stdout, env }: Pick<Deps, "stdout" | "env">): number {
  const asked = /^[1-9]\d{0,4}$/.test(env.COLUMNS ?? "") ? Number(env.COLUMNS) : 80;
  return Math.min(stdout.columns || asked, 100);
}

function sectionsOf(command: Command, help: Help): string[] {
  return Help.prototype.formatHelp.call(help, command, help).trimEnd().split("\n\n");
}
