import { Command, Help } from "commander";
import type { Deps } from "../deps.js";
import { durationForms, timeForms } from "../lib/times.js";
import { addGlobalFlags } from "./flags.js";

/** An example of a command's help: the command line, and what it is for. */
export type Example = readonly [command: string, about: string];

type HelpText = (context: { command: Command }) => string;

/** Returns the examples of a command's help. A command line stays on one line, because it is copied. */
export function examples(...all: readonly Example[]): HelpText {
  return ({ command }) => {
    const lines = all.map(([line, about]) => `  $ ${line}\n${wrapped(command, about, "      ")}`);
    return `\nExamples:\n${lines.join("\n")}`;
  };
}

/** Returns a list under a heading, for a command's help. */
export function notes(heading: string, lines: readonly string[]): HelpText {
  return ({ command }) => `\n${heading}:\n${lines.map((line) => wrapped(command, line, "  - ")).join("\n")}`;
}

/** Makes commander's help shorter; the program's own lists `--help`, `--version` and the commands. */
export function setUpHelp(program: Command, deps: Deps): void {
  program
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({
      minWidthToWrap: 12,
      subcommandTerm: (command) => command.name(),
      commandDescription: (command) =>
        [command.summary(), command.description()].filter((text) => text !== "").join("\n\n"),
      visibleOptions(command) {
        const options = Help.prototype.visibleOptions.call(this, command);
        const isOwn = ({ long }: { long?: string }) => long === "--help" || long === "--version";
        return command === program ? options.filter(isOwn) : options;
      },
    })
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(deps.stdout.columns || 80, 100),
      getOutHasColors: () => false,
    })
    .addHelpText("afterAll", ({ command }) => `\n${command === program ? closing : closingOf(command)}`);
}

const closing = [
  "Each command's own help has examples: `brandapi help sync`.",
  "Flags that every command takes, such as --profile: `brandapi help flags`.",
  "No key yet? `brandapi demo` shows everything against a built-in sandbox.",
].join("\n");

/** Returns the end of a command's help: where the other flags are, and how times are written. */
function closingOf(command: Command): string {
  const takes = (...values: readonly string[]) =>
    command.options.some(({ flags, hidden }) => !hidden && values.some((value) => flags.endsWith(value)));
  const hasRare = command.options.some(({ hidden }) => hidden);
  const more = hasRare ? `More flags: \`brandapi help ${command.name()} --all\`. ` : "";
  return [
    `${more}Flags that every command takes, such as --profile: \`brandapi help flags\`.`,
    ...(takes("<time>") ? [`Times, all UTC: ${timeForms}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationForms}.`] : []),
  ]
    .map((line) => wrapped(command, line, ""))
    .join("\n");
}

/** `brandapi help [command] [--all]`, and `brandapi help flags`. */
export function helpCommand(program: Command): Command {
  return new Command("help")
    .summary("Show help for a command")
    .argument("[command]", "a command, or `flags`")
    .helpOption(false)
    .option("-h, --help", "the same as without")
    .option("--all", "also the flags that few need")
    .action((name: string | undefined, { all }: { all?: boolean }) => {
      const isProgram = name === undefined || name === "help";
      const command = isProgram
        ? program
        : [...program.commands, flagsPage(program)].find((one) => one.name() === name);
      if (!command)
        return program.error(`error: unknown command '${name}'`, { code: "commander.unknownCommand" });
      if (all) for (const option of command.options) option.hideHelp(false);
      command.outputHelp();
    });
}

/** Returns the flags of every command, and how times and durations are written, as a command that is never run. */
function flagsPage(program: Command): Command {
  const page = addGlobalFlags(new Command("flags").copyInheritedSettings(program)).helpOption(false);
  const forms = [`Times, all UTC: ${timeForms}.`, `Durations: ${durationForms}.`];
  return page
    .configureHelp({ ...program.configureHelp(), commandUsage: () => "brandapi <command> [flags]" })
    .description(
      "The flags of every command, before its name or after it. A flag goes before the environment, the environment " +
        "before the profile.",
    )
    .addHelpText("after", `\n${forms.map((text) => wrapped(program, text, "")).join("\n\n")}`);
}

/** Returns the text after `mark`, its later lines indented under the first. */
function wrapped(command: Command, text: string, mark: string): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  const lines = command.createHelp().boxWrap(text, Math.max(20, width - mark.length));
  const indent = " ".repeat(mark.length);
  return lines.replace(/^/gm, indent).replace(indent, mark);
}
