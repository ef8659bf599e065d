import { Command } from "commander";
import type { Deps } from "../deps.js";
import { durationForms, timeForms } from "../lib/times.js";

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

/** Makes commander's help shorter, and ends it with what is said elsewhere. */
export function setUpHelp(program: Command, { stdout }: Deps): void {
  program
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({
      minWidthToWrap: 12,
      subcommandTerm: (command) => command.name(),
      commandDescription: (command) =>
        [command.summary(), command.description()].filter((text) => text !== "").join("\n\n"),
    })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(stdout.columns || 80, 100),
      getOutHasColors: () => false,
    })
    .addHelpText("afterAll", ({ command }) => {
      const lines = command === program ? closing : closingOf(command);
      return `\n${lines.map((line) => wrapped(command, line, "")).join("\n")}`;
    });
}

const closing = [
  "Every command takes these options, before its name or after it. They come before the environment, and the " +
    "environment before the profile.",
  "Each command's own help has examples: `brandapi help sync`.",
  "No key yet? `brandapi demo` shows everything against a built-in sandbox.",
];

/** Returns the end of a command's help: where the other flags are, and how times are written. */
function closingOf(command: Command): string[] {
  const takes = (...values: readonly string[]) =>
    command.options.some(({ flags }) => values.some((value) => flags.endsWith(value)));
  return [
    "Flags that every command takes, such as --profile: `brandapi --help`.",
    ...(takes("<time>") ? [`Times, all UTC: ${timeForms}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationForms}.`] : []),
  ];
}

/** `brandapi help [command]`. */
export function helpCommand(program: Command): Command {
  return new Command("help")
    .summary("Show help for a command")
    .argument("[command]")
    .action((name: string | undefined) => {
      const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
      if (!command)
        return program.error(`error: unknown command '${name}'`, { code: "commander.unknownCommand" });
      command.outputHelp();
    });
}

/** Returns the text after `mark`, its later lines indented under the first. */
function wrapped(command: Command, text: string, mark: string): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  const lines = command.createHelp().boxWrap(text, Math.max(20, width - mark.length));
  const indent = " ".repeat(mark.length);
  return lines.replace(/^/gm, indent).replace(indent, mark);
}
