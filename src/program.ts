import { Command, CommanderError } from "commander";
import { addGlobalOptions, refuseEmptyPathOrTime, scanCommandLine } from "./cli/flags.js";
import { configureHelp, createHelpCommand, formatExamples } from "./cli/help.js";
import { toUsageError } from "./cli/usage-errors.js";
import type { GlobalFlags } from "./config/settings.js";
import type { CommandLine, Context, Deps } from "./deps.js";
import { type ExitCode, exitCodes, UsageError } from "./errors.js";
import { readVersion } from "./version.js";

interface Entry {
  summary: string;
  load(): Promise<CommandModule>;
  /** True if the command sends requests and therefore accepts `--rate-limit` and `--max-wait`. */
  takesRequestFlags?: boolean;
  rejectsJson?: boolean;
  /**
   * True if the command must continue after the reader has closed stdout, because its work or exit code matters more
   * than its output.
   */
  continuesWithoutReader?: boolean;
}

interface CommandModule {
  about: string;
  /** Maps the help's example command lines to explanations. */
  examples: Readonly<Record<string, string>>;
  define?(command: Command): void;
  /** @returns the exit code; undefined means 0 */
  run(
    options: GlobalFlags,
    context: Context,
    ...values: unknown[]
  ): ExitCode | void | Promise<ExitCode> | Promise<void>;
}

/** The commands by group. `brandapi --help` lists them in this order. */
const groups: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  "Set up:": {
    login: {
      summary: "Store a brand's base URL and key, after checking them",
      load: () => import("./commands/login.js"),
      takesRequestFlags: true,
    },
    logout: {
      summary: "Remove a profile's base URL and key from this machine",
      load: () => import("./commands/logout.js"),
    },
    whoami: {
      summary: "Show the brand and the key's scopes and expiry",
      load: () => import("./commands/whoami.js"),
      takesRequestFlags: true,
    },
    doctor: {
      summary: "Check this machine, the settings, the key and the mirror",
      load: () => import("./commands/doctor.js"),
      takesRequestFlags: true,
      continuesWithoutReader: true,
    },
    profiles: {
      summary: "List the brands that are set up on this machine",
      load: () => import("./commands/profiles.js"),
    },
    completion: {
      summary: "Print a shell completion script",
      load: () => import("./commands/completion.js"),
      rejectsJson: true,
    },
  },
  "Maintain the mirror:": {
    sync: {
      summary: "Sync the brand's data into the mirror",
      load: () => import("./commands/sync.js"),
      takesRequestFlags: true,
      continuesWithoutReader: true,
    },
    verify: {
      summary: "Compare the mirror with the API",
      load: () => import("./commands/verify.js"),
      takesRequestFlags: true,
      continuesWithoutReader: true,
    },
    status: {
      summary: "Show how complete and up to date the mirror is",
      load: () => import("./commands/status.js"),
      // `status` sends no requests, but existing crontab lines may pass these flags.
      takesRequestFlags: true,
      continuesWithoutReader: true,
    },
    download: {
      summary: "Download files from the brand's content library",
      load: () => import("./commands/download.js"),
      takesRequestFlags: true,
      continuesWithoutReader: true,
    },
    cron: {
      summary: "Print crontab lines for a nightly sync (installs nothing)",
      load: () => import("./commands/cron.js"),
      takesRequestFlags: true,
    },
    backup: {
      summary: "Back up the mirror, or restore a backup",
      load: () => import("./commands/backup.js"),
    },
    forget: {
      summary: "Erase a host's personal data, but keep the ID",
      load: () => import("./commands/forget.js"),
    },
  },
  "Use the data:": {
    report: {
      summary: "Generate a shareable sales report",
      load: () => import("./commands/report.js"),
    },
    export: {
      summary: "Export tables to files or to stdout",
      load: () => import("./commands/export.js"),
    },
    query: {
      summary: "Run a read-only SQL query on the mirror",
      load: () => import("./commands/query.js"),
    },
    tables: {
      summary: "List tables and views, with columns and an example query",
      load: () => import("./commands/tables.js"),
    },
    changes: {
      summary: "List changes to records since they were first synced",
      load: () => import("./commands/changes.js"),
    },
  },
  "Try without a key:": {
    demo: {
      summary: "Try every step against a built-in sandbox",
      load: () => import("./commands/demo.js"),
      rejectsJson: true,
    },
    sandbox: {
      summary: "Serve the documented API locally with sample data",
      load: () => import("./commands/sandbox.js"),
      takesRequestFlags: true,
    },
  },
};

const entries = new Map(Object.values(groups).flatMap((group) => Object.entries(group)));

export function continuesWithoutReader(command = ""): boolean {
  return entries.get(command)?.continuesWithoutReader ?? false;
}

/** Creates commander's tree of all commands. A command has only a name and a summary until `loadCommand` loads it. */
function createProgram(deps: Deps): Command {
  const root = addGlobalOptions(new Command("brandapi"))
    .description("Keeps a current, complete and verified copy of a brand's data in a local SQLite file.")
    .usage("<command> [options]")
    .version(readVersion(), "-V, --version", "print the version")
    .exitOverride()
    .showSuggestionAfterError(false);
  for (const option of root.options) refuseEmptyPathOrTime(option);
  configureHelp(root, deps);
  for (const [heading, group] of Object.entries(groups))
    for (const [name, { summary }] of Object.entries(group))
      root.command(name).summary(summary).helpGroup(heading);
  const help = createHelpCommand(root, (name) => loadCommand(root, name, deps));
  root.addCommand(help.helpGroup("Help:").copyInheritedSettings(root));
  return root;
}

/** Loads a command's module, and adds its description and options. Returns null for `help` and unknown names. */
async function loadCommand(
  root: Command,
  name: string | undefined,
  deps: Deps,
): Promise<CommandModule["run"] | null> {
  const command = root.commands.find((each) => each.name() === name);
  const entry = entries.get(name ?? "");
  if (!command || !entry) return null;
  const { about, define, examples, run } = await entry.load();
  define?.(command);
  for (const option of command.options) refuseEmptyPathOrTime(option);
  command.description(about).addHelpText("after", formatExamples(examples, deps));
  return run;
}

/** Returns the whole command tree, for the documentation. */
export async function buildProgram(deps: Deps): Promise<Command> {
  const root = createProgram(deps);
  for (const name of entries.keys()) await loadCommand(root, name, deps);
  return root;
}

/** @throws UsageError if a global option has no effect on the command */
function refuseInapplicableGlobalFlags(command: string, flags: GlobalFlags): void {
  const { rejectsJson, takesRequestFlags } = entries.get(command) ?? {};
  const refuse = (reason: string, flag: string) => {
    throw new UsageError(`\`brandapi ${command}\` ${reason}.`, { hint: `omit \`${flag}\`` });
  };
  if (flags.json && rejectsJson) refuse("prints no JSON", "--json");
  if (takesRequestFlags) return;
  if (flags.rateLimit !== undefined) refuse("sends no requests to the API", "--rate-limit");
  if (flags.maxWait !== undefined) refuse("sends no requests to the API", "--max-wait");
}

/**
 * Copies the global options given on the command line to the command, so that the command's options can conflict with
 * them.
 */
function inheritOptions(program: Command, command: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) !== "cli") continue;
    if (command.options.every((existing) => existing.attributeName() !== name)) command.addOption(option);
    command.setOptionValueWithSource(name, program.getOptionValue(name), "cli");
  }
}

/** Prevents SQL that begins with a comment from being parsed as an option. */
function keepComment(argument: string): string {
  return /^--(\s|[^=\n]*\n)/.test(argument) ? `\n${argument}` : argument;
}

/** Runs a command whose options and arguments have been parsed, and returns its exit code. */
async function runCommand(command: Command, run: CommandModule["run"], context: Context): Promise<ExitCode> {
  const flags: GlobalFlags = command.optsWithGlobals();
  refuseInapplicableGlobalFlags(command.name(), flags);
  return (await run(flags, context, ...command.processedArgs)) ?? exitCodes.done;
}

/** Runs a command line for another command, such as a step of the demo. */
function runNested(words: readonly string[], deps: Deps): Promise<ExitCode> {
  return runProgram(scanCommandLine(words), deps);
}

/**
 * Runs a command and returns its exit code.
 * @throws UsageError for an unknown command, option or value; errors from the command
 */
export async function runProgram(commandLine: CommandLine, deps: Deps): Promise<ExitCode> {
  const { argv } = commandLine;
  const root = createProgram(deps);
  // `brandapi __complete` is for shell completion scripts.
  if (argv[0] === "__complete") {
    const words = argv.slice(1);
    await loadCommand(root, scanCommandLine(words).command, deps);
    const { printCompletions } = await import("./commands/completion.js");
    await printCompletions(root, words, deps);
    return exitCodes.done;
  }
  // Commander does not return an action's result, so the action stores the exit code.
  let exitCode: ExitCode = exitCodes.done;
  // Commander calls this hook before it parses the subcommand's options, which the loaded module defines.
  root.hook("preSubcommand", async (_, command) => {
    const run = await loadCommand(root, command.name(), deps);
    if (run === null) return;
    inheritOptions(root, command);
    command.action(async () => {
      exitCode = await runCommand(command, run, { deps, commandLine, brandapi: runNested });
    });
  });
  try {
    if (argv.length === 0) root.outputHelp();
    else await root.parseAsync(argv.map(keepComment), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw toUsageError(error, root, commandLine);
    // Commander has already printed the help or the version, so this is not a failure.
    return exitCodes.done;
  }
}
