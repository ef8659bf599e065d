import type { GlobalOptions } from "../config/settings.js";
import { readProfilesWithKey } from "../config/stored-profiles.js";
import type { Deps, Output } from "../deps.js";
import { AccessForbidden, ConfigurationError, exitCodes, Incomplete, UsageError } from "../errors.js";
import { refusalIn } from "../store/runs.js";
import type { Failure, ResourceResults } from "../sync/sync-resources.js";
import { reasonOf } from "../util/failures.js";
import { headed, styleFor } from "../util/terminal.js";
import { counted } from "../util/text.js";
import type { Context } from "./context.js";

/**
 * Refuses a sync that lacks a resource.
 * @param asked the number of resources that were to be synced
 * @throws if none succeeded the first error, or AccessForbidden without one; Incomplete if some succeeded
 */
export function refuseFailures({ failures, succeeded, notTried }: ResourceResults, asked: number): void {
  if (failures.length === 0 && succeeded > 0) return;
  const [first] = failures;
  if (!first)
    throw new AccessForbidden("Neither the key nor the plan allows any of it: nothing was read.", {
      hint: "see `brandapi whoami` for the key's scopes, and the brand's plan",
    });
  if (succeeded === 0) throw first.error;
  const texts = new Set(failures.map((failure) => failureText(failure, failures)));
  if (notTried.length > 0) texts.add(`Not asked any more: ${notTried.map(({ name }) => name).join(", ")}.`);
  const isRefused = failures.every(({ error }) => refusalIn(error) !== null);
  throw new Incomplete(
    `${failures.length} of ${counted(asked, "resource")} failed: ${[...texts].join(" ")}`,
    {
      hint: isRefused
        ? refusalIn(first.error)?.hint
        : "run the same command again: what succeeded is kept; see `brandapi status`",
    },
  );
}

/** Returns a sentence about a failure. Resources that were refused for the same reason share one. */
function failureText({ resource, error }: Failure, all: readonly Failure[]): string {
  const reason = refusalIn(error)?.message;
  const isSame = (one: Failure) =>
    one.error instanceof Incomplete && refusalIn(one.error)?.message === reason;
  const same = reason === undefined ? [] : all.filter(isSame).map((one) => one.resource.name);
  if (same.length > 1) return `${same.join(", ")} were read before, and are refused now: ${reason}`;
  return error instanceof Incomplete ? error.message : `${resource.name}: ${reasonOf(error)}`;
}

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
  const profiles = await readProfilesWithKey(deps);
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
