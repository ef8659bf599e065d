import { readKnownProfiles } from "../config/profiles.js";
import type { Deps, Output } from "../deps.js";
import { ConfigurationError, exitCodes, UsageError } from "../errors.js";
import { headed } from "../ui/print.js";
import { styleFor } from "../ui/style.js";
import type { Context, GlobalOptions } from "./context.js";

/**
 * Runs a command for each profile of this machine, one after another, with its stored settings. A profile that fails does
 * not stop the others; a signal does. The exit code is the worst of them.
 * @throws Stopped
 */
export async function eachProfile<Options extends GlobalOptions>(
  options: Options,
  context: Context,
  run: (options: Options, context: Context) => Promise<void>,
): Promise<void> {
  const { deps, tell } = context;
  const profiles = await readKnownProfiles(deps);
  const hint = "run `brandapi login --profile NAME` for each";
  if (profiles.length === 0) throw new ConfigurationError("No brand is set up here.", { hint });
  for (const [profile] of profiles) {
    deps.signal.throwIfAborted();
    const own = { ...options, allProfiles: undefined, profile };
    try {
      const exitCode = exitCodes.done;
      await run(own, { ...context, deps: depsFor(profile, options, deps), exitCode, profile });
    } catch (error) {
      if (deps.signal.aborted || error instanceof UsageError) throw error;
      const code = tell(error, profile);
      // The codes go from a defect (1) to what passes by itself (10).
      if (context.exitCode === exitCodes.done || code < context.exitCode) context.exitCode = code;
    }
  }
}

/** Returns the `deps` of one profile: without the ping address of all profiles, and with output under its name. */
function depsFor(profile: string, { color, json }: GlobalOptions, deps: Deps): Deps {
  const { BRANDAPI_PING, ...env } = deps.env;
  const under = (stream: Output) => headed(stream, styleFor(stream, { color }, env).bold(`[${profile}]`));
  return { ...deps, env, stdout: json ? deps.stdout : under(deps.stdout), stderr: under(deps.stderr) };
}
