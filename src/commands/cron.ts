import { dirname, join } from "node:path";
import type { Command } from "commander";
import { allProfilesOption, chooseResources, parsedOption } from "../cli/flags.js";
import { checkPingUrl } from "../cli/ping.js";
import { TerminalReporter } from "../cli/progress.js";
import { expandPath, platformFolder } from "../config/folders.js";
import { describeMissingCredentials } from "../config/missing-credentials.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Context, Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { quoteShellWord } from "../util/format-text.js";
import { printJson } from "../util/terminal.js";

type CronFlags = GlobalFlags & { allProfiles?: boolean; ping?: string };

/** The `--max-age` in the crontab: one day, plus two hours for a slow sync. */
const maxAge = "26h";
/** The local hour at which the sync runs. Daylight saving time never starts or ends between 4 and 5 a.m. */
const syncHour = 4;
const checkHour = 8;

export const about =
  "Prints two crontab lines, with comments, for this machine and this profile. The first line runs a nightly sync and writes a log. " +
  "The second line runs `status --max-age 26h`, which reports stale data. The lines never contain the key. They are printed, but not installed.";

export const examples = {
  "brandapi cron": "print the crontab lines",
  "brandapi cron orders roster": "sync and check only these two resources",
  "(crontab -l 2>/dev/null; brandapi cron) | crontab -": "add the lines to your crontab",
};

export function define(command: Command): void {
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .addOption(allProfilesOption())
    .addOption(parsedOption("--ping <url>", "URL that the nightly sync pings (BRANDAPI_PING)", checkPingUrl));
}

export async function run(flags: CronFlags, { deps }: Context, names: readonly string[]): Promise<void> {
  chooseResources(names);
  const { node, script, name: machineName } = deps.machine;
  if (script.includes("/_npx/"))
    throw new ConfigurationError(
      "brandapi is running from npm's cache, which npm may clear before the next run.",
      {
        hint: "install it with `npm install -g PACKAGE`, then run `brandapi cron`",
      },
    );
  const { warn } = new TerminalReporter(deps, flags);
  const profile = flags.allProfiles ? "all-profiles" : readProfileName(flags, deps, warn);
  const env = cronEnvironment(deps, warn);
  const brandArguments = createBrandArguments(flags, deps);
  const pingArguments = flags.ping === undefined ? [] : ["--ping", flags.ping];
  const log = join(platformFolder("state", deps), `${profile}.log`);

  const sync = formatShellCommand([node, script, "sync", ...names, ...brandArguments, ...pingArguments], env);
  const syncAndLog = `mkdir -pm 700 ${quoteShellWord(dirname(log))} && { date -u; ${sync}; } >> ${quoteShellWord(log)} 2>&1`;
  const statusArguments = ["--max-age", maxAge, "--quiet"];
  const check = formatShellCommand(
    [node, script, "status", ...names, ...brandArguments, ...statusArguments],
    env,
  );
  const minute = chooseMinute(`${machineName} ${profile}`);
  // Escape percent signs, because cron ends a command at an unescaped one.
  const line = (hour: number, command: string) =>
    `${minute} ${hour} * * *  ${command.replaceAll("%", "\\%")}`;
  const lines = [line(syncHour, syncAndLog), line(checkHour, check)];
  if (flags.json) return printJson(deps.stdout, { profile, lines, log });

  const isOwnVariable = ([name]: [string, string]) => name.startsWith("BRANDAPI_");
  const ownEnv = Object.fromEntries(Object.entries(env).filter(isOwnVariable));
  const cronCommand = formatShellCommand(
    ["brandapi", "cron", ...names, ...brandArguments, ...pingArguments],
    ownEnv,
  );
  deps.stdout.write(`# brandapi, ${profile}: a nightly sync, and a check in the morning. To add them:
#   (crontab -l 2>/dev/null; ${cronCommand}) | crontab -
# If Node or brandapi moves, print the lines again and delete these. Log of the sync: ${log}
# The check prints stale resources, and warns before the key expires. Cron mails the output if this machine can send
# mail; to choose the address, add MAILTO=you@example.com above.
${lines.join("\n")}
`);
}

/** Maps a string to a minute from 1 to 59, so that different machines and brands sync at different times. */
function chooseMinute(text: string): number {
  return 1 + [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 59, 0);
}

/** Returns the profile's name. Warns if the base URL or the key is not stored in the profile. */
function readProfileName(flags: GlobalFlags, deps: Deps, warn: (text: string) => void) {
  const { BRANDAPI_KEY, ...env } = deps.env;
  const { baseUrl, key, profile } = readSettings(flags, { ...deps, env });
  if (baseUrl === undefined || key === undefined)
    warn(
      `The profile \`${profile}\` has no ${describeMissingCredentials({ baseUrl, key })}, and cron does not see your shell's environment. Run \`brandapi login\`.`,
    );
  return profile;
}

/**
 * Returns the arguments that the crontab's commands need to select the brand, such as `--profile`. Paths are absolute.
 */
function createBrandArguments(flags: CronFlags, deps: Deps): string[] {
  const { allProfiles, profile, db, baseUrl, keyFile, maxWait, rateLimit } = flags;
  const path = (text: string | undefined) => text && expandPath(text, deps);
  const values = {
    "--profile": profile,
    "--db": path(db),
    "--base-url": baseUrl,
    "--key-file": path(keyFile),
    "--rate-limit": rateLimit,
    "--max-wait": maxWait === undefined ? undefined : `${maxWait / 1_000}s`,
  };
  const given = Object.entries(values).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, String(value)],
  );
  return allProfiles ? ["--all-profiles", ...given] : given;
}

/** Matches the names of the environment variables to copy into the crontab. The key is never copied. */
const neededVariables =
  /^(?:BRANDAPI_(?!KEY$)\w+|XDG_(?:CONFIG|DATA|STATE)_HOME|NODE_EXTRA_CA_CERTS|(?:https|no)_proxy)$/i;
const pathVariables = /_(?:DIR|DB|CERTS)$/;

/** Returns the variables to set in the crontab. If a variable contains a password, warns and skips it. */
function cronEnvironment(deps: Deps, warn: (text: string) => void): Record<string, string> {
  const variables: Record<string, string> = { HOME: deps.home };
  for (const [name, value] of Object.entries(deps.env)) {
    if (!neededVariables.test(name) || !value) continue;
    const hasPassword = /proxy$/i.test(name) && value.includes("@");
    if (hasPassword) warn(`${name} contains a password, so it is not copied into the crontab.`);
    else variables[name] = pathVariables.test(name) ? expandPath(value, deps) : value;
  }
  return variables;
}

function formatShellCommand(words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${quoteShellWord(value)}`);
  return [...assignments, ...words.map(quoteShellWord)].join(" ");
}
