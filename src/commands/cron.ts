import { dirname } from "node:path";
import { Command } from "commander";
import { ConfigurationError } from "../errors.js";
import { shellCommand, shellWord } from "../lib/shell.js";
import type { Context, GlobalOptions } from "./context.js";
import { allProfiles } from "./flags.js";
import { examples } from "./help.js";
import type { Nightly } from "./nightly.js";

interface CronFlags extends GlobalOptions {
  allProfiles?: boolean;
}

export function cron(context: Context): Command {
  return new Command("cron")
    .summary("Print the crontab lines that sync every night; install nothing")
    .description(
      "Lines for this machine, this Node and this profile, with absolute paths and a minute of their own: a sync that " +
        "writes a log, and `status --max-age 26h`, which says what is stale. The key is never in them.",
    )
    .addOption(allProfiles())
    .addHelpText(
      "after",
      examples(
        ["brandapi cron", "look at the lines first"],
        ["(crontab -l; brandapi cron) | crontab -", "add them to your crontab"],
      ),
    )
    .action((_, command: Command) => runCron(command.optsWithGlobals(), context));
}

async function runCron(options: CronFlags, { deps }: Context): Promise<void> {
  const { createReporter } = await import("../ui/reporter.js");
  const { refuseSingle } = await import("./each-profile.js");
  const { planNight } = await import("./nightly.js");
  if (options.allProfiles) refuseSingle(options);
  const reporter = createReporter(deps, options);
  const night = await planNight(options, deps, reporter.warn);
  deps.stdout.write(crontab(night));
  reporter.close();
}

/** Two lines for `crontab -`: the sync, which writes a log, and the check in the morning, whose output cron mails. */
function crontab(night: Nightly): string {
  const { check, env, flags, hour, log, minute, name, sync } = night;
  // Some crons halve a doubled backslash before the shell sees it, others do not.
  if ([...sync, ...Object.values(env), log].some((value) => value.includes("\\")))
    throw new ConfigurationError("A crontab cannot hold a path with a backslash.", {
      hint: "use another path",
    });
  const whose = name === "all-profiles" ? "every brand" : `the profile ${name}`;
  const lines = [
    `${minute} ${hour} * * *  ${logged(log, shellCommand(sync, env))}`,
    `${minute} ${hour + 4} * * *  ${shellCommand(check, env)}`,
  ];
  const text = [
    `# brandapi, ${whose}, every night at ${clock(hour, minute)}: a sync, and a check in the morning. To add them:`,
    `#   (crontab -l 2>/dev/null; ${shellCommand(["brandapi", "cron", ...flags])}) | crontab -`,
    "# Print them again if Node or brandapi has moved, and delete these. The sync writes to its log:",
    `#   ${log}`,
    "# The check prints what is stale, and warns if the key is about to expire. Cron mails the output if this machine",
    "# has a mail server. To choose the address, put MAILTO=you@example.com above.",
    // A bare per cent sign ends the command.
    ...lines.map((line) => line.replaceAll("%", "\\%")),
  ];
  return `${text.join("\n")}\n`;
}

/** A shell command whose output goes into the log, under the time of each night. */
function logged(log: string, command: string): string {
  return `mkdir -pm 700 ${shellWord(dirname(log))} && { date -u; ${command}; } >> ${shellWord(log)} 2>&1`;
}

function clock(hour: number, minute: number): string {
  return [hour, minute].map((part) => String(part).padStart(2, "0")).join(":");
}
