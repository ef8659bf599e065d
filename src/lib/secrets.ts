import type { Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";

/**
 * Keys that somebody typed where none belongs. The API's document shows no form of a key, so there are two judgements:
 * what certainly is one is refused before anything is done with it, and what may be one is not printed back.
 */

/**
 * How keys are marked: `sk_live_…`, `brk_…`, also behind a flag of one letter: `-osk_live_…`. In small letters:
 * `SK_1042_BLUE` is somebody's article number.
 */
const marked =
  /(?<=^-[a-z]|^|[^a-zA-Z0-9])(?:sk|rk|brk)_[\w-]{8,}(?:\.(?:[ct]sv|(?:nd)?json|jsonl|xlsx|parquet|html|sqlite))?/g;
/** The same for printing, where too much hidden does little harm. */
const perhapsMarked = /(?<=\W-[a-z]|^|[^a-z0-9])(?:sk|rk|brk)(?:_|-(?=\w{4}))[^\s'"`<>()[\]{}|,;:\\/]+/gi;
/** No word and no id of the API is that long without a break, and so mixed. */
const random =
  /(?<![a-zA-Z0-9])(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])(?:(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[a-zA-Z0-9]{20,}|[a-zA-Z0-9]{32,})/g;
const shown = "[key hidden]";
/** A shorter one would hide every word that it happens to be in. */
const shortest = 6;

/**
 * Nothing is done with a command line that holds a key, nor with a setting that holds one in its place: it would become
 * a file's name, a parameter of a request, a line in a log.
 * @param keys those in use, whatever their shape
 * @throws UsageError, ConfigurationError
 */
export function refuseKeys(argv: readonly string[], env: Env, keys: ReadonlySet<string>): void {
  if (argv.some((word) => holdsKey(word, keys)))
    throw new UsageError("What looks like a key stands on the command line, where others can read it.", {
      hint: "give it to `brandapi login`, which asks for it; if it is a key, replace it in the brand's console",
    });
  for (const [name, value = ""] of Object.entries(env))
    if (name.startsWith("BRANDAPI_") && name !== "BRANDAPI_KEY" && holdsKey(value, keys))
      throw new ConfigurationError(`${name} holds what looks like a key, which is not its place.`, {
        hint: "put the key into BRANDAPI_KEY, or store it with `brandapi login`",
      });
}

/**
 * Returns the text with `[key hidden]` for each key and all that may be one.
 * @param keys those in use, whatever their shape
 */
export function hideKeys(text: string, keys: ReadonlySet<string>): string {
  return [...patternsOf(keys), perhapsMarked, random].reduce(
    (hidden, pattern) => hidden.replace(pattern, shown),
    text,
  );
}

/** True if the text holds a key that is in use, or that is marked as one. */
function holdsKey(text: string, keys: ReadonlySet<string>): boolean {
  if (patternsOf(keys).some((pattern) => pattern.test(text))) return true;
  return [...text.matchAll(marked)].some(([word]) => !isPlainName(word));
}

/** `sk` is Slovakia too: `sk_orders_2026-11` and `sk_opportunities.csv` are names, made of words and numbers. */
function isPlainName(word: string): boolean {
  const [prefix, ...parts] = word.split(/[_.-]+/);
  const isPlain = (part: string) => /^(?!(?:live|test|prod|secret)$)(?:[a-z]{1,15}|\d{1,8})$/.test(part);
  return prefix !== "brk" && parts.length > 1 && parts.every(isPlain);
}

/** In any case: a URL's host is printed in small letters. */
function patternsOf(keys: ReadonlySet<string>): RegExp[] {
  return [...keys]
    .filter((key) => key.length >= shortest)
    .map((key) => new RegExp(key.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "gi"));
}
