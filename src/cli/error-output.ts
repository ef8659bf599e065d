import { parseArgs } from "node:util";
import type { Deps } from "../deps.js";
import { type ExitCode, UsageError } from "../errors.js";
import { abbreviateArguments, hideKeys } from "../util/redact-keys.js";
import { asBrandapiError } from "../util/system-errors.js";
import { printJson } from "../util/terminal.js";
import { escapeLines } from "../util/terminal-text.js";
import { quoteShellWord } from "../util/text.js";

/** The flags that shape an error's text. */
const errorFlags = {
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  profile: { type: "string" },
  db: { type: "string" },
} as const;

/**
 * Prints an error on stderr, with `--json` also on stdout. Text from outside is escaped, and keys in use are hidden. A
 * usage error does not repeat a long argument, because it may be a key.
 * @param profile named if the error belongs to one profile of several
 */
export function reportError(
  error: unknown,
  argv: readonly string[],
  deps: Pick<Deps, "stdout" | "stderr" | "signal" | "keys">,
  profile?: string,
): ExitCode {
  // A call that a signal cut short ends with an error of its own.
  const isCutShort = deps.signal.aborted && error instanceof Error && error.name === "AbortError";
  const known = asBrandapiError(isCutShort ? deps.signal.reason : error);
  const { code } = known;
  const { keys } = deps;
  const clean = (text: string) =>
    hideKeys(known instanceof UsageError ? abbreviateArguments(text, argv) : text, keys);
  const message = clean(known.message);
  // A command line that could not be parsed has them, too.
  const { values: flags } = parseArgs({ args: [...argv], options: errorFlags, strict: false });
  const hint = known.hint && hideKeys(completeHint(clean(known.hint), { profile, ...flags }), keys);
  if (flags.json) printJson(deps.stdout, { profile, error: { code, message, hint: hint ?? null } });
  const whose = profile === undefined ? "" : `${profile}: `;
  deps.stderr.write(`brandapi: ${whose}${escapeLines(message)}\n`);
  if (hint) deps.stderr.write(`  hint: ${escapeLines(hint)}\n`);
  if (flags.verbose)
    for (const stack of stacksOf(error)) deps.stderr.write(`  ${escapeLines(clean(stack))}\n`);
  return known.exitCode;
}

/** Commands that act on a profile. */
const ofProfile = "login|whoami|sync|verify|export|changes|status|query|doctor|backup|forget";

/** Returns the hint with its commands for this profile and this mirror. */
export function completeHint(hint: string, { profile, db }: { profile?: unknown; db?: unknown }): string {
  const pattern = new RegExp(`\`brandapi (${ofProfile})\\b(?![^\`]*--help)[^\`]*`, "g");
  return hint.replace(pattern, (command, name: string) => {
    const flags = { "--profile": profile, "--db": name === "login" ? undefined : db };
    const words = Object.entries(flags).flatMap(([flag, value]) =>
      typeof value === "string" && !hint.includes(flag) ? [flag, quoteShellWord(value)] : [],
    );
    return [command, ...words].join(" ");
  });
}

/** Returns the stack traces of an error and its causes. */
function stacksOf(error: unknown): string[] {
  return error instanceof Error ? [error.stack ?? String(error), ...stacksOf(error.cause)] : [];
}
