import { question } from "./commands/shells/question.js";
import type { Deps } from "./deps.js";
import { type ExitCode, exitCodes, Stopped } from "./errors.js";
import { asBrandapiError } from "./failures.js";
import { hintFor } from "./hint.js";
import { hideKeys, refuseKeys } from "./lib/secrets.js";
import { runProgram } from "./program.js";
import { printJson } from "./ui/data.js";
import { escapeLines } from "./ui/text.js";

/**
 * Runs one command line. The only catch of the program: every error becomes a message, a hint and an exit code
 * (contract, section 6).
 * @param argv the arguments after `brandapi`
 */
export async function run(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  if (argv[0] === question) {
    const { answer } = await import("./commands/shells/answer.js");
    await answer(argv.slice(1), deps);
    return exitCodes.done;
  }
  const keys = await keysInUse(argv, deps);
  const tell = (error: unknown, profile?: string) =>
    reportError(error, profile === undefined ? argv : ["--profile", profile, ...argv], deps, keys, profile);
  try {
    refuseKeys(argv, deps.env, keys);
    return await runProgram(argv, deps, tell);
  } catch (error) {
    return reportError(error, argv, deps, keys);
  }
}

/**
 * Prints an error on stderr, with `--json` also on stdout; what came from outside is escaped. This is where what a
 * person typed is printed back, and so where what looks like a key is hidden (contract, section 7).
 * @param profile named where the error is one brand's of several
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
    deps.stderr.write(
      `  ${stacks(error)
        .map((stack) => escapeLines(hideKeys(stack, keys)))
        .join("\n  ")}\n`,
    );
  return known.exitCode;
}

/** The keys of the environment and of every profile, whatever their shape; help opens no file. */
async function keysInUse(argv: readonly string[], deps: Deps): Promise<string[]> {
  const { BRANDAPI_KEY: key = "" } = deps.env;
  if (argv.length === 0 || argv.some((word) => ["help", "-h", "--help"].includes(word))) return [key];
  const { storedKeys } = await import("./config/stored-keys.js");
  return [key, ...(await storedKeys(deps))];
}

/**
 * What a call that was cut short by the signal throws (an AbortError, say) is the stop that was asked for; so is what could
 * not be written down about it.
 */
function stopOf(error: unknown, signal: AbortSignal): Stopped | undefined {
  const reason: unknown = signal.aborted ? signal.reason : undefined;
  const isOfStop = error instanceof Error && (error.name === "AbortError" || isBusy(error));
  return isOfStop && reason instanceof Stopped ? reason : undefined;
}

function isBusy(error: Error): boolean {
  return "code" in error && error.code === "SQLITE_BUSY";
}

function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes(flag);
}

function stacks(error: unknown): string[] {
  const found: string[] = [];
  for (let one = error; one instanceof Error && found.length < 8; one = one.cause)
    found.push(one.stack ?? String(one));
  return found;
}
