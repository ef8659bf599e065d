import { Argument, Command } from "commander";
import type { Deps } from "../deps.js";
import { durationFormats, timeFormats } from "../util/times.js";
import { withChoices } from "./flags.js";

/** Formats the examples of a command's help. @param examples command lines, and what each is for */
export function formatExamples(examples: Readonly<Record<string, string>>): string {
  const texts = Object.entries(examples).map(([line, about]) => `  $ ${line}\n      ${about}`);
  return `\nExamples:\n${texts.join("\n")}`;
}

/** Shortens commander's help and adds a footer. */
export function configureHelp(program: Command, { stdout }: Deps): void {
  const width = Math.min(stdout.columns || 80, 100);
  program
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      argumentDescription: ({ description }) => description,
      commandDescription: (command) =>
        [command.summary(), command.description()].filter((text) => text !== "").join("\n\n"),
    })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => width,
    })
    .addHelpText("afterAll", ({ command }) => {
      const lines = command === program ? programFooter : commandFooter(command);
      return `\n${lines.map((line) => command.createHelp().boxWrap(line, width)).join("\n")}`;
    });
}

const programFooter = [
  "Every command takes these options, before or after its name. Flags override environment variables, which " +
    "override the profile.",
  "Help for a command, with examples: `brandapi help sync`.",
  "No key yet? Run `brandapi demo` to try everything against a built-in sandbox.",
];

/** Returns the footer of a command's help: where the global options are, and the formats of times. */
function commandFooter(command: Command): string[] {
  const takes = (...values: readonly string[]) =>
    command.options.some(({ flags }) => values.some((value) => flags.endsWith(value)));
  return [
    "Global options, such as --profile: `brandapi --help`.",
    ...(takes("<time>") ? [`Times (UTC): ${timeFormats}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationFormats}.`] : []),
  ];
}

/** Returns `brandapi help [command]` for the commands that were added to the program so far. */
export function createHelpCommand(program: Command): Command {
  const { commands } = program;
  const names = commands.map((command) => command.name());
  return new Command("help")
    .summary("Show help for a command")
    .addArgument(withChoices(new Argument("[command]"), "command", names))
    .action((name?: string) => (commands.find((command) => command.name() === name) ?? program).outputHelp());
}
