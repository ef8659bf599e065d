import { Command } from "commander";
import type { Profile } from "../config/profiles.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { parseOmit } from "../resources/omit.js";
import type { Context, GlobalOptions } from "./context.js";
import { maxWait, parsed, rateLimit } from "./flags.js";
import { examples } from "./help.js";
import type { Identity } from "./identity.js";
import { ping } from "./ping.js";

interface LoginFlags extends GlobalOptions {
  keyStdin?: boolean;
  ping?: string;
  omit?: string[];
}

export function login(context: Context): Command {
  return new Command("login")
    .summary("Store a brand's base URL and key, after checking them")
    .description(
      "The key is read from a hidden prompt, from stdin or from --key-file; it is never an argument. " +
        "It is checked with the API first, then stored in a file that only you can read.",
    )
    .option("--key-stdin", "read the key from stdin: for scripts")
    .addOption(ping("each sync pings this address: a dead-man's switch"))
    .addOption(
      parsed("--omit <members>", "never keep these, such as host.last_name,roster:host.socials", parseOmit),
    )
    .addOption(rateLimit())
    .addOption(maxWait("15s"))
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
  const { environmentFor, readSettings } = await import("../config/settings.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { readIdentity } = await import("./identity.js");
  const { interactiveMaxWaitMs, openApi } = await import("./open-api.js");
  const settings = await readSettings(options, deps, {
    maxWaitMs: interactiveMaxWaitMs,
    isLogin: true,
  });
  const reporter = createReporter(deps, options);
  const { omit, ping } = options;
  const more: Profile = { ...(ping && { ping }), ...(omit && { omit: omit.join(",") }) };
  if (Object.keys(more).length > 0 && isKeyKept(options) && (await keep(settings, more, deps))) return;
  const entered = await enter(settings, deps);
  const api = await openApi({ ...settings, ...entered }, deps, reporter);
  try {
    const identity = await readIdentity(api);
    const db = options.db === undefined ? {} : { db: settings.dbPath };
    await store(settings, { ...entered, ...db, ...more, ...told(identity) });
    for (const name of ["BRANDAPI_KEY", "BRANDAPI_BASE_URL"])
      if (environmentFor(options, deps.env)[name])
        reporter.warn(`${name} is set, and goes before what was stored.`);
    await show(deps, settings, entered.baseUrl, identity);
  } finally {
    api.close();
    reporter.close();
  }
}

/** True if only what is said of a stored profile changes. */
function isKeyKept({ keyStdin, keyFile, baseUrl, db }: LoginFlags): boolean {
  return !keyStdin && [keyFile, baseUrl, db].every((one) => one === undefined);
}

/** Changes a profile that has a key. @returns false if there is none */
async function keep(settings: Settings, more: Profile, deps: Deps): Promise<boolean> {
  const { configFile, readProfiles } = await import("../config/profiles.js");
  if ((await readProfiles(settings.configDir)).get(settings.profile)?.key === undefined) return false;
  await store(settings, more);
  if (!settings.output.quiet)
    deps.stderr.write(`Stored in ${configFile(settings.configDir)}; the key is as it was.\n`);
  return true;
}

/** Returns what the flags give; the rest is read from the terminal, or the key from stdin if that is not a terminal. */
async function enter(
  { baseUrl, key, profile }: Settings,
  deps: Deps,
): Promise<{ baseUrl: string; key: string }> {
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  const { checkKey, readKeyStream } = await import("../config/access.js");
  if (!deps.stdin.isTTY) {
    if (baseUrl !== undefined) return { baseUrl, key: await readKeyStream(deps.stdin, deps.signal) };
    throw new ConfigurationError("No base URL was given.", {
      hint: "add `--base-url https://…/api/brand/v1`, the address that your platform names",
    });
  }
  const { checkBaseUrl } = await import("../config/access.js");
  const { openPrompt } = await import("../ui/prompt.js");
  const prompt = openPrompt(deps);
  const ask = (question: string, hidden: boolean) => prompt.ask(question, { hidden });
  try {
    return {
      baseUrl: baseUrl ?? checkBaseUrl(await ask("Base URL (ends in /api/brand/v1): ", false), "the prompt"),
      key:
        key ??
        checkKey(await ask(`API key for the profile \`${profile}\` (not shown): `, true), "the prompt"),
    };
  } finally {
    prompt.close();
  }
}

/** Returns what `/me` says, for commands without a network; what it leaves out is removed from the profile. */
function told({ brand, key }: Identity): Profile {
  return {
    brandId: brand.id,
    brandName: brand.name,
    keyId: key.id ?? undefined,
    keyExpiresAt: key.expires_at ?? undefined,
  };
}

async function store(settings: Settings, access: Profile): Promise<void> {
  const { readProfiles, writeProfiles } = await import("../config/profiles.js");
  const profiles = await readProfiles(settings.configDir);
  profiles.set(settings.profile, { ...profiles.get(settings.profile), ...access });
  await writeProfiles(settings.configDir, profiles);
}

async function show(deps: Deps, settings: Settings, baseUrl: string, identity: Identity): Promise<void> {
  const { printIdentity } = await import("./identity.js");
  const { configFile } = await import("../config/profiles.js");
  const { json, quiet } = settings.output;
  if (json || !quiet) printIdentity(deps, { ...settings, baseUrl }, identity);
  if (json || quiet) return;
  const { commandFor } = await import("../config/settings.js");
  const next = commandFor("sync", settings.profile);
  deps.stderr.write(`Stored in ${configFile(settings.configDir)}. Next: \`${next}\`.\n`);
}
