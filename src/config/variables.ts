import type { Env } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { closestName } from "../util/suggestions.js";
import { findExpansionFault } from "./credentials.js";
import type { OverridingFlags } from "./settings.js";

/**
 * Returns the environment variables that apply to a command. If `--profile` is given, variables that may belong to a
 * different brand are ignored.
 */
export function brandEnv({ profile }: OverridingFlags, env: Env): Env {
  if (profile === undefined) return env;
  const { BRANDAPI_DB, BRANDAPI_BASE_URL, BRANDAPI_KEY, ...rest } = env;
  return rest;
}

function overriddenVariables({ baseUrl, db, keyFile, profile, rateLimit }: OverridingFlags): string[] {
  const values = {
    BRANDAPI_BASE_URL: baseUrl,
    BRANDAPI_DB: db,
    BRANDAPI_KEY: keyFile,
    BRANDAPI_PROFILE: profile,
    BRANDAPI_RATE_LIMIT: rateLimit,
  };
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : name));
}

/**
 * @throws ConfigurationError if the value of an applicable variable is in quotes or is itself an unexpanded variable
 */
export function checkVariables(flags: OverridingFlags, env: Env): void {
  const overridden = overriddenVariables(flags);
  const used = brandEnv(flags, env);
  // BRANDAPI_BASE_URL and BRANDAPI_KEY are checked by `parseBaseUrl` and `parseKey`.
  const names = ["CONFIG_DIR", "DB", "PING", "PROFILE", "RATE_LIMIT"].map((suffix) => `BRANDAPI_${suffix}`);
  for (const name of names) {
    const unexpanded = overridden.includes(name) ? null : findExpansionFault(used[name] ?? "");
    if (unexpanded !== null)
      throw new ConfigurationError(`${name} ${unexpanded.fault}.`, { hint: unexpanded.hint });
  }
}

const suffixes = ["base_url", "config_dir", "db", "key", "ping", "profile", "rate_limit"];
const variables = suffixes.map((suffix) => `BRANDAPI_${suffix.toUpperCase()}`);
/** Maps patterns that match the name of an unknown variable to the variable that the user probably meant. */
const variableWords: readonly [pattern: RegExp, meant: string][] = [
  [/KEY|TOKEN|SECRET/, "BRANDAPI_KEY"],
  [/URL|HOST|ENDPOINT|SERVER/, "BRANDAPI_BASE_URL"],
  [/^DB|_DB|DATABASE|MIRROR|SQLITE/, "BRANDAPI_DB"],
  [/LIMIT/, "BRANDAPI_RATE_LIMIT"],
];

export interface MisspelledVariable {
  written: string;
  meant: string;
}

/**
 * Finds misspelled variables such as `BRANDAPI_API_KEY`. Ignores a variable if the correctly spelled variable is set or
 * is overridden by a flag. The flag's value may come from the ignored variable, as in
 * `--key-file "$BRANDAPI_KEY_FILE"`.
 */
export function findMisspelledVariables(flags: OverridingFlags, env: Env): MisspelledVariable[] {
  if (flags.profile !== undefined) return [];
  const overridden = overriddenVariables(flags);
  return Object.keys(env)
    .filter((name) => name.startsWith("BRANDAPI_") && !variables.includes(name) && env[name])
    .flatMap((written) => {
      const suffix = written.slice("BRANDAPI_".length);
      const meant =
        variableWords.find(([pattern]) => pattern.test(suffix))?.[1] ??
        variables.find((name) => name === `BRANDAPI_${closestName(suffix, suffixes)?.toUpperCase()}`);
      return meant === undefined || env[meant] || overridden.includes(meant) ? [] : { written, meant };
    });
}

/** Prints a note for each variable whose name is probably misspelled. */
export function noteMisspelledVariables(
  flags: OverridingFlags,
  env: Env,
  note: (text: string) => void,
): void {
  for (const { written, meant } of findMisspelledVariables(flags, env))
    note(`\`${written}\` is not used: did you mean \`${meant}\`?`);
}
