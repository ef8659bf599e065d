import { writeSync } from "node:fs";
import { type Deps, type Fetch, systemDeps } from "./deps.js";
import { BrandapiError, ConfigurationError, exitCodes, Stopped } from "./errors.js";
import { reportError, run } from "./run.js";

/**
 * The program as a process: real streams, signals, exit code. Everything that it decides is in `run`.
 * With `bin` the only place that may end the process.
 */
export async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const stop = new AbortController();
  const deps = systemDeps(stop.signal, fetchWhenNeeded(process.env));
  listenForSignals(stop);
  survivePipes(argv, deps);
  const fail = (error: unknown) => void end(reportError(error, argv, deps));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  await end(await run(argv, deps));
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
  const { keepMemorySmall } = await import("./memory.js");
  keepMemorySmall();
  return createFetch(env);
}

/** The first signal asks for a clean stop; a second of its kind ends at once. */
function listenForSignals(stop: AbortController): void {
  const codes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    let seen = false;
    process.on(name, () => {
      if (seen) exitNow(codes[name]);
      seen = true;
      stop.abort(new Stopped(name));
    });
  }
}

/**
 * A reader that has seen enough (`| head`) closes its end: for stdout that is the end of the work, quietly and with 0.
 * A sync and a download work for the mirror and the folder, and only report on stdout: they go on. Without a reader on
 * stderr the work goes on: nobody is there to be told.
 */
function survivePipes(argv: readonly string[], deps: Deps): void {
  const onlyReports = argv.some((word) => word === "sync" || word === "download");
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

/** Ends once both streams have passed on what was written: what goes into a pipe is never cut. */
async function end(code: number): Promise<void> {
  process.exitCode = code;
  await Promise.all([process.stdout, process.stderr].map(drain));
  exitNow(code);
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) return resolve();
    stream.write("", () => resolve());
  });
}

function exitNow(code: number): never {
  // A progress bar hides the cursor; whoever ends at once gives it back.
  if (process.stderr.isTTY) {
    try {
      writeSync(process.stderr.fd, "\u001b[?25h");
    } catch {
      // The terminal is gone.
    }
  }
  process.exit(code);
}
