import type { Profile } from "../config/profiles.js";
import type { Settings } from "../config.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, exitCodes } from "../errors.js";
import { defineCommand } from "./command.js";
import { interactiveFlags } from "./globals.js";
import type { Identity } from "./identity.js";

interface LoginFlags {
  keyStdin?: boolean;
}

export const login = defineCommand<LoginFlags>({
  name: "login",
  summary: "Store a brand's base URL and key, after checking them",
  description:
    "The key is read from a hidden prompt, from stdin or from --key-file; it is never an argument. " +
    "It is checked with the API first, then stored in a file that only you can read.",
  arguments: [],
  flags: [{ flags: "--key-stdin", about: "read the key from stdin: for scripts" }, ...interactiveFlags],
  examples: [
    {
      command: "brandapi login --base-url https://platform.example/api/brand/v1",
      about: "asks for the key, checks it and stores it",
    },
    { command: "pass show brandapi | brandapi login --key-stdin", about: "the key from a password manager" },
    { command: "brandapi login --profile acme", about: "a second brand, with a mirror of its own" },
  ],

  async run({ deps, options }) {
    const { readSettings } = await import("../config.js");
    const { interactiveMaxWaitMs, openApiWith } = await import("./access.js");
    const settings = await readSettings(options, deps, {
      maxWaitMs: interactiveMaxWaitMs,
      keyFrom: "flag",
      isNew: true,
    });
    const { baseUrl, key } = await completeAccess(settings, deps);
    const { createReporter } = await import("../ui/reporter.js");
    const { readIdentity } = await import("./identity.js");
    const reporter = createReporter(deps, options);
    const api = await openApiWith({ ...settings, baseUrl, key }, deps, reporter);
    try {
      const identity = await readIdentity(api, settings.maxWaitMs);
      const db = options.db === undefined ? {} : { db: settings.dbPath };
      await store(settings, { baseUrl, key, ...db, ...told(identity) });
      for (const name of ["BRANDAPI_KEY", "BRANDAPI_BASE_URL"])
        if (deps.env[name]) reporter.warn(`${name} is set, and goes before what was stored.`);
      await show(deps, settings, baseUrl, identity);
    } finally {
      api.close();
      reporter.close();
    }
    return exitCodes.done;
  },
});

/** What no flag gave: asked for on the terminal, the key unseen, or the key from stdin where that is no terminal. */
async function completeAccess(
  { baseUrl, key, profile }: Settings,
  deps: Deps,
): Promise<{ baseUrl: string; key: string }> {
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  const { checkKey, readKeyStream } = await import("../config/key.js");
  if (!deps.stdin.isTTY) {
    if (baseUrl !== undefined) return { baseUrl, key: await readKeyStream(deps.stdin, deps.signal) };
    throw new ConfigurationError("No base URL was given.", {
      hint: "add `--base-url https://…/api/brand/v1`, the address that your platform names",
    });
  }
  const { checkBaseUrl } = await import("../config/base-url.js");
  const { openPrompt } = await import("../ui/prompt.js");
  const prompt = openPrompt(deps);
  const askBaseUrl = () => prompt.ask("Base URL (ends in /api/brand/v1): ", { hidden: false });
  const askKey = () => prompt.ask(`API key for the profile \`${profile}\` (not shown): `, { hidden: true });
  try {
    return {
      baseUrl: baseUrl ?? checkBaseUrl(await askBaseUrl(), "the prompt"),
      key: key ?? checkKey(await askKey(), "the prompt"),
    };
  } finally {
    prompt.close();
  }
}

/** What `/me` said, for commands that ask nobody; what it did not say replaces what it said of an earlier key. */
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
  const { commandFor } = await import("../config.js");
  const next = commandFor("sync", settings.profile);
  deps.stderr.write(`Stored in ${configFile(settings.configDir)}. Next: \`${next}\`.\n`);
}
