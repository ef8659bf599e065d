import { setTimeout } from "node:timers/promises";
import { scanCommandLine } from "./cli/command-line.js";
import { reportError } from "./cli/error-output.js";
import { readKeysInUse } from "./config/stored-profiles.js";
import { type CommandLine, type Deps, type Fetch, systemDeps } from "./deps.js";
import { ConfigurationError, type ExitCode, exitCodes, Stopped } from "./errors.js";
import { continuesWithoutReader, runProgram } from "./program.js";
import { GracefulStop } from "./signals.js";
import { refuseKeys } from "./util/redact-keys.js";
import { errorReason } from "./util/system-errors.js";
import { removeTempFiles } from "./util/temp-files.js";

/** Time allowed for flushing output after a signal, in milliseconds. */
const flushMs = 300;

/** Runs the program with the real streams, signals and exit code. */
export async function main(): Promise<void> {
  const commandLine = scanCommandLine(process.argv.slice(2));
  const { signal, runGracefully } = new GracefulStop();
  const deps = systemDeps({ signal, runGracefully, fetch: fetchWhenNeeded(process.env) });
  process.on("uncaughtException", (error) => exit(reportError(error, commandLine, deps), signal));
  process.stdout.on("error", (cause) => handleOutputError(cause, commandLine, deps));
  process.stderr.on("error", () => {});

  const code = await runCommandLine(commandLine, deps);
  const flushed = Promise.all([flush(process.stdout), flush(process.stderr)]);
  // After a signal, limit the wait, because the program that reads the output may have stalled.
  await (signal.aborted ? Promise.race([flushed, setTimeout(flushMs)]) : flushed);
  exit(code, signal);
}

/** Runs a command and prints its error, if any. */
export async function runCommandLine(commandLine: CommandLine, deps: Deps): Promise<ExitCode> {
  try {
    // Read the keys in use first, because they must be redacted in everything that is printed.
    for (const key of readKeysInUse(commandLine, deps)) deps.apiKeys.add(key);
    refuseKeys(commandLine.argv, deps.env, deps.apiKeys);
    return await runProgram(commandLine, deps);
  } catch (error) {
    return reportError(error, commandLine, deps);
  }
}

function handleOutputError(cause: NodeJS.ErrnoException, commandLine: CommandLine, deps: Deps): void {
  if (cause.code !== "EPIPE") {
    const hint = "free some space, or check the program that reads the output";
    const error = new ConfigurationError(`Cannot write the output: ${errorReason(cause)}`, { hint, cause });
    // Omit `json` to print the error only to stderr, because writing to stdout has failed.
    exit(reportError(error, { ...commandLine, json: false }, deps), deps.signal);
  }
  // If the program that reads stdout has closed the pipe, as `head` does, end without an error.
  if (!continuesWithoutReader(commandLine.command)) exit(exitCodes.done, deps.signal);
}

/**
 * Resolves when the stream's output has been flushed. `process.exit` would discard output that a pipe has not yet
 * accepted.
 */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) return resolve();
    stream.write("", () => resolve());
  });
}

/**
 * Removes temporary files and ends the process.
 * @param signal its reason is a `Stopped` error if a process signal stopped the command
 */
function exit(code: ExitCode, { reason }: AbortSignal): never {
  removeTempFiles();
  // `process.exit` waits for a thread that is resolving a host name or opening a file. After a signal, that may take
  // too long, so the process kills itself with the same signal.
  if (reason instanceof Stopped && hasBlockedThread()) {
    process.removeAllListeners(reason.signalName);
    process.kill(process.pid, reason.signalName);
  }
  process.exit(code);
}

function hasBlockedThread(): boolean {
  const resources = process.getActiveResourcesInfo();
  return resources.some((resource) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(resource));
}

/**
 * Returns a `fetch` that loads undici on the first request. Loading undici takes 80 ms, and many commands send no
 * requests.
 */
function fetchWhenNeeded(env: Deps["env"]): Fetch {
  let loading: Promise<Fetch> | undefined;
  return async (url, options) => {
    loading ??= import("./api/transport.js").then(({ createFetch }) => createFetch(env));
    return (await loading)(url, options);
  };
}
