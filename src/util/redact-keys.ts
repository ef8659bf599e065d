import type { Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";

/** Shorter keys are not hidden: they would hide parts of ordinary words. */
const minKeyLength = 6;
/** A longer argument that nothing expects may be a key. */
const maxEchoedLength = 40;
const echoedStart = 8;

/**
 * Refuses a command line, or a setting in the environment, that contains one of the keys in use: it would end up in a
 * file name, a request or a log.
 * @throws UsageError, ConfigurationError; neither quotes the text
 */
export function refuseKeys(argv: readonly string[], env: Env, keys: ReadonlySet<string>): void {
  const patterns = patternsFor(keys);
  const containsKey = (text: string) => patterns.some((pattern) => text.search(pattern) >= 0);
  if (argv.some(containsKey))
    throw new UsageError("An API key was passed on the command line, where other users can see it.", {
      hint: "`brandapi login` reads it from a hidden prompt or from stdin; consider replacing it in the brand's console",
    });
  for (const [name, value = ""] of Object.entries(env))
    if (name.startsWith("BRANDAPI_") && name !== "BRANDAPI_KEY" && containsKey(value))
      throw new ConfigurationError(`${name} contains the API key.`, {
        hint: "put the key into BRANDAPI_KEY, or store it with `brandapi login`",
      });
}

/** Returns the text with `[key hidden]` in place of each key in use. Nothing else is altered. */
export function hideKeys(text: string, keys: ReadonlySet<string>): string {
  return patternsFor(keys).reduce((hidden, pattern) => hidden.replace(pattern, "[key hidden]"), text);
}

/** Returns the text with each argument that has more than 40 characters cut to its first eight. */
export function abbreviateArguments(text: string, argv: readonly string[]): string {
  // The value of `--flag=value`, and the items of a list, are quoted alone.
  const parts = argv.flatMap((argument) => [
    argument,
    argument.replace(/^[^=]*=/, ""),
    ...argument.split(/[=,\s]/),
  ]);
  const long = parts.filter((part) => part.length > maxEchoedLength);
  return long
    .sort((a, b) => b.length - a.length)
    .reduce((short, part) => short.replaceAll(part, abbreviate(part)), text);
}

/** Returns the first characters and the length of a text that is too long to be repeated. */
export function abbreviate(text: string): string {
  if (text.length <= maxEchoedLength) return text;
  return `${text.slice(0, echoedStart)}… (${text.length} characters)`;
}

/** Ignores case, because the host of a URL is printed in lower case. */
function patternsFor(keys: ReadonlySet<string>): RegExp[] {
  return [...keys]
    .filter((key) => key.length >= minKeyLength)
    .map((key) => new RegExp(key.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "gi"));
}
