import { Argument, Command, Help } from "commander";
import type { Deps } from "../deps.js";
import { wrap } from "../util/terminal.js";
import { withChoices } from "./flags.js";
import { durationFormats, timeFormats } from "./time-flags.js";

/**
 * The minimum width of the description column. If the terminal is too narrow for it, each description is printed below
 * its option or command.
 */
const minDescriptionWidth = 30;
/** The indentation of a description below an option, and of an explanation below an example. */
const indentation = 6;

function helpWidth({ env, stdout }: Deps): number {
  return Math.min(stdout.columns || Number(env.COLUMNS) || 80, 100);
}

/**
 * Formats the examples that are printed at the end of a command's help.
 * @param examples maps command lines to explanations
 */
export function formatExamples(examples: Readonly<Record<string, string>>, deps: Deps): string {
  const width = helpWidth(deps);
  const texts = Object.entries(examples).map(
    ([line, purpose]) => `  $ ${wrapCommand(line, width - 4)}\n${indent(wrap(purpose, width - indentation))}`,
  );
  return `\nExamples:\n${texts.join("\n")}`;
}

/**
 * Wraps a command line at spaces. Lines that are broken outside quotes end with a backslash, so that the result can be
 * pasted into a shell.
 */
function wrapCommand(line: string, width: number): string {
  if (line.length <= width) return line;
  let lines = "";
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + word.length + 3 > width) {
      lines += isQuoteOpen(lines + current) ? `${current}\n` : `${current} \\\n`;
      current = `${" ".repeat(indentation)}${word}`;
    } else current += current === "" ? word : ` ${word}`;
  }
  return lines + current;
}

function isQuoteOpen(text: string): boolean {
  return /^(?:[^'"]|'[^']*'|"[^"]*")*$/.exec(text) === null;
}

function indent(text: string): string {
  return text.replace(/^/gm, " ".repeat(indentation));
}

/** Shortens commander's help, wraps it to the terminal's width, and adds a footer. */
export function configureHelp(program: Command, deps: Deps): void {
  const { stdout } = deps;
  const width = helpWidth(deps);
  program
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({
      minWidthToWrap: minDescriptionWidth,
      subcommandTerm: (command) => command.name(),
      argumentDescription: ({ description }) => description,
      commandDescription: (command) =>
        [command.summary(), command.description()].filter((text) => text !== "").join("\n\n"),
      styleUsage: (usage) => wrap(usage, width - "Usage: ".length).replaceAll("\n", "\n       "),
      formatItem(term, termWidth, description, help) {
        if (width - termWidth - 4 >= minDescriptionWidth)
          return new Help().formatItem.call(help, term, termWidth, description, help);
        return `  ${term}\n${indent(wrap(description, width - indentation))}`;
      },
    })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => width,
    })
    .addHelpText("afterAll", ({ command }) => {
      const lines = command === program ? programFooter : commandFooter(command);
      return `\n${lines.map((line) => wrap(line, width)).join("\n")}`;
    });
}

const programFooter = [
  "Every command accepts these options, before or after its name. The exceptions are `--rate-limit` and `--max-wait`, which apply only to commands that send requests. " +
    "Flags override environment variables, which override the profile.",
  "Help for a command, with examples: `brandapi help sync`.",
  "No key yet? Run `brandapi demo` to try everything against a built-in sandbox.",
  "During installation on Node 22 and later, nothing is compiled. " +
    "On Node 20, npm downloads a prebuilt SQLite module or compiles one.",
];

/**
 * Returns the lines printed below a command's options: a pointer to the global options, and the accepted formats of
 * times and durations.
 */
function commandFooter(command: Command): string[] {
  const takes = (...values: readonly string[]) =>
    command.options.some(({ flags }) => values.some((value) => flags.endsWith(value)));
  return [
    "Global options, such as --profile: `brandapi --help`.",
    ...(takes("<time>") ? [`Times (UTC): ${timeFormats}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationFormats}.`] : []),
  ];
}

/**
 * Creates the `help` command for the commands that have already been added to the program.
 * @param load loads the options and the description of the named command
 */
export function createHelpCommand(
  program: Command,
  load: (name: string | undefined) => Promise<unknown>,
): Command {
  const { commands } = program;
  const names = commands.map((command) => command.name());
  return new Command("help")
    .summary("Show help for a command")
    .addArgument(withChoices(new Argument("[command]"), "command", names))
    .action(async (name?: string) => {
      await load(name);
      (commands.find((command) => command.name() === name) ?? program).outputHelp();
    });
}
