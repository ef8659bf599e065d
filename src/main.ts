import { reportError } from "./cli/error-output.js";
import { readKeysInUse } from "./config/stored-profiles.js";
import { type Deps, type Fetch, systemDeps } from "./deps.js";
import { ConfigurationError, type ExitCode, exitCodes, stopCodes } from "./errors.js";
import { limitHeapGrowth } from "./heap.js";
import { commandTraits, runProgram } from "./program.js";
import { ProcessSignals } from "./signals.js";
import { refuseKeys } from "./util/redact-keys.js";
import { errorReason } from "./util/system-errors.js";
import { removeTempFiles } from "./util/temp-files.js";

/** Time allowed for flushing output after a signal, in milliseconds. */
const flushMs = 300;

/** Runs the program with the real streams, signals and exit code. */
export async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const signals = new ProcessSignals(stopHint(argv));
  const { signal, runKillable, runGracefully } = signals;
  const deps = systemDeps({
    signal,
    runKillable,
    runGracefully,
    fetch: fetchWhenNeeded(process.env),
  });
  const exit = (code: number): never => {
    removeTempFiles();
    signals.removeHandlers();
    killIfBlocked(code);
    process.exit(code);
  };
  const fail = (error: unknown): never => exit(reportError(error, argv, deps));
  signals.handle({ exit, fail });
  handleOutputErrors(argv, deps, exit);
  process.on("uncaughtException", fail).on("unhandledRejection", fail);
  process.once("beforeExit", () => fail(new Error("the program ended before its work was finished")));

  const code = await runCommandLine(argv, deps);
  // If the program that reads the output stalls, flushing never finishes. A signal therefore starts a timeout.
  if (signal.aborted) setTimeout(exit, flushMs, code);
  else signal.addEventListener("abort", () => exit(code));
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
  exit(code);
}

/** Returns the hint for the error that is printed when a signal stops the command. */
function stopHint(argv: readonly string[]): string | undefined {
  if (!commandTraits(argv).isResumable || argv.includes("--dry-run")) return undefined;
  return "everything read so far is kept; run the same command again to continue";
}

/**
 * Runs a command and prints its error, if any.
 * @param argv the arguments after `brandapi`
 */
export async function runCommandLine(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  noteKeys(argv, deps);
  try {
    refuseKeys(argv, deps.env, deps.keys);
    return await runProgram(argv, deps);
  } catch (error) {
    return reportError(error, argv, deps);
  }
}

/** Adds the keys in use to `deps.keys`, before anything is printed. */
function noteKeys(argv: readonly string[], deps: Deps): void {
  if (deps.env.BRANDAPI_KEY) deps.keys.add(deps.env.BRANDAPI_KEY.trim());
  if (argv.length === 0) return;
  for (const key of readKeysInUse(argv, deps)) deps.keys.add(key);
}

/** Exits without an error when the reader of stdout, such as `head`, closes the pipe. Ignores errors when writing to stderr. */
function handleOutputErrors(argv: readonly string[], deps: Deps, exit: (code: number) => never): void {
  process.stdout.on("error", (cause: NodeJS.ErrnoException) => {
    if (cause.code === "EPIPE")
      return commandTraits(argv).continuesWithoutReader ? undefined : exit(exitCodes.done);
    const hint = "free some space, or check the program that reads the output";
    const failure = new ConfigurationError(`Cannot write the output: ${errorReason(cause)}`, { hint, cause });
    const withoutJson = argv.filter((word) => word !== "--json");
    exit(reportError(failure, withoutJson, deps));
  });
  process.stderr.on("error", () => {});
}

/**
 * Resolves when all output has been flushed, because `process.exit` discards output that a pipe has not accepted yet.
 */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) return resolve();
    stream.write("", () => resolve());
  });
}

/**
 * Kills the process if `process.exit` would block, which happens while a thread is resolving a host name or opening a
 * file. Uses the signal that corresponds to the exit code.
 */
function killIfBlocked(code: number): void {
  const [name] = Object.entries(stopCodes).find(([, stopCode]) => stopCode === code) ?? [];
  const isBlocked = process
    .getActiveResourcesInfo()
    .some((resource) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(resource));
  if (name && isBlocked) process.kill(process.pid, name);
}

/**
 * Returns a `fetch` that loads undici on the first request. Loading undici takes 80 ms, and many commands send no
 * requests.
 */
function fetchWhenNeeded(env: Deps["env"]): Fetch {
  let loading: Promise<Fetch> | undefined;
  return async (url, options) => {
    loading ??= loadFetch(env);
    return (await loading)(url, options);
  };
}

async function loadFetch(env: Deps["env"]): Promise<Fetch> {
  const { createFetch } = await import("./api/transport.js");
  limitHeapGrowth();
  return createFetch(env);
}
