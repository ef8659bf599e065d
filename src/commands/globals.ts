import { UsageError } from "../errors.js";
import { parseDuration } from "../lib/times.js";
import type { Flag } from "./command.js";

/** The flags that every command takes: contract, section 3. */
export const globalFlags: readonly Flag[] = [
  {
    flags: "--profile <name>",
    about: "the brand to work for (BRANDAPI_PROFILE)",
    shown: "default",
    values: "profiles",
  },
  { flags: "--db <path>", about: "the mirror file (BRANDAPI_DB)", parse: parseMirror },
  { flags: "--base-url <url>", about: "the API's address, ending in /api/brand/v1 (BRANDAPI_BASE_URL)" },
  { flags: "--key-file <path>", about: "a file that holds the key (or BRANDAPI_KEY)" },
  { flags: "--json", about: "print JSON on stdout" },
  { flags: "--quiet", about: "print nothing but warnings and errors" },
  { flags: "--verbose", about: "print every request, and a stack trace with an error" },
  { flags: "--no-color", about: "no colours (or NO_COLOR)" },
  { flags: "--no-progress", about: "no progress bars" },
];

/** The flags of every command that asks the API. */
export const networkFlags: readonly Flag[] = flagsForWaiting("5m");

/** The same where a person sits and waits for the answer: see `interactiveMaxWaitMs`. */
export const interactiveFlags: readonly Flag[] = flagsForWaiting("15s");

/** The flag of the commands that can go through every brand: see each-profile.ts. */
export const allProfilesFlag: Flag = {
  flags: "--all-profiles",
  about: "every brand that is set up here, one after another; the exit code is the lowest that is not 0",
};

export function flagsForWaiting(maxWait: string): readonly Flag[] {
  return [
    {
      flags: "--rate-limit <n>",
      about: "requests a minute for the key, or `none` (BRANDAPI_RATE_LIMIT)",
      parse: parseRateLimit,
      shown: "60",
    },
    {
      flags: "--max-wait <duration>",
      about: "give up after this long without progress",
      parse: parseDuration,
      shown: maxWait,
    },
  ];
}

/** An empty `--db` would pass for none: a script's variable that is not set is no wish for the default mirror. */
function parseMirror(text: string): string {
  if (text !== "") return text;
  throw new UsageError("`--db` names no file.", { hint: "name one, or leave `--db` out" });
}

/** `--rate-limit`: a whole number of requests a minute, or `none`. */
export function parseRateLimit(text: string): number | "none" {
  if (text === "none") return "none";
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`The rate limit is not a number of requests a minute: \`${text}\`.`, {
    hint: "use a whole number such as 60, or `none`",
  });
}
