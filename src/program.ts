import { Command, CommanderError } from "commander";
import type { Context } from "./cli/context.js";
import { addGlobalFlags } from "./cli/flags.js";
import { examplesText, helpCommand, setUpHelp } from "./cli/help.js";
import { asUsageError } from "./cli/usage-errors.js";
import type { GlobalOptions } from "./config/settings.js";
import { type Deps, readVersion } from "./deps.js";
import { exitCodes } from "./errors.js";

/** A command's summary, and its module, which is loaded if the command line names it. */
type Entry = readonly [summary: string, load: () => Promise<Module>];
interface Module {
  /** For the help: what it does; command lines, and what each is for. */
  about: string;
  examples: Readonly<Record<string, string>>;
  /** Adds its own arguments and flags. */
  define?(command: Command): void;
  /** @param values of its arguments */
  run(options: GlobalOptions, context: Context, ...values: unknown[]): void | Promise<void>;
}

/** The commands, grouped and in order as help lists them. */
const groups: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  "Set up:": {
    login: ["Store a brand's base URL and key, after checking them", () => import("./commands/login.js")],
    logout: ["Remove a profile's base URL and key from this machine", () => import("./commands/logout.js")],
    whoami: ["Show the brand, the key's scopes and when it expires", () => import("./commands/whoami.js")],
    doctor: [
      "Check this machine, the settings, the key, the mirror and its tables",
      () => import("./commands/doctor.js"),
    ],
    profiles: ["List the brands that are set up on this machine", () => import("./commands/profiles.js")],
    completion: [
      "Print what makes Tab complete this program's words in a shell",
      () => import("./commands/completion.js"),
    ],
  },
  "Keep the mirror:": {
    sync: ["Pull the brand's data into the mirror", () => import("./commands/sync.js")],
    verify: ["Prove that the mirror holds what the API holds", () => import("./commands/verify.js")],
    status: ["Show how complete and how fresh the mirror is", () => import("./commands/status.js")],
    download: ["Fetch the files of the brand's library", () => import("./commands/download.js")],
    cron: [
      "Print the crontab lines that sync every night; install nothing",
      () => import("./commands/cron.js"),
    ],
    backup: ["Make a checked copy of the mirror, or restore one", () => import("./commands/backup.js")],
    forget: ["Erase a host's personal data, keep the ID", () => import("./commands/forget.js")],
  },
  "Use the data:": {
    report: [
      "Make a page to send on: sales, refunds, months that changed, what is proven",
      () => import("./commands/report.js"),
    ],
    export: ["Turn tables of the mirror into files or stdout", () => import("./commands/export.js")],
    query: ["Run a read-only SQL query on the mirror", () => import("./commands/query.js")],
    tables: [
      "List the tables and views, their columns and an example query",
      () => import("./commands/tables.js"),
    ],
    changes: ["Show what changed in already mirrored records", () => import("./commands/changes.js")],
  },
  "Without a key:": {
    demo: [
      "Show the whole job, without a key, against the built-in sandbox",
      () => import("./commands/demo.js"),
    ],
    sandbox: [
      "Serve the whole documented API on this machine, with made-up data",
      () => import("./commands/sandbox.js"),
    ],
  },
};

/** Returns commander's tree of all commands; help, completion and the documents walk its `commands`. */
export async function buildProgram(
  context: Context,
  isNamed: (name: string) => boolean = () => true,
): Promise<Command> {
  const program = addGlobalFlags(new Command("brandapi"))
    .description("Keeps a brand's own data in a local SQLite mirror: current, complete and provable.")
    .usage("<command> [options]")
    .version(readVersion(), "-V, --version", "print the version")
    .exitOverride()
    .showSuggestionAfterError(false);
  setUpHelp(program, context.deps);
  program.hook("preSubcommand", passOn);
  for (const [heading, entries] of Object.entries(groups))
    for (const [name, [summary, load]] of Object.entries(entries)) {
      const command = program.command(name).summary(summary).helpGroup(heading);
      if (!isNamed(name)) continue;
      const { about, define, examples, run }: Module = await load();
      define?.(command);
      command
        .description(about)
        .addHelpText("after", examplesText(examples))
        .action(() => run(command.optsWithGlobals(), context, ...command.processedArgs));
    }
  return program.addCommand(helpCommand(program).helpGroup("Help:").copyInheritedSettings(program));
}

/** Gives a command the flags of every command that were typed: the program takes them, and the command's may exclude them. */
function passOn(program: Command, command: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) !== "cli") continue;
    if (command.options.every((own) => own.attributeName() !== name)) command.addOption(option);
    command.setOptionValueWithSource(name, program.getOptionValue(name), "cli");
  }
}

/** Keeps SQL that begins with a comment from being taken for a flag. */
function keepComment(argument: string): string {
  return /^--(\s|[^=\n]*\n)/.test(argument) ? `\n${argument}` : argument;
}

/**
 * Runs one command line.
 * @param argv the arguments after `brandapi`
 * @throws UsageError for an unknown command, flag or value; what the command throws
 */
export async function runProgram(
  argv: readonly string[],
  deps: Deps,
  tell: Context["tell"],
): Promise<Context["exitCode"]> {
  const context: Context = {
    deps,
    exitCode: exitCodes.done,
    tell,
    async brandapi(words, otherDeps) {
      await runProgram(words, otherDeps, tell);
    },
  };
  const program = await buildProgram(context, (name) => argv.includes(name));
  // A shell's script asks: see completion.ts.
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
    if (error.exitCode !== 0) throw asUsageError(error, program, argv);
  }
  return context.exitCode;
}
