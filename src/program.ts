import { Argument, Command, CommanderError, Option } from "commander";
import type { CommandSpec, Flag } from "./commands/command.js";
import { globalFlags } from "./commands/globals.js";
import { commands } from "./commands/index.js";
import type { Deps } from "./deps.js";
import { type ExitCode, exitCodes, UsageError } from "./errors.js";
import { version } from "./version.js";

/**
 * Commander's tree, built from the registry of commands.
 * @returns the exit code of the command that ran
 * @throws UsageError for an unknown command, flag or value
 */
export async function runProgram(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = prepare(new Command("brandapi"), deps)
    .description("Keeps a brand's own data in a local SQLite mirror: current, complete and provable.")
    .usage("<command> [options]")
    .version(version, "--version", "print the version")
    .helpCommand("help [command]", "show help for a command")
    .addHelpText("after", "\nNo key yet? `brandapi demo` shows everything against a built-in sandbox.");
  for (const spec of commands) {
    const command = prepare(program.command(spec.name), deps);
    describe(command, spec);
    command.action(async (...received) => {
      const options = command.opts();
      const args = received
        .slice(0, spec.arguments.length)
        .flat()
        .filter((arg) => arg !== undefined);
      exitCode = (await spec.run({ deps, args: args as string[], options })) ?? exitCodes.done;
    });
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && error.code !== "commander.help") throw asUsageError(error);
    if (error.code === "commander.help" && argv.length === 0) return exitCodes.usage;
  }
  return exitCode;
}

function describe(command: Command, spec: CommandSpec): void {
  command
    .summary(spec.summary)
    .description(spec.description ? `${spec.summary}\n\n${spec.description}` : spec.summary);
  for (const argument of spec.arguments) command.addArgument(new Argument(argument.syntax, argument.about));
  for (const flag of spec.flags) command.addOption(toOption(flag));
  for (const flag of globalFlags) {
    const option = toOption(flag);
    if (command.options.some((own) => own.long === option.long)) continue;
    command.addOption(option.helpGroup("Flags everywhere:"));
  }
  const examples = spec.examples
    .map((example) => `  $ ${example.command}\n      ${example.about}`)
    .join("\n");
  command.addHelpText("after", `\nExamples:\n${examples}`);
}

function toOption(flag: Flag): Option {
  const option = new Option(flag.flags, flag.shown ? `${flag.about} (default: ${flag.shown})` : flag.about);
  if (flag.choices) option.choices([...flag.choices]);
  const { parse } = flag;
  if (parse) option.argParser((text: string, previous: unknown) => parse(text, previous));
  return option;
}

/** Commander writes to the given streams, never exits, and leaves what is wrong to `run`. */
function prepare(command: Command, deps: Deps): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .helpOption("-h, --help", "show this help")
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(deps.stdout.columns ?? 80, 100),
    });
}

function asUsageError(error: CommanderError): UsageError {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1).replace(/\.?$/, ".")}`;
  const suggestion = /Did you mean (.+)\?\)?/.exec(rest.join(" "))?.[1];
  return new UsageError(sentence, {
    hint: suggestion ? `did you mean \`${suggestion}\`?` : "see `brandapi --help`",
    cause: error,
  });
}
