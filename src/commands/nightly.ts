import { createHash } from "node:crypto";
import { join } from "node:path";
import { expandPath, findFolders } from "../config/folders.js";
import { commandFor, readSettings, requireAccess } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import type { GlobalOptions } from "./context.js";

/** What is to be run every night. The key is no part of it. */
export interface Nightly {
  /** The profile, or `all-profiles`: what its log and its units are named for. */
  name: string;
  /** What the program needs of the environment, which a schedule does not have. */
  env: Readonly<Record<string, string>>;
  /** The command lines, Node first: the sync, and the check that says what is stale. */
  sync: readonly string[];
  check: readonly string[];
  /** The flags that it was asked for with. */
  flags: readonly string[];
  /** In local time. Between 4 and 5 no clock is put forward or back. */
  hour: number;
  minute: number;
  log: string;
}

/** By then a night was missed: a day, and two hours for one that takes longer than the one before. */
const maxAge = "26h";

/**
 * @param warn is told what would keep the night from working
 * @throws ConfigurationError for a setting that no schedule can hold, UsageError for a mistyped profile
 */
export async function planNight(
  options: GlobalOptions & { allProfiles?: boolean },
  deps: Deps,
  warn: (text: string) => void,
): Promise<Nightly> {
  const { name, flags } =
    options.allProfiles === true
      ? { name: "all-profiles", flags: ["--all-profiles"] }
      : await nameBrand(options, deps, warn);
  const { node, script } = deps.machine;
  const night = {
    name,
    env: carriedEnv(deps, warn),
    sync: [node, script, "sync", ...flags],
    check: [node, script, "status", ...flags, "--max-age", maxAge, "--quiet"],
    flags,
    hour: 4,
    minute: minuteFor(deps.machine.name, name),
    log: join(findFolders(deps).state, `${name}.log`),
  };
  for (const value of [...night.sync, ...Object.values(night.env), night.log])
    if (/\p{Cc}/u.test(value))
      throw new ConfigurationError(`No schedule can hold a line break: ${JSON.stringify(value)}`, {
        hint: "use a path without one",
      });
  return night;
}

/** A minute of its own, from 1 to 59: neither all machines nor all brands of one ask at the same time. */
function minuteFor(machine: string, name: string): number {
  const digest = createHash("sha256").update(`${machine}\n${name}`).digest();
  return 1 + (digest.readUInt32BE() % 59);
}

/** The profile, and the flags that name it at night: what the environment said is a flag there, and paths are absolute. */
async function nameBrand(
  options: GlobalOptions,
  deps: Deps,
  warn: (text: string) => void,
): Promise<Pick<Nightly, "name" | "flags">> {
  const { BRANDAPI_KEY, ...env } = deps.env;
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

const folders = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
const network = ["https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"];

/** What is set here and would be missed at night; never the key. */
function carriedEnv({ env, home, machine, cwd, platform }: Deps, warn: (text: string) => void) {
  const carried: Record<string, string> = home === machine.home ? {} : { HOME: home };
  for (const name of ["BRANDAPI_CONFIG_DIR", "NODE_EXTRA_CA_CERTS"])
    if (env[name]) carried[name] = expandPath(env[name], { env, home, cwd, platform });
  for (const name of ["BRANDAPI_RATE_LIMIT", ...folders, ...network])
    if (env[name]?.includes("@")) warn(`${name} holds a password, and is left out.`);
    else if (env[name]) carried[name] = env[name];
  return carried;
}
