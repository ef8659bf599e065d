import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { Command } from "commander";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { shellCommand, shellWord } from "../lib/shell.js";
import type { Context, GlobalOptions } from "./context.js";
import { allProfiles } from "./flags.js";
import { examples } from "./help.js";
import { parsePing, ping } from "./ping.js";

interface CronFlags extends GlobalOptions {
  allProfiles?: boolean;
  ping?: string;
}

/** A night was missed after a day, and two hours for a sync that takes longer than the one before. */
const maxAge = "26h";
/** Local time. Between 4 and 5 no clock is put forward or back. */
const hour = 4;

export function define(context: Context): Command {
  return new Command("cron")
    .description(
      "Lines for this machine, this Node and this profile, with absolute paths and a minute of their own: a sync that " +
        "writes a log, and `status --max-age 26h`, which says what is stale. The key is never in them.",
    )
    .addOption(allProfiles())
    .addOption(ping("the nightly sync pings this address (BRANDAPI_PING)"))
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
  const { findFolders } = await import("../config/folders.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { refuseSingle } = await import("./each-profile.js");
  const { node, script, name: machine } = deps.machine;
  if (/[\\/]_npx[\\/]/.test(script))
    throw new ConfigurationError("brandapi runs from npm's cache, which can be cleaned before the night.", {
      hint: "run `npm install -g brandapi`, then `brandapi cron`",
    });
  if (options.allProfiles) refuseSingle(options);
  const reporter = createReporter(deps, options);
  const { name, flags } = options.allProfiles
    ? { name: "all-profiles", flags: ["--all-profiles"] }
    : await nameBrand(options, deps, reporter.warn);
  const env = await carriedEnv(deps, reporter.warn);
  const log = join(findFolders(deps).state, `${name}.log`);
  const pinged = options.ping ?? (deps.env.BRANDAPI_PING && parsePing(deps.env.BRANDAPI_PING));
  const sync = [node, script, "sync", ...flags, ...(pinged ? ["--ping", pinged] : [])];
  const check = [node, script, "status", ...flags, "--max-age", maxAge, "--quiet"];
  // Some crons halve a doubled backslash before the shell sees it, others do not.
  const unfit = [...sync, ...Object.values(env), log].find((value) => /[\p{Cc}\\]/u.test(value));
  if (unfit !== undefined)
    throw new ConfigurationError(
      `A crontab cannot hold a line break or a backslash: ${JSON.stringify(unfit)}`,
      {
        hint: "use a path without one",
      },
    );
  const minute = minuteFor(machine, name);
  const whose = options.allProfiles ? "every brand" : `the profile ${name}`;
  const logged = `mkdir -pm 700 ${shellWord(dirname(log))} && { date -u; ${shellCommand(sync, env)}; } >> ${shellWord(log)} 2>&1`;
  const text = [
    `# brandapi, ${whose}, every night at 0${hour}:${String(minute).padStart(2, "0")}: a sync, and a check in the morning. To add them:`,
    `#   (crontab -l 2>/dev/null; ${shellCommand(["brandapi", "cron", ...flags])}) | crontab -`,
    "# Print them again if Node or brandapi has moved, and delete these. The sync writes to its log:",
    `#   ${log}`,
    "# The check prints what is stale, and warns if the key is about to expire. Cron mails the output if this machine",
    "# has a mail server. To choose the address, put MAILTO=you@example.com above.",
    // A bare per cent sign ends the command.
    `${minute} ${hour} * * *  ${logged.replaceAll("%", "\\%")}`,
    `${minute} ${hour + 4} * * *  ${shellCommand(check, env).replaceAll("%", "\\%")}`,
  ];
  deps.stdout.write(`${text.join("\n")}\n`);
  reporter.close();
}

/** A minute of its own, from 1 to 59: neither all machines nor all brands of one ask at the same time. */
function minuteFor(machine: string, name: string): number {
  const digest = createHash("sha256").update(`${machine}\n${name}`).digest();
  return 1 + (digest.readUInt32BE() % 59);
}

/** The profile, and the flags that name it at night: the environment's values become flags, and paths are absolute. */
async function nameBrand(options: GlobalOptions, deps: Deps, warn: (text: string) => void) {
  const { commandFor, environmentFor, readSettings, requireAccess } = await import("../config/settings.js");
  const { expandPath } = await import("../config/folders.js");
  const { BRANDAPI_KEY, ...env } = environmentFor(options, deps.env);
  const settings = await readSettings(options, { ...deps, env });
  const { profile, dbPath, baseUrl } = settings;
  try {
    requireAccess(settings);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    warn(`${error.message} At night there is only what \`${commandFor("login", profile)}\` has stored.`);
  }
  const given = [
    ["--profile", profile === "default" ? undefined : profile],
    ["--db", options.db || env.BRANDAPI_DB ? dbPath : undefined],
    ["--base-url", options.baseUrl || env.BRANDAPI_BASE_URL ? baseUrl : undefined],
    ["--key-file", options.keyFile && expandPath(options.keyFile, deps)],
  ] as const;
  const flags = given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return { name: profile, flags };
}

const asTheyAre = ["BRANDAPI_RATE_LIMIT", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
const proxies = ["https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"];

/** The variables that are set here and would be missed at night; never the key. */
async function carriedEnv({ env, home, machine, cwd, platform }: Deps, warn: (text: string) => void) {
  const { expandPath } = await import("../config/folders.js");
  const carried: Record<string, string> = home === machine.home ? {} : { HOME: home };
  for (const name of ["BRANDAPI_CONFIG_DIR", "NODE_EXTRA_CA_CERTS"])
    if (env[name]) carried[name] = expandPath(env[name], { env, home, cwd, platform });
  for (const name of [...asTheyAre, ...proxies])
    if (env[name]?.includes("@")) warn(`${name} holds a password, and is left out.`);
    else if (env[name]) carried[name] = env[name];
  return carried;
}
