import { type Argument, type Command, Option } from "commander";
import { type GlobalFlags, parseRateLimit } from "../config/settings.js";
import { UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import { suggestName } from "../util/suggestions.js";
import { parseDuration, parseInstant } from "./time-flags.js";

export function addGlobalOptions(program: Command): Command {
  return program
    .option("--profile <profile>", "profile to use (BRANDAPI_PROFILE)")
    .option("--db <path>", "mirror file (BRANDAPI_DB)")
    .option("--base-url <url>", "API base URL, ending in /api/brand/v1 (BRANDAPI_BASE_URL)")
    .option("--key-file <path>", "file that contains the API key; overrides BRANDAPI_KEY")
    .addOption(
      parsedOption(
        "--rate-limit <n>",
        "requests per minute, or `none` (BRANDAPI_RATE_LIMIT)",
        (text: string): GlobalFlags["rateLimit"] => parseRateLimit(text, "flag"),
      ),
    )
    .addOption(
      parsedOption(
        "--max-wait <duration>",
        "give up after this long without progress (default: 5m)",
        parseDuration,
      ),
    )
    .option("--json", "print JSON to stdout")
    .addOption(new Option("--quiet", "print only warnings and errors").conflicts("verbose"))
    .option("--verbose", "print every request, and stack traces for errors")
    .option("--no-color", "disable colors (or NO_COLOR)")
    .option("--no-progress", "disable progress bars");
}

/** @param parse receives the value, the option's name and, if the option is repeated, the value parsed so far */
export function parsedOption<T>(
  flags: string,
  about: string,
  parse: (text: string, name: string, previous: T) => T,
): Option {
  const option = new Option(flags, about);
  const name = option.long ?? flags;
  return option.argParser((text: string, previous: T) => {
    refuseEmpty(text, name);
    return parse(text, name, previous);
  });
}

/** Matches the placeholders of options whose value is a path or a time. */
const pathOrTimePlaceholder = /<(?:path|file|folder|dir|time)>$/;

/**
 * Makes a path or time option reject an empty value, which usually comes from an unset variable. Options with a parser
 * check their own values.
 */
export function refuseEmptyPathOrTime(option: Option): void {
  const { flags, long, parseArg } = option;
  if (parseArg || !pathOrTimePlaceholder.test(flags)) return;
  option.argParser((text: string) => {
    refuseEmpty(text, long ?? flags);
    return text;
  });
}

function refuseEmpty(text: string, option: string): void {
  if (text === "")
    throw new UsageError(`The value of \`${option}\` is empty.`, {
      hint: "pass a value, or omit the option",
    });
}

export function waitOption(): Option {
  return new Option("--wait", "wait for another run on this mirror to finish");
}

export function allProfilesOption(
  about = "run for every configured brand; exit with the most severe exit code",
): Option {
  return new Option("--all-profiles", about).conflicts([
    "profile",
    "db",
    "baseUrl",
    "keyFile",
  ] satisfies (keyof GlobalFlags)[]);
}

/**
 * @param otherwise the hint if no known name is similar
 * @throws UsageError if the name is unknown
 */
export function checkName(noun: string, name: string, known: readonly string[], otherwise?: string): void {
  if (known.includes(name)) return;
  throw new UsageError(`Unknown ${noun}: \`${name}\`.`, { hint: suggestName(name, known) ?? otherwise });
}

/**
 * Rejects a comma-separated list of known names, such as `orders,roster`, with a hint to use spaces.
 * @throws UsageError
 */
export function refuseCommas(noun: string, typed: string, known: readonly string[]): void {
  const names = typed.split(",").filter((name) => name !== "");
  if (!typed.includes(",") || !names.every((name) => known.includes(name))) return;
  const example = names.length > 1 ? `: \`${names.join(" ")}\`` : "";
  throw new UsageError(`Unknown ${noun}: \`${typed}\`.`, {
    hint: `separate the ${noun}s with spaces, not commas${example}`,
  });
}

/**
 * Restricts an option or argument to a set of values. Help and shell completion list these values.
 * @param noun the term for a value in error messages
 */
export function withChoices<Target extends Option | Argument>(
  target: Target,
  noun: string,
  values: readonly string[],
): Target {
  target.choices(values);
  // Replace commander's check of the values, which does not suggest the closest value.
  target.argParser((text: string) => {
    checkName(noun, text, values);
    return text;
  });
  return target;
}

/** Parses a comma-separated list. If the option is repeated, the lists are concatenated. */
export function parseList(text: string, option: string, previous: readonly string[] = []): string[] {
  const values = text.split(",").map((value) => value.trim());
  if (values.some((value) => value !== "")) return [...previous, ...values.filter((value) => value !== "")];
  throw new UsageError(`\`${option}\` is not a comma-separated list: \`${text}\`.`, {
    hint: "separate the values with commas",
  });
}

export const parseCount = createCountParser(999_999_999);

export function createCountParser(max: number): (text: string, option: string) => number {
  return (text, option) => {
    if (/^\d+$/.test(text) && Number(text) <= max) return Number(text);
    throw new UsageError(`Invalid value for \`${option}\`: \`${text}\`.`, {
      hint: `use a whole number from 0 to ${max}`,
    });
  };
}

/** An `--until` on or after this date means that the range has no end. */
const endOfTime = Date.parse("9999-12-31");

/**
 * Parses `--since` and `--until`.
 * @returns milliseconds since the Unix epoch, or undefined for an open bound
 * @throws UsageError if a time is invalid, or if the range starts in the future or ends before it starts
 */
export function parseRange(
  { since: from, until: to }: { since?: string | undefined; until?: string | undefined },
  now: number,
): { since: number | undefined; until: number | undefined } {
  const since = from === undefined ? undefined : parseInstant(from, "--since", "start", now);
  const until = to === undefined ? undefined : parseInstant(to, "--until", "end", now);
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageError("`--since` is later than `--until`.", {
      hint: "pass an earlier `--since` or a later `--until`",
    });
  if (since !== undefined && since > now)
    throw new UsageError(`\`--since ${from}\` is in the future.`, { hint: "choose a time in the past" });
  return { since, until: until !== undefined && until >= endOfTime ? undefined : until };
}

export interface ChosenResources {
  resources: readonly Resource[];
  /** True if the user named resources. Otherwise, all resources are selected. */
  areNamed: boolean;
}

/**
 * Returns the named resources in registry order, or all resources if `names` is empty.
 * @throws UsageError if a name is unknown
 */
export function chooseResources(names: readonly string[]): ChosenResources {
  const known = resources.map(({ name }) => name);
  for (const name of names) {
    refuseCommas("resource", name, known);
    checkName("resource", name, known);
  }
  const areNamed = names.length > 0;
  return { resources: resources.filter(({ name }) => !areNamed || names.includes(name)), areNamed };
}
