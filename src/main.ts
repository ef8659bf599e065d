import { type Deps, type Fetch, systemDeps } from "./deps.js";
import { BrandapiError, ConfigurationError, exitCodes, type Stopped } from "./errors.js";
import { reportError, run } from "./run.js";
import { exitNow, isHeldUp, listenForSignals } from "./signals.js";

/** What a stop still has to say is said by then, in milliseconds, or nobody listens. */
const lastWordsMs = 300;

/**
 * The program as a process: real streams, signals, exit code. Everything that it decides is in `run`.
 * @param options.isApart another process started this one for its own command line, and hears the signals: `apart/`
 */
export async function main({ isApart = false } = {}): Promise<void> {
  const argv = process.argv.slice(2);
  const stop = new AbortController();
  const deps = systemDeps(stop.signal, fetchWhenNeeded(process.env));
  let told = false;
  if (!isApart) {
    deps.mortally = listenForSignals(stop, (reason) => told || reportError(reason, argv, deps));
    deps.apart = async (words, how) => (await import("./apart/start.js")).runApart(words, how, deps);
  }
  survivePipes(argv, deps);
  const finish = (code: number) => {
    told = true;
    return end(code, stop.signal);
  };
  const fail = (error: unknown) => void finish(reportError(error, argv, deps));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  // Every command ends by `exitNow`: here Node has nothing left to wait for, and would end without a word.
  process.once("beforeExit", () => fail(new Error("it came to its end before its work did")));
  await finish(await run(argv, deps));
}

/** undici takes 80 ms to load: not on the way to `--help`. */
function fetchWhenNeeded(env: Deps["env"]): Fetch {
  let ready: Promise<Fetch> | undefined;
  return async (url, init) => {
    ready ??= prepareFetch(env);
    return (await ready)(url, init);
  };
}

async function prepareFetch(env: Deps["env"]): Promise<Fetch> {
  const { createFetch } = await import("./api/transport.js");
  const { keepMemorySmall } = await import("./lib/memory.js");
  keepMemorySmall();
  return createFetch(env);
}

/** They work for the mirror or a folder, or their exit code is the answer: stdout only reports of it. */
const reporting = new Set(["sync", "download", "verify", "status", "doctor"]);

/**
 * A reader that has seen enough (`| head`) closes its end: for stdout that is the end of the work, quietly and with 0,
 * unless the work is another. Without a reader on stderr the work goes on: nobody is there to be told.
 */
function survivePipes(argv: readonly string[], deps: Deps): void {
  const onlyReports = argv.some((word) => reporting.has(word));
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return onlyReports ? undefined : exitNow(exitCodes.done);
    const failure =
      error.code === "ENOSPC"
        ? new ConfigurationError("The output cannot be written: the disk is full.", {
            hint: "free some space",
          })
        : new BrandapiError(`The output cannot be written: ${error.code ?? error.message}`, { cause: error });
    exitNow(
      reportError(
        failure,
        argv.filter((word) => word !== "--json"),
        deps,
      ),
    );
  });
  process.stderr.on("error", () => {});
}

/**
 * Ends once both streams have passed on what was written: what goes into a pipe is never cut. But a signal ends it also
 * while nobody reads.
 */
async function end(code: number, signal: AbortSignal): Promise<void> {
  process.exitCode = code;
  const done = Promise.all([drain(process.stdout), drain(process.stderr), settle(signal)]);
  exitNow(await Promise.race([done.then(() => code), cutShort(code, signal)]));
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) return resolve();
    stream.write("", () => resolve());
  });
}

/** A stop leaves what it called off to the system, for a moment. */
async function settle(signal: AbortSignal): Promise<void> {
  while (signal.aborted && isHeldUp()) await pause(10);
}

async function cutShort(code: number, signal: AbortSignal): Promise<number> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return (signal.reason as Stopped).exitCode;
  }
  await pause(lastWordsMs);
  return code;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
