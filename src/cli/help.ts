import { Argument, Command } from "commander";
import type { Deps } from "../deps.js";
import { durationFormats, timeFormats } from "../util/times.js";
import { withChoices } from "./flags.js";

/** Returns the end of a command's help. @param examples command lines, and what each is for */
export function formatExamples(examples: Readonly<Record<string, string>>): string {
  const texts = Object.entries(examples).map(([line, about]) => `  $ ${line}\n      ${about}`);
  return `\nExamples:\n${texts.join("\n")}`;
}

/** Makes commander's help shorter, and ends it with what is said elsewhere. */
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
  "Every command takes these options, before its name or after it. They come before the environment, and the " +
    "environment before the profile.",
  "Each command's own help has examples: `brandapi help sync`.",
  "No key yet? `brandapi demo` shows everything against a built-in sandbox.",
];

/** Returns the end of a command's help: where the other flags are, and how times are written. */
function commandFooter(command: Command): string[] {
  const takes = (...values: readonly string[]) =>
    command.options.some(({ flags }) => values.some((value) => flags.endsWith(value)));
  return [
    "Flags that every command takes, such as --profile: `brandapi --help`.",
    ...(takes("<time>") ? [`Times, all UTC: ${timeFormats}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationFormats}.`] : []),
  ];
}

/** `brandapi help [command]`, for the commands that the program has by now. */
export function createHelpCommand(program: Command): Command {
  const { commands } = program;
  const names = commands.map((command) => command.name());
  return new Command("help")
    .summary("Show help for a command")
    .addArgument(withChoices(new Argument("[command]"), "command", names))
    .action((name?: string) => (commands.find((one) => one.name() === name) ?? program).outputHelp());
}
