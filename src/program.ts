import { Command, CommanderError } from "commander";
import { addGlobalOptions } from "./cli/flags.js";
import { configureHelp, createHelpCommand, formatExamples } from "./cli/help.js";
import { toUsageError } from "./cli/usage-errors.js";
import type { GlobalFlags } from "./config/settings.js";
import type { Context, Deps } from "./deps.js";
import { type ExitCode, exitCodes, UsageError } from "./errors.js";
import { readVersion } from "./version.js";

interface Entry {
  /** A one-line summary for the list of commands. */
  summary: string;
  /** Loads the command's module. */
  load(): Promise<CommandModule>;
  /** True for a command that accepts `--rate-limit` and `--max-wait`, because it sends requests. */
  takesRequestFlags?: boolean;
  /**
   * True for a command that continues when nobody reads stdout, because the command's work or exit code matters more
   * than its output.
   */
  continuesWithoutReader?: boolean;
  /** True for a command that continues where it was interrupted. */
  isResumable?: boolean;
}

interface CommandModule {
  /** The description at the top of the command's help. */
  about: string;
  /** Example command lines for the help, with explanations. */
  examples: Readonly<Record<string, string>>;
  /** Adds the command's arguments and options. */
  define?(command: Command): void;
  /**
   * @param values the argument values
   * @returns the exit code, or nothing for exit code 0
   */
  run(
    options: GlobalFlags,
    context: Context,
    ...values: unknown[]
  ): ExitCode | void | Promise<ExitCode> | Promise<void>;
}

/** The commands by group, in the order in which help lists them. */
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
    },
  },
  "Maintain the mirror:": {
    sync: {
      summary: "Sync the brand's data into the mirror",
      load: () => import("./commands/sync.js"),
      takesRequestFlags: true,
      continuesWithoutReader: true,
      isResumable: true,
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
      // Crontab lines from earlier versions pass the flags to `status`.
      takesRequestFlags: true,
      continuesWithoutReader: true,
    },
    download: {
      summary: "Download files from the brand's content library",
      load: () => import("./commands/download.js"),
      takesRequestFlags: true,
      continuesWithoutReader: true,
      isResumable: true,
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
    },
    sandbox: {
      summary: "Serve the documented API locally with sample data",
      load: () => import("./commands/sandbox.js"),
      takesRequestFlags: true,
    },
  },
};

const entries = new Map(Object.values(groups).flatMap((group) => Object.entries(group)));

/**
 * True for a command that continues when nobody reads stdout.
 * @param name the command that was typed, if any
 */
export function continuesWithoutReader(name: string | undefined): boolean {
  return entries.get(name ?? "")?.continuesWithoutReader ?? false;
}

/**
 * True for a command that continues where it was interrupted.
 * @param name the command that was typed, if any
 */
export function isResumable(name: string | undefined): boolean {
  return entries.get(name ?? "")?.isResumable ?? false;
}

/**
 * Builds commander's tree of all commands, which is used for help, completion and the documentation.
 * @param words the names of the commands to load; default: all commands
 * @param onExit called with the command's exit code, because commander does not return it
 */
export async function buildProgram(
  context: Context,
  words: readonly string[] = [...entries.keys()],
  onExit: (code: ExitCode) => void = () => {},
): Promise<Command> {
  const program = addGlobalOptions(new Command("brandapi"))
    .description("Keeps a brand's own data in a local SQLite mirror: current, complete and verified.")
    .usage("<command> [options]")
    .version(readVersion(), "-V, --version", "print the version")
    .exitOverride()
    .showSuggestionAfterError(false);
  configureHelp(program, context.deps);
  program.hook("preSubcommand", inheritOptions);
  for (const [heading, group] of Object.entries(groups))
    for (const [name, { summary, load, takesRequestFlags }] of Object.entries(group)) {
      const command = program.command(name).summary(summary).helpGroup(heading);
      if (!words.includes(name)) continue;
      const { about, define, examples, run } = await load();
      define?.(command);
      command
        .description(about)
        .addHelpText("after", formatExamples(examples, context.deps))
        .action(async () => {
          const flags: GlobalFlags = command.optsWithGlobals();
          if (!takesRequestFlags) refuseRequestFlags(name, flags);
          const code = await run(flags, context, ...command.processedArgs);
          onExit(code ?? exitCodes.done);
        });
    }
  return program.addCommand(createHelpCommand(program).helpGroup("Help:").copyInheritedSettings(program));
}

/** @throws UsageError if a command that sends no requests was given a flag for requests */
function refuseRequestFlags(command: string, { rateLimit, maxWait }: GlobalFlags): void {
  const flag = rateLimit !== undefined ? "--rate-limit" : maxWait !== undefined ? "--max-wait" : undefined;
  if (flag === undefined) return;
  throw new UsageError(
    `\`brandapi ${command}\` sends no requests to the API, so \`${flag}\` has no effect.`,
    {
      hint: `omit \`${flag}\``,
    },
  );
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

/** Prevents SQL that begins with a comment from being parsed as a flag. */
function keepComment(argument: string): string {
  return /^--(\s|[^=\n]*\n)/.test(argument) ? `\n${argument}` : argument;
}

/**
 * Runs a command and returns its exit code.
 * @param argv the arguments after `brandapi`
 * @throws UsageError for an unknown command, option or value; errors from the command
 */
export async function runProgram(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = await buildProgram({ deps, argv, brandapi: runProgram }, argv, (code) => {
    exitCode = code;
  });
  // Shell completion scripts run this command.
  if (argv[0] === "__complete") {
    const { printCompletions } = await import("./commands/completion.js");
    await printCompletions(program, argv.slice(1), deps);
    return exitCodes.done;
  }
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv.map(keepComment), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw toUsageError(error, program, argv);
  }
  return exitCode;
}
