import { join } from "node:path";
import { explainMissingCredentials, refuseUnknownProfile } from "../config/missing-credentials.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, MirrorUnusable } from "../errors.js";
import { lastBackupHint } from "../store/backups.js";
import { explainOpenError, explainSqliteError } from "../store/sqlite-errors.js";
import { pathExists } from "../util/files.js";
import { isDamageError } from "../util/sqlite.js";

/**
 * Creates the error for a missing mirror. The hint depends on whether the user passed a path, has a key, and has run
 * the demo.
 * @throws ConfigurationError if the profile is unknown
 */
export function createMissingMirrorError(settings: Settings, deps: Deps): ConfigurationError {
  const { dbPath, key, passedFlags } = settings;
  const firstSync =
    key === undefined ? "run `brandapi login`, then `brandapi sync`" : "run `brandapi sync` first";
  if (passedFlags.db !== undefined) return createNoMirrorError(dbPath, `check the path, or ${firstSync}`);
  refuseUnknownProfile(settings, deps);
  if (passedFlags.profile === undefined && deps.env.BRANDAPI_DB)
    return createNoMirrorError(dbPath, `check the path in BRANDAPI_DB, or ${firstSync}`);
  const demo = join("brandapi-demo", "demo.sqlite");
  if (pathExists(join(deps.cwd, demo)))
    return createNoMirrorError(
      dbPath,
      `add \`--db ${demo}\` to use the demo's mirror; for your own brand, ${firstSync}`,
    );
  if (key !== undefined) return createNoMirrorError(dbPath, firstSync);
  const missing = explainMissingCredentials(settings, deps);
  return createNoMirrorError(dbPath, missing?.hint ?? `${firstSync}; without a key, try \`brandapi demo\``);
}

function createNoMirrorError(path: string, hint: string): ConfigurationError {
  return new ConfigurationError(`No mirror yet: ${path}.`, { hint });
}

/**
 * Adds the mirror's path to an error from SQLite. If the mirror is damaged, the hint is the command that restores the
 * newest backup. Returns other errors unchanged.
 */
export async function explainMirrorError(error: unknown, path: string): Promise<unknown> {
  const explain = isDamageError(error) ? explainOpenError : explainSqliteError;
  const explained = explain(error, path) ?? error;
  if (!(explained instanceof MirrorUnusable) || !isDamageError(explained.cause)) return explained;
  const { message, cause } = explained;
  const hint = await lastBackupHint(path);
  return hint === null ? explained : new MirrorUnusable(message, { hint, cause });
}
