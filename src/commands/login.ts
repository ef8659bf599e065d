import { Command } from "commander";
import { type Access, checkBaseUrl, checkKey, commandFor, readKeyStream } from "../config/access.js";
import { configFile, type Profile, readProfiles, writeProfiles } from "../config/profiles.js";
import { environmentFor, readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { parseOmit } from "../resources/omit.js";
import { openPrompt } from "../ui/prompt.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";
import { examples } from "./help.js";
import { printIdentity, readIdentity } from "./identity.js";
import { interactiveMaxWaitMs, openApi } from "./open-api.js";
import { ping } from "./ping.js";

interface LoginFlags extends GlobalOptions {
  keyStdin?: boolean;
  ping?: string;
  omit?: string[];
}

export function define(context: Context): Command {
  return new Command("login")
    .description(
      "The key is read from a hidden prompt, from stdin or from --key-file; it is never an argument. " +
        "It is checked with the API first, then stored in a file that only you can read.",
    )
    .option("--key-stdin", "read the key from stdin: for scripts")
    .addOption(ping("each sync pings this address: a dead-man's switch"))
    .addOption(
      parsed("--omit <members>", "never keep these, such as host.last_name,roster:host.socials", parseOmit),
    )
    .addHelpText(
      "after",
      examples(
        [
          "brandapi login --base-url https://platform.example/api/brand/v1",
          "asks for the key, checks it and stores it",
        ],
        ["pass show brandapi | brandapi login --key-stdin", "the key from a password manager"],
        ["brandapi login --profile acme", "a second brand, with a mirror of its own"],
      ),
    )
    .action((_, command: Command) => runLogin(command.optsWithGlobals(), context));
}

async function runLogin(options: LoginFlags, { deps }: Context): Promise<void> {
  const settings = await readSettings(options, deps, { maxWaitMs: interactiveMaxWaitMs, isLogin: true });
  const { configDir, profile } = settings;
  const profiles = await readProfiles(deps);
  const stored = profiles.get(profile) ?? {};
  const access = storedAccess(options, stored) ?? (await enterAccess(settings, deps));
  deps.keys.add(access.key);
  const reporter = createReporter(deps, options);
  const api = await openApi({ ...settings, ...access }, deps, reporter);
  try {
    const identity = await readIdentity(api);
    const { brand, key } = identity;
    profiles.set(profile, {
      ...stored,
      ...access,
      ...(options.db !== undefined && { db: settings.dbPath }),
      ...(options.ping !== undefined && { ping: options.ping }),
      ...(options.omit !== undefined && { omit: options.omit.join(",") }),
      brandId: brand.id,
      brandName: brand.name,
      keyExpiresAt: key.expires_at ?? undefined,
    });
    await writeProfiles(configDir, profiles);
    for (const name of ["BRANDAPI_KEY", "BRANDAPI_BASE_URL"])
      if (environmentFor(options, deps.env)[name])
        reporter.warn(`${name} is set, and goes before what was stored.`);
    printIdentity(deps, { ...settings, ...access }, identity);
    reporter.note(`Stored in ${configFile(configDir)}. Next: \`${commandFor("sync", profile)}\`.`);
  } finally {
    api.close();
    reporter.close();
  }
}

/** Returns the profile's own base URL and key if `--ping` or `--omit` is all that changes. */
function storedAccess(flags: LoginFlags, { baseUrl, key }: Profile): Access | undefined {
  const isAccessGiven = (flags.baseUrl ?? flags.keyFile ?? flags.keyStdin) !== undefined;
  if (isAccessGiven || (flags.ping ?? flags.omit) === undefined) return undefined;
  return baseUrl !== undefined && key !== undefined ? { baseUrl, key } : undefined;
}

/** Returns what the flags give; the rest is read from the terminal, or the key from stdin if that is not a terminal. */
async function enterAccess({ baseUrl, key, profile }: Settings, deps: Deps): Promise<Access> {
  if (!deps.stdin.isTTY) {
    if (baseUrl !== undefined) return { baseUrl, key: key ?? (await readKeyStream(deps.stdin, deps.signal)) };
    throw new ConfigurationError("No base URL was given.", {
      hint: "add `--base-url https://…/api/brand/v1`, the address that your platform names",
    });
  }
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  const prompt = openPrompt(deps);
  const ask = (question: string, hidden: boolean) => prompt.ask(question, { hidden });
  try {
    const url = baseUrl ?? checkBaseUrl(await ask("Base URL (ends in /api/brand/v1): ", false), "the prompt");
    const question = `API key for the profile \`${profile}\` (not shown): `;
    return { baseUrl: url, key: key ?? checkKey(await ask(question, true), "the prompt") };
  } finally {
    prompt.close();
  }
}
