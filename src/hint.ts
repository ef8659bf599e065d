import { valueAfter } from "./config/options.js";
import { hideKeys } from "./lib/secrets.js";
import { shellWord } from "./lib/shell.js";

/** What a command line named, and a command in its hint must name too: without it another mirror would be meant. */
const carried: Readonly<Record<string, readonly string[]>> = {
  login: ["--profile"],
  sync: ["--profile", "--db"],
  verify: ["--profile", "--db"],
};

/**
 * A hint whose commands are for the profile and the mirror of the command line that failed.
 * @param argv the arguments after `brandapi`
 * @param keys those in use: what holds one is no name to go on with
 */
export function hintFor(hint: string, argv: readonly string[], keys: readonly string[] = []): string {
  return hint.replace(/`brandapi (login|sync|verify)\b[^`]*/g, (command, name: string) =>
    (carried[name] ?? [])
      .filter((flag) => !hint.includes(flag))
      .reduce((whole, flag) => {
        const value = valueAfter(argv, flag);
        return value === undefined || hideKeys(value, keys) !== value
          ? whole
          : `${whole} ${flag} ${shellWord(value)}`;
      }, command),
  );
}
