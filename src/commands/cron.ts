import { dirname, join } from "node:path";
import { Command } from "commander";
import { commandFor } from "../config/access.js";
import { expandPath, findFolders } from "../config/folders.js";
import { environmentFor, readSettings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { shellCommand, shellWord } from "../lib/shell.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { allProfiles } from "./flags.js";
import { parsePing, ping } from "./ping.js";

interface CronFlags extends GlobalOptions {
  allProfiles?: boolean;
  ping?: string;
}

/** A night was missed after a day, and two hours for a sync that takes longer than the one before. */
const maxAge = "26h";
/** Local time. Between 4 and 5 no clock is put forward or back. */
const hour = 4;

export const examples = {
  "brandapi cron": "look at the lines first",
  "(crontab -l; brandapi cron) | crontab -": "add them to your crontab",
};

export function define(context: Context): Command {
  return new Command("cron")
    .description(
      "Lines for this machine, this Node and this profile, with absolute paths and a minute of their own: a sync that " +
        "writes a log, and `status --max-age 26h`, which says what is stale. The key is never in them.",
    )
    .addOption(allProfiles())
    .addOption(ping("the nightly sync pings this address (BRANDAPI_PING)"))
    .action((_, command: Command) => runCron(command.optsWithGlobals(), context));
}

async function runCron(options: CronFlags, { deps }: Context): Promise<void> {
  const { name: machine, node, script } = deps.machine;
  if (/[\\/]_npx[\\/]/.test(script))
    throw new ConfigurationError("brandapi runs from npm's cache, which can be cleaned before the night.", {
      hint: "run `npm install -g brandapi`, then `brandapi cron`",
    });
  const { BRANDAPI_PING } = deps.env;
  const { warn } = createReporter(deps, options);
  const { name, flags } = options.allProfiles
    ? { name: "all-profiles", flags: ["--all-profiles"] }
    : await nameBrand(options, deps, warn);
  const env = carriedEnv(deps, warn);
  const pinged = options.ping ?? (BRANDAPI_PING && parsePing(BRANDAPI_PING));
  const pings = pinged ? ["--ping", pinged] : [];
  const sync = [node, script, "sync", ...flags, ...pings];
  const check = [node, script, "status", ...flags, "--max-age", maxAge, "--quiet"];
  const log = join(findFolders(deps).state, `${name}.log`);
  const [folder, file] = [shellWord(dirname(log)), shellWord(log)];
  const logged = `mkdir -pm 700 ${folder} && { date -u; ${shellCommand(sync, env)}; } >> ${file} 2>&1`;
  // Neither all machines nor all brands of one should ask at the same time.
  const minute =
    [...`${machine} ${name}`].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 59, 0) + 1;
  // A bare per cent sign ends the command.
  const line = (at: number, command: string) => `${minute} ${at} * * *  ${command.replaceAll("%", "\\%")}`;
  const text = `# brandapi, ${name}: a sync every night, and a check in the morning. To add them:
#   (crontab -l 2>/dev/null; ${shellCommand(["brandapi", "cron", ...flags, ...pings])}) | crontab -
# Print them again if Node or brandapi has moved, and delete these. The sync writes to its log:
#   ${log}
# The check prints what is stale, and warns if the key is about to expire. Cron mails the output if this machine
# has a mail server. To choose the address, put MAILTO=you@example.com above.
${line(hour, logged)}
${line(hour + 4, shellCommand(check, env))}
`;
  deps.stdout.write(text);
}

/** Returns the profile, and the flags that name it at night: the environment's values become flags, with full paths. */
async function nameBrand(options: GlobalOptions, deps: Deps, warn: (text: string) => void) {
  const { BRANDAPI_KEY, ...env } = environmentFor(options, deps.env);
  const { baseUrl, dbPath, key, profile } = await readSettings(options, { ...deps, env });
  if (baseUrl === undefined || key === undefined)
    warn(
      `No key and base URL are stored for \`${profile}\`, and at night there is nothing else: run \`${commandFor("login", profile)}\`.`,
    );
  const given = [
    ["--profile", profile === "default" ? undefined : profile],
    ["--db", options.db || env.BRANDAPI_DB ? dbPath : undefined],
    ["--base-url", options.baseUrl || env.BRANDAPI_BASE_URL ? baseUrl : undefined],
    ["--key-file", options.keyFile && expandPath(options.keyFile, deps)],
  ] as const;
  return { name: profile, flags: given.flatMap(([flag, value]) => (value ? [flag, value] : [])) };
}

const carriedNames = [
  ...["BRANDAPI_RATE_LIMIT", "NODE_EXTRA_CA_CERTS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
  ...["https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"],
];

/** Returns the variables that are set here and would be missed at night; never the key, nor a proxy's password. */
function carriedEnv(deps: Deps, warn: (text: string) => void): Record<string, string> {
  const { env, home, machine } = deps;
  const carried: Record<string, string> = home === machine.home ? {} : { HOME: home };
  if (env.BRANDAPI_CONFIG_DIR) carried.BRANDAPI_CONFIG_DIR = expandPath(env.BRANDAPI_CONFIG_DIR, deps);
  for (const name of carriedNames) {
    const value = env[name];
    if (value?.includes("@")) warn(`${name} holds a password, and is left out.`);
    else if (value) carried[name] = value;
  }
  return carried;
}
