import { Command, CommanderError } from "commander";
import { scanCommandLine } from "./cli/command-line.js";
import { addGlobalOptions, refuseEmptyPathOrTime } from "./cli/flags.js";
import { configureHelp, createHelpCommand, formatExamples } from "./cli/help.js";
import { toUsageError } from "./cli/usage-errors.js";
import type { GlobalFlags } from "./config/settings.js";
import type { CommandLine, Context, Deps } from "./deps.js";
import { type ExitCode, exitCodes, UsageError } from "./errors.js";
import { readVersion } from "./version.js";

interface Entry {
  summary: string;
  load(): Promise<CommandModule>;
  /** True if the command accepts `--rate-limit` and `--max-wait`, even if it sends no requests. */
  acceptsRequestFlags?: boolean;
  rejectsJson?: boolean;
  /**
   * True if the command must continue after the reader of stdout has closed the pipe, because the command's work or
   * exit code matters more than its output.
   */
  continuesWithoutReader?: boolean;
}

interface CommandModule {
  about: string;
  /** Maps each example command line in the help to its explanation. */
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
      acceptsRequestFlags: true,
    },
    logout: {
      summary: "Remove a profile's base URL and key from this machine",
      load: () => import("./commands/logout.js"),
    },
    whoami: {
      summary: "Show the brand and the key's scopes and expiry",
      load: () => import("./commands/whoami.js"),
      acceptsRequestFlags: true,
    },
    doctor: {
      summary: "Check this machine, the settings, the key and the mirror",
      load: () => import("./commands/doctor.js"),
      acceptsRequestFlags: true,
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
      acceptsRequestFlags: true,
      continuesWithoutReader: true,
    },
    verify: {
      summary: "Compare the mirror with the API",
      load: () => import("./commands/verify.js"),
      acceptsRequestFlags: true,
      continuesWithoutReader: true,
    },
    status: {
      summary: "Show how complete and up to date the mirror is",
      load: () => import("./commands/status.js"),
      // `status` sends no requests, but existing crontab lines may pass these flags.
      acceptsRequestFlags: true,
      continuesWithoutReader: true,
    },
    download: {
      summary: "Download files from the brand's content library",
      load: () => import("./commands/download.js"),
      acceptsRequestFlags: true,
      continuesWithoutReader: true,
    },
    cron: {
      summary: "Print crontab lines for a nightly sync (installs nothing)",
      load: () => import("./commands/cron.js"),
      // `cron` sends no requests, but adds these flags to the crontab lines.
      acceptsRequestFlags: true,
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
      summary: "Try the main commands against a built-in sandbox",
      load: () => import("./commands/demo.js"),
      rejectsJson: true,
    },
    sandbox: {
      summary: "Serve the documented API locally with sample data",
      load: () => import("./commands/sandbox.js"),
      // `--rate-limit` sets the limit that the sandbox enforces.
      acceptsRequestFlags: true,
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

/**
 * Loads the module of a command, and adds its description and options to the tree. Returns null for `help` and unknown
 * names.
 */
async function loadCommand(
  root: Command,
  name: string | undefined,
  deps: Deps,
): Promise<{ command: Command; run: CommandModule["run"] } | null> {
  const command = root.commands.find((each) => each.name() === name);
  const entry = entries.get(name ?? "");
  if (!command || !entry) return null;
  const { about, define, examples, run } = await entry.load();
  define?.(command);
  for (const option of command.options) refuseEmptyPathOrTime(option);
  command.description(about).addHelpText("after", formatExamples(examples, deps));
  return { command, run };
}

/** Returns the complete command tree for the documentation. */
export async function buildProgram(deps: Deps): Promise<Command> {
  const root = createProgram(deps);
  for (const name of entries.keys()) await loadCommand(root, name, deps);
  return root;
}

/** @throws UsageError if a global option has no effect on the command */
function refuseInapplicableGlobalFlags(command: string, flags: GlobalFlags): void {
  const { acceptsRequestFlags, rejectsJson } = entries.get(command) ?? {};
  const refuse = (reason: string, flag: string) => {
    throw new UsageError(`\`brandapi ${command}\` ${reason}.`, { hint: `omit \`${flag}\`` });
  };
  if (flags.json && rejectsJson) refuse("prints no JSON", "--json");
  if (acceptsRequestFlags) return;
  if (flags.rateLimit !== undefined) refuse("sends no requests to the API", "--rate-limit");
  if (flags.maxWait !== undefined) refuse("sends no requests to the API", "--max-wait");
}

/**
 * Copies the global options to the command. Commander assigns a global option to the root, even if it was passed after
 * the command's name, but finds conflicting options only within one command.
 */
function copyGlobalOptions(root: Command, command: Command): void {
  for (const option of root.options) {
    const name = option.attributeName();
    if (root.getOptionValueSource(name) !== "cli") continue;
    if (command.options.every((own) => own.attributeName() !== name)) command.addOption(option);
    command.setOptionValueWithSource(name, root.getOptionValue(name), "cli");
  }
}

/** Prevents SQL that begins with a comment from being parsed as an option. */
function keepComment(argument: string): string {
  return /^--(\s|[^=\n]*\n)/.test(argument) ? `\n${argument}` : argument;
}

async function completeWords(words: readonly string[], root: Command, deps: Deps): Promise<ExitCode> {
  await loadCommand(root, scanCommandLine(words).command, deps);
  const completion = await import("./commands/completion.js");
  await completion.printCompletions(root, words, deps);
  return exitCodes.done;
}

interface ParsedCommand {
  name: string;
  run: CommandModule["run"];
  flags: GlobalFlags;
  values: readonly unknown[];
}

/**
 * Loads the command and parses its flags and arguments. Returns null if commander has printed the help or the version.
 * @throws UsageError for an unknown command, option or value
 */
async function parseCommandLine(
  root: Command,
  commandLine: CommandLine,
  deps: Deps,
): Promise<ParsedCommand | null> {
  const loaded = await loadCommand(root, commandLine.command, deps);
  // Set an empty action, because commander checks and parses arguments only for a command that has an action.
  loaded?.command.action(() => {});
  root.hook("preSubcommand", copyGlobalOptions);
  try {
    await root.parseAsync(commandLine.argv.map(keepComment), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The exit code is 0 if commander has printed the help or the version.
    if (error.exitCode !== 0) throw toUsageError(error, root, commandLine);
    return null;
  }
  // `brandapi help` prints the help without throwing an error.
  if (!loaded) return null;
  const { command, run } = loaded;
  return { name: command.name(), run, flags: command.optsWithGlobals(), values: command.processedArgs };
}

/**
 * Runs a command and returns its exit code.
 * @throws UsageError for an unknown command, option or value; errors from the command
 */
export async function runProgram(commandLine: CommandLine, deps: Deps): Promise<ExitCode> {
  const { argv } = commandLine;
  const root = createProgram(deps);
  // Shell completion scripts run `brandapi __complete`.
  if (argv[0] === "__complete") return await completeWords(argv.slice(1), root, deps);
  if (argv.length === 0) {
    root.outputHelp();
    return exitCodes.done;
  }
  const parsed = await parseCommandLine(root, commandLine, deps);
  if (!parsed) return exitCodes.done;
  const { name, run, flags, values } = parsed;
  refuseInapplicableGlobalFlags(name, flags);
  const runCommand: Context["runCommand"] = (step, stepDeps) => runProgram(scanCommandLine(step), stepDeps);
  return (await run(flags, { deps, commandLine, runCommand }, ...values)) ?? exitCodes.done;
}
