import { setImmediate } from "node:timers/promises";
import { reportError } from "./cli/error-output.js";
import { typedCommand } from "./cli/flags.js";
import { type Deps, type Fetch, systemDeps } from "./deps.js";
import { ConfigurationError, type ExitCode, exitCodes, Stopped, stopCodes } from "./errors.js";
import { runProgram } from "./program.js";
import { reasonOf } from "./util/failures.js";
import { refuseKeys } from "./util/redact-keys.js";
import { removeParts } from "./util/temp-files.js";

/** A signal ends any command within two seconds: a clean stop that takes longer is cut short. */
const cleanStopMs = 1_500;
/** How long the last words of a stop may take if nobody reads them. */
const lastWordsMs = 300;
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Commands whose work or exit code matters more than their output: they go on if nobody reads stdout. */
const reporting = new Set(["sync", "download", "verify", "status", "doctor"]);

/** The program as a process: real streams, signals, exit code. Everything that it decides is in `run`. */
export async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const stop = new AbortController();
  const deps = systemDeps(stop.signal, fetchWhenNeeded(process.env));
  const fail = (error: unknown) => exitNow(reportError(error, argv, deps));
  listenForSignals(stop, deps, fail);
  survivePipes(argv, deps);
  process.on("uncaughtException", fail).on("unhandledRejection", fail);
  process.once("beforeExit", () => fail(new Error("it ended before its work was done")));
  const code = await run(argv, deps);
  if (stop.signal.aborted) setTimeout(exitNow, lastWordsMs, code);
  else stop.signal.addEventListener("abort", () => exitNow(code));
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  exitNow(code);
}

/**
 * Runs one command line. Every error that reaches this last catch becomes a message, a hint and an exit code.
 * @param argv the arguments after `brandapi`
 */
export async function run(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  await noteKeys(argv, deps);
  const tell = (error: unknown, profile?: string) => reportError(error, argv, deps, profile);
  try {
    refuseKeys(argv, deps.env, deps.keys);
    return await runProgram(argv, deps, tell);
  } catch (error) {
    return tell(error);
  }
}

/** Adds the keys in use to `deps.keys` before any text is printed. */
async function noteKeys(argv: readonly string[], deps: Deps): Promise<void> {
  if (deps.env.BRANDAPI_KEY) deps.keys.add(deps.env.BRANDAPI_KEY.trim());
  if (argv.length === 0) return;
  const { readKeysInUse } = await import("./config/stored-profiles.js");
  for (const key of readKeysInUse(argv, deps)) deps.keys.add(key);
}

/**
 * The first signal asks for a clean stop. If that takes too long, and at a second signal, the process ends at once.
 * During `deps.killable` work the first signal ends it at once.
 */
function listenForSignals(stop: AbortController, deps: Deps, cutShort: (reason: Stopped) => void): void {
  const hear = (name: (typeof signals)[number]) => {
    if (stop.signal.aborted && name === "SIGHUP") return;
    if (stop.signal.aborted) exitNow(stopCodes[name]);
    const reason = new Stopped(name);
    setTimeout(cutShort, cleanStopMs, reason);
    stop.abort(reason);
  };
  const listen = () => signals.map((name) => process.on(name, hear));
  let killable = 0;
  deps.killable = async (work) => {
    // A signal that has come by now is heard first.
    if (killable === 0) await setImmediate();
    stop.signal.throwIfAborted();
    if (killable++ === 0) stopListening();
    try {
      return await work();
    } finally {
      if (--killable === 0) listen();
    }
  };
  deps.catchSignals = async (work) => {
    if (killable === 0) return await work();
    const before = killable;
    killable = 0;
    listen();
    try {
      return await work();
    } finally {
      killable = before;
      stopListening();
      stop.signal.throwIfAborted();
    }
  };
  listen();
}

/** Leaves signals to the system from now on. */
function stopListening(): void {
  for (const name of signals) process.removeAllListeners(name);
}

/** If nobody reads stdout any more (`| head`), the work is done; without a reader on stderr it goes on. */
function survivePipes(argv: readonly string[], deps: Deps): void {
  process.stdout.on("error", (cause: NodeJS.ErrnoException) => {
    if (cause.code === "EPIPE")
      return reporting.has(typedCommand(argv) ?? "") ? undefined : exitNow(exitCodes.done);
    const hint = "free some space, or check what reads the output";
    const failure = new ConfigurationError(`cannot write the output: ${reasonOf(cause)}`, { hint, cause });
    const words = argv.filter((word) => word !== "--json");
    exitNow(reportError(failure, words, deps));
  });
  process.stderr.on("error", () => {});
}

/** Resolves once the stream has passed on what was written: output into a pipe is never cut. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) return resolve();
    stream.write("", () => resolve());
  });
}

/** Ends the process: nothing is waited for, and unfinished files are removed. */
function exitNow(code: number): never {
  removeParts();
  stopListening();
  // Node's exit waits for threads that are resolving a name or opening a file; the signal itself does not.
  const name = signals.find((one) => stopCodes[one] === code);
  const isHeldUp = process
    .getActiveResourcesInfo()
    .some((one) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(one));
  if (name && isHeldUp) process.kill(process.pid, name);
  process.exit(code);
}

/** Loads undici at the first request, because that takes 80 ms, and `--help` needs no request. */
function fetchWhenNeeded(env: Deps["env"]): Fetch {
  let ready: Promise<Fetch> | undefined;
  return async (url, init) => {
    ready ??= prepareFetch(env);
    return (await ready)(url, init);
  };
}

async function prepareFetch(env: Deps["env"]): Promise<Fetch> {
  const { createFetch } = await import("./api/transport.js");
  const { keepMemorySmall } = await import("./api/transport.js");
  keepMemorySmall();
  return createFetch(env);
}
