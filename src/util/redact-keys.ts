import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";

/** Shorter keys are not redacted, because they could be part of an ordinary word. */
const minRedactedKeyLength = 6;
/** Messages abbreviate arguments that are longer than this. */
const maxQuotedLength = 40;
const quotedStart = 8;

/**
 * Rejects a command line or an environment variable that contains a key in use, because the key could end up in a file
 * name, a request or a log. The error message does not quote the input.
 */
export function refuseKeys(argv: readonly string[], env: Env, keys: ReadonlySet<string>): void {
  const patterns = keyPatterns(keys);
  const containsKey = (text: string) => patterns.some((pattern) => text.search(pattern) >= 0);
  if (argv.some(containsKey))
    throw new UsageError("An API key was passed on the command line, where other users can see it.", {
      hint: "use `brandapi login`, which reads the key from a hidden prompt or from stdin; consider replacing the key in the brand's console",
    });
  for (const [name, value = ""] of Object.entries(env))
    if (name.startsWith("BRANDAPI_") && name !== "BRANDAPI_KEY" && containsKey(value))
      throw new ConfigurationError(`${name} contains the API key.`, {
        hint: "set BRANDAPI_KEY to the key, or store it with `brandapi login`",
      });
}

export function hideKeys(text: string, keys: ReadonlySet<string>): string {
  return keyPatterns(keys).reduce((redacted, pattern) => redacted.replace(pattern, "[key hidden]"), text);
}

/**
 * Abbreviates long arguments in a message, because a misplaced argument may be a key. Paths of existing
 * files are not abbreviated.
 */
export function abbreviateArguments(text: string, argv: readonly string[]): string {
  // A message may quote an entire argument, the value in `--flag=value`, or an item in a list.
  const parts = argv.flatMap((argument) => [
    argument,
    argument.replace(/^[^=]*=/, ""),
    ...argument.split(/[=,\s]/),
  ]);
  const long = parts.filter(
    (part) => part.length > maxQuotedLength && !(isAbsolute(part) && existsSync(part)),
  );
  return long
    .sort((a, b) => b.length - a.length)
    .reduce((short, part) => short.replaceAll(part, abbreviate(part)), text);
}

export function abbreviate(text: string): string {
  if (text.length <= maxQuotedLength) return text;
  return `${text.slice(0, quotedStart)}… (${text.length} characters)`;
}

/** Returns case-insensitive patterns for the keys, because URLs are printed with the host in lower case. */
function keyPatterns(keys: ReadonlySet<string>): RegExp[] {
  return [...keys]
    .filter((key) => key.length >= minRedactedKeyLength)
    .map((key) => new RegExp(key.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "gi"));
}
