import { type Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { parseDuration } from "../lib/times.js";

/** The flags of every command. `brandapi help flags` shows them. */
export function addGlobalFlags(program: Command): Command {
  return program
    .option("--profile <profile>", "the brand to work for (BRANDAPI_PROFILE)")
    .option("--db <path>", "the mirror file (BRANDAPI_DB)", parseMirror)
    .option("--base-url <url>", "the API's address, ending in /api/brand/v1 (BRANDAPI_BASE_URL)")
    .option("--key-file <path>", "a file that holds the key (or BRANDAPI_KEY)")
    .option("--json", "print JSON on stdout")
    .option("--quiet", "print nothing but warnings and errors")
    .option("--verbose", "print every request, and a stack trace with an error")
    .option("--no-color", "no colours (or NO_COLOR)")
    .option("--no-progress", "no progress bars");
}

/** `--rate-limit`, for every command that asks the API. */
export function rateLimit(): Option {
  return new Option(
    "--rate-limit <n>",
    "requests a minute for the key, or `none` (BRANDAPI_RATE_LIMIT; default: 60)",
  )
    .argParser(parseRateLimit)
    .hideHelp();
}

/** `--max-wait`. @param byDefault what the command uses without the flag */
export function maxWait(byDefault = "5m"): Option {
  return new Option(
    "--max-wait <duration>",
    `give up after this long without progress (default: ${byDefault})`,
  )
    .argParser(parseDuration)
    .hideHelp();
}

/** `--wait`, for commands that hold the mirror. */
export function wait(): Option {
  return new Option("--wait", "queue behind another run on this mirror, however long it takes");
}

/** `--all-profiles`: see each-profile.ts. */
export function allProfiles(): Option {
  return new Option(
    "--all-profiles",
    "every brand that is set up here, one after another; the exit code is the worst of them",
  );
}

/** An option whose value is checked and turned into something else. */
export function parsed<T>(flags: string, about: string, parse: (text: string, previous: T) => T): Option {
  return new Option(flags, about).argParser(parse);
}

/** `--rate-limit`: a whole number of requests a minute, or `none`. */
export function parseRateLimit(text: string): number | "none" {
  if (text === "none") return "none";
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`The rate limit is not a number of requests a minute: \`${text}\`.`, {
    hint: "use a whole number such as 60, or `none`",
  });
}

/** An empty `--db` comes from a script's variable that is not set; it does not ask for the default mirror. */
function parseMirror(text: string): string {
  if (text !== "") return text;
  throw new UsageError("`--db` names no file.", { hint: "name one, or leave `--db` out" });
}
