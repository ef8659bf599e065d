import type { Deps } from "../deps.js";
import { type ExitCode, Stopped } from "../errors.js";
import { asBrandapiError } from "../lib/failures.js";
import { hideKeys } from "../lib/secrets.js";
import { shellWord } from "../lib/shell.js";
import { printJson } from "../ui/print.js";
import { escapeLines } from "../ui/text.js";

/**
 * Prints an error on stderr, with `--json` also on stdout. Text from outside is escaped, and what looks like a key is
 * hidden, because a person may have typed it.
 * @param keys in use, whatever their form
 * @param profile named if the error belongs to one profile of several
 */
export function reportError(
  error: unknown,
  argv: readonly string[],
  deps: Pick<Deps, "stdout" | "stderr" | "signal">,
  keys: readonly string[] = [],
  profile?: string,
): ExitCode {
  const known = asBrandapiError(stopOf(error, deps.signal) ?? error);
  const { code } = known;
  const message = hideKeys(known.message, keys);
  const hint = known.hint && hideKeys(hintFor(known.hint, argv, keys), keys);
  if (hasFlag(argv, "--json"))
    printJson(deps.stdout, { profile, error: { code, message, hint: hint ?? null } });
  const whose = profile === undefined ? "" : `${profile}: `;
  deps.stderr.write(`brandapi: ${whose}${escapeLines(message)}\n`);
  if (hint) deps.stderr.write(`  hint: ${escapeLines(hint)}\n`);
  if (hasFlag(argv, "--verbose"))
    for (const stack of stacksOf(error)) deps.stderr.write(`  ${escapeLines(hideKeys(stack, keys))}\n`);
  return known.exitCode;
}

/** Returns the hint with its commands for the profile and the mirror of the command line that failed. */
export function hintFor(hint: string, argv: readonly string[], keys: readonly string[] = []): string {
  return hint.replace(/`brandapi (login|sync|verify)\b[^`]*/g, (command, name: string) => {
    const words = (name === "login" ? ["--profile"] : ["--profile", "--db"]).flatMap((flag) => {
      const value = hint.includes(flag) ? undefined : valueAfter(argv, flag);
      const isPlain = value !== undefined && hideKeys(value, keys) === value;
      return isPlain ? [flag, shellWord(value)] : [];
    });
    return [command, ...words].join(" ");
  });
}

/** Returns the stop that a signal asked for, if the error is of a call that it cut short. */
function stopOf(error: unknown, { aborted, reason }: AbortSignal): Stopped | undefined {
  const isCutShort = error instanceof Error && error.name === "AbortError";
  return aborted && isCutShort && reason instanceof Stopped ? reason : undefined;
}

/** Returns the stack traces of an error and its causes. */
function stacksOf(error: unknown): string[] {
  return error instanceof Error ? [error.stack ?? String(error), ...stacksOf(error.cause)] : [];
}

function hasFlag(argv: readonly string[], flag: string): boolean {
  return flagsOf(argv).includes(flag);
}

/** Returns the value of a flag, as `--db FILE` or `--db=FILE`, before the words are parsed. */
function valueAfter(argv: readonly string[], flag: string): string | undefined {
  const flags = flagsOf(argv);
  const at = flags.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  return flags[at] === flag ? flags[at + 1] : flags[at]?.slice(flag.length + 1);
}

/** Returns the words before `--`. */
function flagsOf(argv: readonly string[]): readonly string[] {
  return argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
}
