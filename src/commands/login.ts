import { addAbortSignal } from "node:stream";
import { type Command, Option } from "commander";
import { fetchIdentity, type Identity, printIdentity } from "../cli/api-session.js";
import { checkName, parsedOption } from "../cli/flags.js";
import { checkPingUrl } from "../cli/ping.js";
import { TerminalReporter } from "../cli/progress.js";
import { openPrompt } from "../cli/prompt.js";
import { parseBaseUrl, parseKey } from "../config/credentials.js";
import { configPath } from "../config/folders.js";
import { type ApiCredentials, requireCredentials } from "../config/missing-credentials.js";
import { type GlobalFlags, readSettings, type Settings } from "../config/settings.js";
import { mirrorPath, type Profile, readProfiles, writeProfiles } from "../config/stored-profiles.js";
import { brandEnv } from "../config/variables.js";
import type { Context, Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { allResources } from "../resources/registry.js";
import { listTableShapes, type TableShape } from "../resources/table-shape.js";
import { withMirror } from "../store/database.js";
import { openMirrorOrEmpty } from "../store/open.js";
import { loadOwner } from "../store/owner.js";
import { isImpliedBy, omitsHostNames } from "../store/redaction-rules.js";
import { readStream } from "../util/files.js";
import { quoteShellWord } from "../util/format-text.js";
import { escapeText } from "../util/terminal.js";

type LoginFlags = GlobalFlags & { keyStdin?: boolean; ping?: string | false; omit?: string[] };

export const about =
  "Prompts for the key, or reads it from stdin or --key-file. It cannot be passed as an argument. " +
  "The key is checked with one request, then stored in a file that only you can read.";

export const examples = {
  "brandapi login --base-url https://platform.example/api/brand/v1":
    "prompt for the key, then check and store it",
  "pass show brandapi | brandapi login --key-stdin": "read the key from a password manager",
  "brandapi login --profile acme": "add a second brand with a separate mirror",
};

export function define(command: Command): void {
  command
    .addOption(new Option("--key-stdin", "read the key from stdin").conflicts("keyFile"))
    .addOption(
      parsedOption(
        "--ping <url>",
        "URL of a dead man's switch to ping when a sync starts and ends",
        checkPingUrl,
      ),
    )
    .option("--no-ping", "remove the stored ping URL")
    .addOption(
      new Option(
        "--omit <fields>",
        "fields to omit from the mirror, such as host.last_name or roster:host.socials; replaces the current list",
      ).argParser((text: string, previous: readonly string[] = []) => [
        ...new Set([...previous, ...parseOmit(text)]),
      ]),
    );
}

export async function run(flags: LoginFlags, { deps }: Context): Promise<void> {
  // Read the settings without the environment's credentials, because `login` never stores a key from the environment.
  const { BRANDAPI_BASE_URL, BRANDAPI_KEY, ...envWithoutCredentials } = deps.env;
  const settings = readSettings(flags, { ...deps, env: envWithoutCredentials }, "login");
  const { profile } = settings;
  const profiles = readProfiles(deps);
  const stored = profiles.get(profile) ?? {};
  const credentials = await readCredentials(flags, settings, deps);
  deps.apiKeys.add(credentials.key);
  const keySource = credentials.key === settings.key ? settings.keySource : undefined;
  const identity = await fetchIdentity({ ...settings, ...credentials, keySource }, flags, deps);
  // The suggested commands need no `--base-url` or `--key-file`, because the profile now contains the URL and the key.
  const reporter = new TerminalReporter(deps, { ...flags, baseUrl: undefined, keyFile: undefined });
  const { brand, key } = identity;
  await refuseOtherBrand(brand, profile, stored, flags, deps);
  const omit = flags.omit ?? settings.omit;
  profiles.set(profile, {
    ...stored,
    ...credentials,
    db: flags.db === undefined ? stored.db : settings.dbPath,
    ping: flags.ping === false ? undefined : (flags.ping ?? stored.ping),
    omit: omit.join(",") || undefined,
    brandId: brand.id,
    brandName: brand.name,
    keyExpiresAt: key.expires_at ?? undefined,
  });
  await writeProfiles(profiles, deps);
  const env = brandEnv(flags, deps.env);
  for (const [name, value] of [
    ["BRANDAPI_KEY", credentials.key],
    ["BRANDAPI_BASE_URL", credentials.baseUrl],
  ] as const)
    if (env[name] && env[name].trim().replace(/\/+$/, "") !== value)
      reporter.warn(`${name} is set and overrides the stored value.`);
  printIdentity(deps, flags, { ...settings, ...credentials, omit }, identity, { omit });
  if (flags.omit && omitsHostNames({ omit }) && !isImpliedBy("content:host.name", omit))
    reporter.warn(
      "Content records still contain the hosts' display names, which usually include first and last names. To omit them as well, add `content:host.name` to `--omit`.",
    );
  if (flags.omit) reporter.note(describeOmitChange(settings.omit, omit));
  if (flags.ping === false) {
    reporter.note(stored.ping ? "Removed the ping URL." : "No ping URL was stored.");
    if (deps.env.BRANDAPI_PING) reporter.warn("BRANDAPI_PING is still set in the environment.");
  }
  reporter.note(`Stored in ${configPath(deps)}. Next: \`brandapi sync\`.`);
}

/**
 * Throws a ConfigurationError if the profile's mirror belongs to a different brand than the key. If there is no mirror,
 * compares the brand stored in the profile. The hint does not suggest replacing the stored key, because the user might
 * not have another copy of it, and the console displays a key only once.
 */
async function refuseOtherBrand(
  brand: Identity["brand"],
  profile: string,
  stored: Profile,
  flags: LoginFlags,
  deps: Deps,
): Promise<void> {
  const path = mirrorPath(profile, flags.db ?? stored.db, deps);
  // Ignore an unusable mirror, because `doctor` and `sync` report it.
  const owner = await withMirror(openMirrorOrEmpty(path), loadOwner).catch(() => null);
  const { brandId, brandName = brandId } = stored;
  const current = owner ?? (brandId && brandName ? { id: brandId, name: brandName } : null);
  if (current === null || current.id === brand.id) return;
  const owned =
    owner === null
      ? `The profile \`${profile}\` belongs`
      : `The profile \`${profile}\` and its mirror belong`;
  throw new ConfigurationError(
    `${owned} to ${current.name} (${current.id}), but this key belongs to ${brand.name} (${brand.id}).`,
    { hint: "nothing was stored; add the brand as a separate profile: `brandapi login --profile NAME`" },
  );
}

/**
 * Returns the base URL and the key to store. If only `--ping`, `--no-ping` or `--omit` was passed, returns the current
 * base URL and key. Otherwise, flags take precedence over BRANDAPI_BASE_URL, which takes precedence over the profile. On a terminal,
 * prompts for missing values. If stdin is not a terminal, reads the key from stdin.
 */
async function readCredentials(flags: LoginFlags, settings: Settings, deps: Deps): Promise<ApiCredentials> {
  const { profile } = settings;
  const changesCredentials = (flags.baseUrl ?? flags.keyFile ?? flags.keyStdin) !== undefined;
  const changesOther = (flags.ping ?? flags.omit) !== undefined;
  if (settings.key !== undefined && changesOther && !changesCredentials)
    return requireCredentials(settings, deps);
  const envBaseUrl = flags.baseUrl === undefined && deps.env.BRANDAPI_BASE_URL;
  const baseUrl = envBaseUrl ? parseBaseUrl(envBaseUrl, "BRANDAPI_BASE_URL") : settings.baseUrl;
  const key = flags.keyFile === undefined ? undefined : settings.key;
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  if (!deps.stdin.isTTY) {
    if (baseUrl !== undefined) return { baseUrl, key: await readPipedKey(flags, deps) };
    throw new ConfigurationError("No base URL was specified.", {
      hint: "add `--base-url https://…/api/brand/v1`, with your platform's address",
    });
  }
  const { ask, close } = openPrompt(deps);
  const askForUrl = () => ask("Base URL (ends in /api/brand/v1): ", {});
  const askForKey = () => ask(`API key for the profile \`${profile}\` (not shown): `, { hidden: true });
  try {
    const url = baseUrl ?? (await askUntilValid(askForUrl, parseBaseUrl, deps));
    return { baseUrl: url, key: key ?? (await askUntilValid(askForKey, parseKey, deps)) };
  } finally {
    close();
  }
}

/** @throws ConfigurationError if stdin is empty or contains no valid key */
async function readPipedKey({ baseUrl }: LoginFlags, deps: Deps): Promise<string> {
  const text = await readStream(addAbortSignal(deps.signal, deps.stdin), "stdin");
  if (text.trim() !== "") return parseKey(text, "stdin");
  const login = `brandapi login${baseUrl ? ` --base-url ${quoteShellWord(baseUrl)}` : ""} --key-stdin`;
  throw new ConfigurationError("The key from stdin is empty.", {
    hint: `pipe the key in, as in \`pass show brandapi | ${login}\``,
  });
}

/**
 * Repeats a question until `parse` accepts the answer.
 * @throws whatever `ask` throws on Ctrl-C or at the end of input
 */
async function askUntilValid(
  ask: () => Promise<string>,
  parse: (text: string, source: string) => string,
  { stderr }: Pick<Deps, "stderr">,
): Promise<string> {
  for (;;) {
    const answer = await ask();
    try {
      return parse(answer.trim(), "the prompt");
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      stderr.write(`${escapeText(error.message)}\n  hint: ${error.hint}\n`);
    }
  }
}

/** Text fields that cannot be omitted, because a sync or a view needs them. */
const neededTextFields = ["id", "currency", "status", "brand_payment_state", "athlete_payment_state"];

/**
 * Parses a list such as `host.last_name,roster:host.socials`. An entry consists of a field's path or the end of that
 * path. It applies to all resources unless it starts with a resource's name. Only text can be omitted, because a sync
 * needs IDs, dates and numbers.
 * @throws UsageError if a field is unknown or cannot be omitted
 */
function parseOmit(list: string): string[] {
  const fields = allResources.flatMap(listTableShapes).flatMap(listFields);
  const neededNames = new Set(fields.filter(({ isNeeded }) => isNeeded).flatMap(({ names }) => names));
  const allowedNames = fields.flatMap(({ names }) => names).filter((name) => !neededNames.has(name));
  const noun = "field, or a field that a sync needs";
  const hint = "use the name of an API field, such as `host.last_name`";
  const rules = list.match(/[^,\s]+/g) ?? [];
  for (const rule of rules) if (!namesUndocumentedField(rule)) checkName(noun, rule, allowedNames, hint);
  return rules;
}

/**
 * True if the rule has the form `RESOURCE:FIELD` and names a resource whose fields are undocumented, unless the field
 * is an ID. IDs cannot be omitted, because a sync needs them.
 */
function namesUndocumentedField(rule: string): boolean {
  const [name, field = "", ...rest] = rule.split(":");
  if (field === "" || rest.length > 0 || field.split(".").at(-1) === "id") return false;
  return allResources.some((resource) => resource.discoversColumns && resource.name === name);
}

/**
 * Lists each field of a table with all the names that `--omit` accepts for it: its path, or the last parts of its path,
 * with or without the resource's name.
 */
function listFields({ columns, list, resource }: TableShape): { names: string[]; isNeeded: boolean }[] {
  return columns.map(({ source, path, type }) => {
    const fullPath = [...(list?.path ?? []), ...path];
    const ends = fullPath.map((_, start) => fullPath.slice(start).join("."));
    const names = [...ends, ...ends.map((end) => `${resource.name}:${end}`)];
    const isText = source === "record" && (type === "text" || type === "json");
    const isKey = resource.key.includes(fullPath.join("."));
    const isNeeded = !isText || isKey || neededTextFields.includes(path.at(-1) ?? "");
    return { names, isNeeded };
  });
}

function describeOmitChange(before: readonly string[], after: readonly string[]): string {
  const added = after.filter((field) => !before.includes(field));
  const removed = before.filter((field) => !after.includes(field));
  const changes = [
    added.length > 0 ? `added: ${added.join(", ")}` : [],
    removed.length > 0 ? `no longer omitted: ${removed.join(", ")}` : [],
  ].flat();
  const list = after.length === 0 ? "Nothing is omitted" : `Omitted fields: ${after.join(", ")}`;
  const next = changes.length === 0 ? "" : " The next sync applies the new list to the stored records.";
  return `${list} (${changes.join("; ") || "unchanged"}).${next}`;
}
