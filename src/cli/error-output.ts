import { existsSync } from "node:fs";
import { parseBaseUrl } from "../config/credentials.js";
import { expandPath, type PathDeps } from "../config/folders.js";
import type { CommandLine, Deps } from "../deps.js";
import { BrandapiError, type ExitCode, UsageError } from "../errors.js";
import { explainSqliteError } from "../store/sqlite-errors.js";
import { abbreviateArguments, hideKeys } from "../util/redact-keys.js";
import { explainSystemError } from "../util/system-errors.js";
import { escapeLines, printJson } from "../util/terminal.js";
import { addBrandFlags } from "./brand-flags.js";

/**
 * Prints an error to stderr and, with `--json`, also to stdout. Control characters are escaped, and keys are redacted.
 * In a usage error, long arguments are abbreviated because they may be keys.
 * @param profile the failed profile, if the command runs for all profiles
 * @returns the error's exit code
 */
export function reportError(
  error: unknown,
  commandLine: CommandLine,
  deps: Pick<Deps, "stdout" | "stderr" | "signal" | "apiKeys"> & PathDeps,
  profile?: string,
): ExitCode {
  const { argv, db, json, verbose } = commandLine;
  // Print the reason for the abort, which is more useful to users than the AbortError itself.
  const isCutShort = deps.signal.aborted && error instanceof Error && error.name === "AbortError";
  const explained = asBrandapiError(isCutShort ? deps.signal.reason : error);
  const { code } = explained;
  const { apiKeys, env } = deps;
  const clean = (text: string) =>
    hideKeys(explained instanceof UsageError ? abbreviateArguments(text, argv) : text, apiKeys);
  const message = clean(explained.message);
  // Omit `--base-url` and `--key-file` from the hint if their values could be a URL with a password, or a key.
  const baseUrl = isBaseUrl(commandLine.baseUrl) ? commandLine.baseUrl : undefined;
  const keyFile = fileExists(commandLine.keyFile, deps) ? commandLine.keyFile : undefined;
  const brandFlags = { profile: commandLine.profile ?? profile, db, baseUrl, keyFile };
  const hint = explained.hint && hideKeys(addBrandFlags(clean(explained.hint), brandFlags, env), apiKeys);
  if (json) printJson(deps.stdout, { profile, error: { code, message, hint: hint ?? null } });
  const profilePrefix = profile === undefined ? "" : `${profile}: `;
  deps.stderr.write(`brandapi: ${profilePrefix}${escapeLines(message)}\n`);
  if (hint) deps.stderr.write(`  hint: ${escapeLines(hint)}\n`);
  if (verbose)
    for (const stack of collectStacks(error)) deps.stderr.write(`  ${escapeLines(clean(stack))}\n`);
  return explained.exitCode;
}

function isBaseUrl(text: string | undefined): boolean {
  try {
    return text !== undefined && parseBaseUrl(text, "--base-url") !== "";
  } catch {
    return false;
  }
}

function fileExists(path: string | undefined, deps: PathDeps): boolean {
  try {
    return path !== undefined && existsSync(expandPath(path, deps));
  } catch {
    return false;
  }
}

/**
 * Converts any thrown value to a BrandapiError. Operating system and SQLite errors get a message and a hint. Any other
 * error is a bug in brandapi.
 */
export function asBrandapiError(error: unknown): BrandapiError {
  if (error instanceof BrandapiError) return error;
  return (
    explainSqliteError(error) ??
    explainSystemError(error) ??
    new BrandapiError(`A bug in brandapi: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "please report it, and include the output of `--verbose`",
      cause: error,
    })
  );
}

function collectStacks(error: unknown): string[] {
  return error instanceof Error ? [error.stack ?? String(error), ...collectStacks(error.cause)] : [];
}
