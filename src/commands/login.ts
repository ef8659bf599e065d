import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { type Access, checkBaseUrl, checkKey, commandFor, requireAccess } from "../config/access.js";
import { configFile } from "../config/folders.js";
import { readProfiles, writeProfiles } from "../config/profiles.js";
import { environmentFor, readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { openPrompt } from "../ui/prompt.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";
import { askIdentity, printIdentity } from "./identity.js";
import { parseOmit } from "./omit.js";
import { parsePing } from "./ping.js";

type LoginFlags = GlobalOptions & { keyStdin?: boolean; ping?: string; omit?: string[] };

export const about =
  "The key is read from a hidden prompt, from stdin or from --key-file; it is never an argument. " +
  "It is checked with the API first, then stored in a file that only you can read.";

export const examples = {
  "brandapi login --base-url https://platform.example/api/brand/v1":
    "asks for the key, checks it and stores it",
  "pass show brandapi | brandapi login --key-stdin": "the key from a password manager",
  "brandapi login --profile acme": "a second brand, with a mirror of its own",
};

export function define(command: Command): void {
  command
    .option("--key-stdin", "read the key from stdin: for scripts")
    .addOption(parsed("--ping <url>", "each sync pings this address: a dead-man's switch", parsePing))
    .addOption(parsed("--omit <members>", "never keep these: host.last_name,roster:host.socials", parseOmit));
}

export async function run(options: LoginFlags, { deps }: Context): Promise<void> {
  // The key that is stored is never that of the environment.
  const { BRANDAPI_BASE_URL, BRANDAPI_KEY, ...env } = deps.env;
  const settings = await readSettings(options, { ...deps, env }, "login");
  const { profile } = settings;
  const profiles = await readProfiles(deps);
  const stored = profiles.get(profile) ?? {};
  const access = await readAccess(options, settings, deps);
  deps.keys.add(access.key);
  const reporter = createReporter(deps, options);
  const identity = await askIdentity({ ...settings, ...access }, deps, reporter);
  const { brand, key } = identity;
  profiles.set(profile, {
    ...stored,
    ...access,
    db: options.db === undefined ? stored.db : settings.dbPath,
    ping: options.ping ?? stored.ping,
    omit: options.omit?.join(",") ?? stored.omit,
    brandId: brand.id,
    brandName: brand.name,
    keyExpiresAt: key.expires_at ?? undefined,
  });
  await writeProfiles(profiles, deps);
  for (const name of ["BRANDAPI_KEY", "BRANDAPI_BASE_URL"])
    if (environmentFor(options, deps.env)[name])
      reporter.warn(`${name} is set, and overrides what was stored.`);
  printIdentity(deps, { ...settings, ...access }, identity);
  reporter.note(`Stored in ${configFile(deps)}. Next: \`${commandFor("sync", profile)}\`.`);
}

/**
 * Returns base URL and key: those that are stored if only `--ping` or `--omit` is given; else those of the flags, and the
 * address of the environment before the stored one. Asks for the missing ones at a terminal; elsewhere reads the key from
 * stdin.
 */
async function readAccess(flags: LoginFlags, settings: Settings, deps: Deps): Promise<Access> {
  const { profile } = settings;
  const changesAccess = (flags.baseUrl ?? flags.keyFile ?? flags.keyStdin) !== undefined;
  const changesOther = (flags.ping ?? flags.omit) !== undefined;
  if (settings.key !== undefined && changesOther && !changesAccess) return requireAccess(settings);
  const ofEnvironment = flags.baseUrl === undefined && deps.env.BRANDAPI_BASE_URL;
  const baseUrl = ofEnvironment ? checkBaseUrl(ofEnvironment, "BRANDAPI_BASE_URL") : settings.baseUrl;
  const key = flags.keyFile === undefined ? undefined : settings.key;
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  if (!deps.stdin.isTTY) {
    if (baseUrl !== undefined)
      return { baseUrl, key: checkKey(await text(addAbortSignal(deps.signal, deps.stdin)), "stdin") };
    throw new ConfigurationError("No base URL was given.", {
      hint: "add `--base-url https://…/api/brand/v1`, the address that your platform names",
    });
  }
  const { ask, close } = openPrompt(deps);
  const question = `API key for the profile \`${profile}\` (not shown): `;
  try {
    const url = baseUrl ?? checkBaseUrl(await ask("Base URL (ends in /api/brand/v1): ", {}), "the prompt");
    return { baseUrl: url, key: key ?? checkKey(await ask(question, { hidden: true }), "the prompt") };
  } finally {
    close();
  }
}
