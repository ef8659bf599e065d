import { parseArgs } from "node:util";
import type { Deps } from "../deps.js";
import { type ExitCode, UsageError } from "../errors.js";
import { abbreviateArguments, hideKeys } from "../util/redact-keys.js";
import { asBrandapiError } from "../util/system-errors.js";
import { printJson } from "../util/terminal.js";
import { escapeLines } from "../util/terminal-text.js";
import { quoteShellWord } from "../util/text.js";

/** The options that affect an error's text. */
const errorOptions = {
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  profile: { type: "string" },
  db: { type: "string" },
} as const;

/**
 * Prints an error on stderr, with `--json` also on stdout, and returns its exit code. Text from outside is escaped, and
 * keys in use are hidden. A usage error abbreviates long arguments, because they may be keys.
 * @param profile set if a command runs for every profile: the profile that failed
 */
export function reportError(
  error: unknown,
  argv: readonly string[],
  deps: Pick<Deps, "stdout" | "stderr" | "signal" | "keys">,
  profile?: string,
): ExitCode {
  // A call that a signal interrupts throws an error of its own.
  const isCutShort = deps.signal.aborted && error instanceof Error && error.name === "AbortError";
  const known = asBrandapiError(isCutShort ? deps.signal.reason : error);
  const { code } = known;
  const { keys } = deps;
  const clean = (text: string) =>
    hideKeys(known instanceof UsageError ? abbreviateArguments(text, argv) : text, keys);
  const message = clean(known.message);
  // Commander's result is missing if the command line could not be parsed.
  const { values: flags } = parseArgs({ args: [...argv], options: errorOptions, strict: false });
  const hint = known.hint && hideKeys(completeHint(clean(known.hint), { profile, ...flags }), keys);
  if (flags.json) printJson(deps.stdout, { profile, error: { code, message, hint: hint ?? null } });
  const whose = profile === undefined ? "" : `${profile}: `;
  deps.stderr.write(`brandapi: ${whose}${escapeLines(message)}\n`);
  if (hint) deps.stderr.write(`  hint: ${escapeLines(hint)}\n`);
  if (flags.verbose)
    for (const stack of stacksOf(error)) deps.stderr.write(`  ${escapeLines(clean(stack))}\n`);
  return known.exitCode;
}

/** Commands that use no profile. */
const withoutProfile = "completion|demo|help|profiles|sandbox";
const commandInHint = new RegExp(
  `\`brandapi (?!(?:${withoutProfile})\\b)([a-z]+)\\b(?![^\`]*--help)[^\`]*`,
  "g",
);

/** Returns the hint with `--profile` and `--db` added to its commands, as the failed command had them. */
export function completeHint(hint: string, { profile, db }: { profile?: unknown; db?: unknown }): string {
  return hint.replace(commandInHint, (command, name: string) => {
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
