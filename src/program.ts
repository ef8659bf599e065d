import { Argument, Command, CommanderError, Option } from "commander";
import type { CommandSpec, Flag, Invocation } from "./commands/command.js";
import { globalFlags } from "./commands/globals.js";
import { groupOf, inHelpOrder } from "./commands/groups.js";
import {
  closing,
  commandClosing,
  flagsEverywhere,
  flagsHelp,
  formatHelp,
  helpWidth,
  ownFlags,
  subcommandTerm,
  wrapped,
} from "./commands/help.js";
import { commands } from "./commands/index.js";
import { asUsageError } from "./commands/usage.js";
import type { Deps } from "./deps.js";
import { type ExitCode, exitCodes } from "./errors.js";
import { durationForms, timeForms } from "./lib/times.js";
import { version } from "./version.js";

/**
 * Commander's tree, built from the registry of commands.
 * @param tell prints an error for a command that goes on
 * @returns the exit code of the command that ran
 * @throws UsageError for an unknown command, flag or value
 */
export async function runProgram(
  argv: readonly string[],
  deps: Deps,
  tell: Invocation["tell"],
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = prepare(new Command("brandapi"), deps)
    .description("Keeps a brand's own data in a local SQLite mirror: current, complete and provable.")
    .usage("<command> [options]")
    .version(version, "-V, --version", "print the version")
    .enablePositionalOptions()
    .addHelpText("after", closing);
  addFlags(program, globalFlags, flagsEverywhere);
  for (const spec of inHelpOrder(commands)) {
    const command = prepare(program.command(spec.name), deps).helpGroup(groupOf(spec.name));
    describe(command, spec);
    // The flags of all commands would take longer to set up than most commands to run.
    if (argv.includes(spec.name)) detail(command, spec, helpWidth(deps));
    command.action(async (...received) => {
      const args = received
        .slice(0, spec.arguments.length)
        .flat()
        .filter((arg) => arg !== undefined);
      const options = { ...given(program), ...command.opts(), ...given(command) };
      const invocation = { deps, args: args as string[], options, commands, tell };
      const how = deps.apart && (await spec.apart?.(invocation));
      exitCode =
        deps.apart && how ? await deps.apart(argv, how) : ((await spec.run(invocation)) ?? exitCodes.done);
    });
  }
  program.commandsGroup("Help:").helpCommand("help [command]", "Show help for a command");
  const asksAboutHelp = argv[0] === "help" && ["help", "-h", "--help"].includes(argv[1] ?? "");
  if (argv.length === 0 || asksAboutHelp) {
    program.outputHelp();
    return exitCodes.done;
  }
  if (argv[0] === "help" && argv[1] === "flags") {
    deps.stdout.write(flagsHelp(program, helpWidth(deps)));
    return exitCodes.done;
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw asUsageError(error, program, argv);
  }
  return exitCode;
}

/** The flags that a person typed: those before the command's name count as well, those after it win. */
function given(command: Command): Record<string, unknown> {
  const values = Object.entries(command.opts());
  return Object.fromEntries(values.filter(([name]) => command.getOptionValueSource(name) === "cli"));
}

function describe(command: Command, spec: CommandSpec): void {
  command
    .summary(spec.summary)
    .description(spec.description ? `${spec.summary}\n\n${spec.description}` : spec.summary);
  for (const argument of spec.arguments) command.addArgument(new Argument(argument.syntax, argument.about));
}

/** What only matters to a command that was named. */
function detail(command: Command, spec: CommandSpec, width: number): void {
  addFlags(command, spec.flags, ownFlags);
  addFlags(command, globalFlags, flagsEverywhere);
  command.addHelpText("after", `\n${wrapped(command, commandClosing, "", width)}`);
  const { notes } = spec;
  if (notes)
    command.addHelpText(
      "after",
      () =>
        `\n${notes.heading}:\n${notes.lines.map((line) => wrapped(command, line, "  - ", width)).join("\n")}`,
    );
  for (const form of formsOf(spec)) command.addHelpText("after", `\n${wrapped(command, form, "", width)}`);
  // A command stays on one line: it is there to be copied.
  const examples = spec.examples.map(
    (example) => `  $ ${example.command}\n${wrapped(command, example.about, "      ", width)}`,
  );
  if (examples.length > 0) command.addHelpText("after", `\nExamples:\n${examples.join("\n")}`);
}

/** How the times and durations are written that its flags take. */
function formsOf({ flags }: CommandSpec): string[] {
  const takes = (...values: readonly string[]) =>
    flags.some((flag) => values.some((value) => flag.flags.endsWith(value)));
  return [
    ...(takes("<time>") ? [`Times, all UTC: ${timeForms}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationForms}.`] : []),
  ];
}

/** A command's own flag of the same name goes before the one of everywhere. */
function addFlags(command: Command, flags: readonly Flag[], group: string): void {
  for (const flag of flags) {
    const option = toOption(flag);
    if (!command.options.some((own) => own.long === option.long)) command.addOption(option.helpGroup(group));
  }
}

function toOption(flag: Flag): Option {
  const option = new Option(flag.flags, flag.shown ? `${flag.about} (default: ${flag.shown})` : flag.about);
  if (flag.choices) option.choices([...flag.choices]);
  const { parse } = flag;
  if (parse) option.argParser((text: string, previous: unknown) => parse(text, previous));
  return option;
}

/** Commander writes help to the given stream, never exits, and leaves what is wrong to `run`. */
function prepare(command: Command, deps: Deps): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .helpOption("-h, --help", "show this help")
    .configureHelp({ subcommandTerm, formatHelp, minWidthToWrap: 12 })
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => helpWidth(deps),
      getOutHasColors: () => false,
    });
}
