import { Command, CommanderError } from "commander";
import { backup } from "./commands/backup.js";
import { changes } from "./commands/changes.js";
import { completion, completionQuestion } from "./commands/completion.js";
import type { Context } from "./commands/context.js";
import { cron } from "./commands/cron.js";
import { demo } from "./commands/demo.js";
import { doctor } from "./commands/doctor.js";
import { download } from "./commands/download.js";
import { exportTables } from "./commands/export.js";
import { addGlobalFlags } from "./commands/flags.js";
import { forget } from "./commands/forget.js";
import { helpCommand, setUpHelp } from "./commands/help.js";
import { login } from "./commands/login.js";
import { logout } from "./commands/logout.js";
import { profiles } from "./commands/profiles.js";
import { query } from "./commands/query.js";
import { report } from "./commands/report.js";
import { sandbox } from "./commands/sandbox.js";
import { status } from "./commands/status.js";
import { sync } from "./commands/sync.js";
import { tables } from "./commands/tables.js";
import { asUsageError } from "./commands/usage.js";
import { verify } from "./commands/verify.js";
import { whoami } from "./commands/whoami.js";
import type { Deps } from "./deps.js";
import { exitCodes } from "./errors.js";
import { version } from "./version.js";

/** The commands, grouped and in order as help lists them. Each makes commander's own object. */
const groups: Readonly<Record<string, readonly ((context: Context) => Command)[]>> = {
  "Set up:": [login, logout, whoami, doctor, profiles, completion],
  "Keep the mirror:": [sync, verify, status, download, cron, backup, forget],
  "Use the data:": [report, exportTables, query, tables, changes],
  "Without a key:": [demo, sandbox],
};

/** Commander's tree of all commands; help, completion and the documents walk its `commands`. */
export function buildProgram(context: Context): Command {
  const program = addGlobalFlags(new Command("brandapi"))
    .description("Keeps a brand's own data in a local SQLite mirror: current, complete and provable.")
    .usage("<command> [options]")
    .version(version, "-V, --version", "print the version")
    .exitOverride()
    .showSuggestionAfterError(false);
  setUpHelp(program, context.deps);
  for (const [heading, commands] of Object.entries(groups))
    for (const make of commands) {
      const command = make(context).helpGroup(heading).copyInheritedSettings(program);
      program.addCommand(command);
    }
  return program.addCommand(helpCommand(program).helpGroup("Help:").copyInheritedSettings(program));
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
  const program = buildProgram(context);
  if (argv[0] === completionQuestion) {
    const { printCompletions } = await import("./commands/complete.js");
    await printCompletions(program, argv.slice(1), deps);
    return exitCodes.done;
  }
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw asUsageError(error, program, argv);
  }
  return context.exitCode;
}
