import { dirname, join } from "node:path";
import type { Command } from "commander";
import type { Context } from "../cli/context.js";
import { allProfilesOption, chooseResources, parsedOption } from "../cli/flags.js";
import { parsePingUrl } from "../cli/ping.js";
import { createReporter } from "../cli/progress.js";
import { commandFor, missingCredentials } from "../config/credentials.js";
import { expandPath, platformFolder } from "../config/folders.js";
import { type GlobalOptions, readSettings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { printJson } from "../util/terminal.js";
import { formatShellCommand, quoteShellWord } from "../util/text.js";

type CronFlags = GlobalOptions & { allProfiles?: boolean; ping?: string };

/** A day, and two hours for a slower sync. */
const maxAge = "26h";
/** Local time. Between 4 and 5 no clock is put forward or back. */
const hour = 4;

export const about =
  "Prints two lines for this machine and this profile, with absolute paths: a nightly sync that writes a log, and " +
  "`status --max-age 26h`, which reports stale data. Installs nothing. The lines never contain the key.";

export const examples = {
  "brandapi cron": "print the lines",
  "brandapi cron orders roster": "sync and check only these two resources",
  "(crontab -l; brandapi cron) | crontab -": "add the lines to your crontab",
};

export function define(command: Command): void {
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .addOption(allProfilesOption())
    .addOption(parsedOption("--ping <url>", "URL that the nightly sync pings (BRANDAPI_PING)", parsePingUrl));
}

export async function run(options: CronFlags, { deps }: Context, names: readonly string[]): Promise<void> {
  chooseResources(names);
  const { node, script } = deps.machine;
  if (/[\\/]_npx[\\/]/.test(script))
    throw new ConfigurationError("brandapi runs from npm's cache, which can be cleaned before the night.", {
      hint: "run `npm install -g brandapi`, then `brandapi cron`",
    });
  const { warn } = createReporter(deps, options);
  const name = options.allProfiles ? "all-profiles" : await checkProfile(options, deps, warn);
  const env = carriedEnv(deps, warn);
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("BRANDAPI_")));
  const flags = flagsOf(options, deps);
  const pings = options.ping === undefined ? [] : ["--ping", options.ping];
  const log = join(platformFolder("state", deps), `${name}.log`);
  const sync = formatShellCommand([node, script, "sync", ...names, ...flags, ...pings], env);
  const check = formatShellCommand(
    [node, script, "status", ...names, ...flags, "--max-age", maxAge, "--quiet"],
    env,
  );
  // Neither all machines nor all brands of one should ask at the same time.
  const letters = [...`${deps.machine.name} ${name}`];
  const minute = 1 + letters.reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 59, 0);
  // A bare per cent sign ends the command.
  const line = (at: number, command: string) => `${minute} ${at} * * *  ${command.replaceAll("%", "\\%")}`;
  const syncAndLog = `mkdir -pm 700 ${quoteShellWord(dirname(log))} && { date -u; ${sync}; } >> ${quoteShellWord(log)} 2>&1`;
  const lines = [line(hour, syncAndLog), line(hour + 4, check)];
  if (options.json) return printJson(deps.stdout, { profile: name, lines, log });
  deps.stdout.write(`# brandapi, ${name}: a sync every night, and a check in the morning. To add them:
#   (crontab -l 2>/dev/null; ${formatShellCommand(["brandapi", "cron", ...names, ...flags, ...pings], own)}) | crontab -
# Print them again if Node or brandapi has moved, and delete these. The sync's log: ${log}
# The check prints what is stale, and warns if the key is about to expire. Cron mails that if this machine has a
# mail server. To choose the address, put MAILTO=you@example.com above.
${lines.join("\n")}
`);
}

/** Returns the profile's name; warns if it has no key at night. */
async function checkProfile(options: GlobalOptions, deps: Deps, warn: (text: string) => void) {
  const { BRANDAPI_KEY, ...env } = deps.env;
  const { baseUrl, key, profile } = await readSettings(options, { ...deps, env });
  const login = commandFor("login", profile);
  if (baseUrl === undefined || key === undefined)
    warn(
      `The profile \`${profile}\` has no ${missingCredentials({ baseUrl, key })}. At night there is nothing else: run \`${login}\`.`,
    );
  return profile;
}

/** Returns the flags that name the brand as they were typed, with full paths. */
function flagsOf(options: CronFlags, deps: Deps): string[] {
  const { allProfiles, profile, db, baseUrl, keyFile, maxWait, rateLimit } = options;
  const path = (text: string | undefined) => text && expandPath(text, deps);
  const flags = {
    "--profile": profile,
    "--db": path(db),
    "--base-url": baseUrl,
    "--key-file": path(keyFile),
    "--rate-limit": rateLimit && String(rateLimit),
    "--max-wait": maxWait && `${maxWait / 1_000}s`,
  };
  const given = Object.entries(flags).flatMap(([flag, value]) => (value ? [flag, value] : []));
  return allProfiles ? ["--all-profiles", ...given] : given;
}

/** Variables that would be missed at night; never the key. */
const missed =
  /^(?:BRANDAPI_(?!KEY$)\w+|XDG_(?:CONFIG|DATA|STATE)_HOME|NODE_EXTRA_CA_CERTS|(?:https|no)_proxy)$/i;
const ofPaths = /_(?:DIR|DB|CERTS)$/;

/** Returns the variables that are set here, but for passwords. */
function carriedEnv(deps: Deps, warn: (text: string) => void): Record<string, string> {
  const carried: Record<string, string> = { HOME: deps.home };
  for (const [name, value] of Object.entries(deps.env)) {
    if (!missed.test(name) || !value) continue;
    const hasPassword = /proxy$/i.test(name) && value.includes("@");
    if (hasPassword) warn(`${name} holds a password, and is left out.`);
    else carried[name] = ofPaths.test(name) ? expandPath(value, deps) : value;
  }
  return carried;
}
