import { readKnownProfiles } from "../config/profiles.js";
import type { Deps, Output } from "../deps.js";
import { ApiUnavailable, ConfigurationError, type ExitCode, exitCodes, UsageError } from "../errors.js";
import { headed } from "../ui/print.js";
import { createReporter } from "../ui/reporter.js";
import { styleFor } from "../ui/style.js";
import type { Context, GlobalOptions } from "./context.js";
import { interactiveMaxWaitMs as maxWaitMs } from "./open-api.js";

/**
 * Runs a command for each profile of this machine, one after another, with what is stored for it. A profile that fails
 * does not stop the others; a signal does. The exit code is the worst of them.
 * @param purpose `sync` leaves out profiles without a stored key
 * @throws UsageError for a flag that is for one brand, Stopped
 */
export async function eachProfile<Options extends GlobalOptions>(
  options: Options,
  context: Context,
  purpose: "sync" | "look",
  run: (options: Options, context: Context) => Promise<void>,
): Promise<void> {
  const { deps, tell } = context;
  refuseSingle(options);
  const unreachable = new Set<string | undefined>();
  for (const { name: profile, stored } of await chooseProfiles(options, deps, purpose)) {
    deps.signal.throwIfAborted();
    const own = { ...options, allProfiles: undefined, profile };
    // The whole patience is spent once on an API that does not answer.
    if (unreachable.has(stored.baseUrl)) own.maxWait = Math.min(own.maxWait ?? maxWaitMs, maxWaitMs);
    try {
      await run(own, { ...context, deps: depsFor(profile, options, deps), profile });
    } catch (error) {
      if (deps.signal.aborted || error instanceof UsageError) throw error;
      if (error instanceof ApiUnavailable) unreachable.add(stored.baseUrl);
      context.exitCode = worse(context.exitCode, tell(error, profile));
    }
  }
}

/** @throws UsageError for a flag that is for one brand */
export function refuseSingle({ profile, db, baseUrl, keyFile }: GlobalOptions): void {
  const values = { "--profile": profile, "--db": db, "--base-url": baseUrl, "--key-file": keyFile };
  for (const [flag, value] of Object.entries(values))
    if (value !== undefined)
      throw new UsageError(`\`${flag}\` is for one brand: it does not go with \`--all-profiles\`.`, {
        hint: "leave one of them out",
      });
}

/** Returns the worse of two codes: they go from a defect (1) to what passes by itself (10). */
function worse(one: ExitCode, other: ExitCode): ExitCode {
  return one === exitCodes.done || (other !== exitCodes.done && other < one) ? other : one;
}

async function chooseProfiles(options: GlobalOptions, deps: Deps, purpose: "sync" | "look") {
  const { note } = createReporter(deps, options);
  const ready = (await readKnownProfiles(deps)).filter(({ name, stored }) => {
    const isReady = purpose === "look" || stored.key !== undefined;
    if (!isReady) note(`${name}: skipped: no key is stored for it`);
    return isReady;
  });
  if (ready.length > 0) return ready;
  throw new ConfigurationError("No brand is set up here.", {
    hint: "run `brandapi login --profile NAME` for each",
  });
}

/** Returns the surroundings of one profile: without the variables of one brand, and what is printed under its name. */
function depsFor(profile: string, { color, json }: GlobalOptions, deps: Deps): Deps {
  const { BRANDAPI_PROFILE, BRANDAPI_BASE_URL, BRANDAPI_KEY, BRANDAPI_DB, BRANDAPI_PING, ...env } = deps.env;
  const under = (stream: Output) => headed(stream, styleFor(stream, { color }, env).bold(`[${profile}]`));
  return { ...deps, env, stdout: json ? deps.stdout : under(deps.stdout), stderr: under(deps.stderr) };
}
