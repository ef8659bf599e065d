import type { GlobalOptions } from "../config/settings.js";
import { readProfilesWithKey } from "../config/stored-profiles.js";
import type { Deps, OutputStream } from "../deps.js";
import {
  AccessForbidden,
  ConfigurationError,
  type ExitCode,
  exitCodes,
  Incomplete,
  UsageError,
} from "../errors.js";
import { findRefusal } from "../store/runs.js";
import type { Failure, ResourceResults } from "../sync/sync-resources.js";
import { errorReason } from "../util/system-errors.js";
import { prependHeading, styleFor } from "../util/terminal.js";
import { pluralize } from "../util/text.js";
import type { Context } from "./context.js";
import { reportError } from "./error-output.js";

/**
 * Refuses a sync that lacks a resource.
 * @param asked the number of resources that were to be synced
 * @throws if none succeeded the first error, or AccessForbidden without one; Incomplete if some succeeded
 */
export function throwIfFailed({ failures, succeeded, notTried }: ResourceResults, asked: number): void {
  if (failures.length === 0 && succeeded > 0) return;
  const [first] = failures;
  if (!first)
    throw new AccessForbidden("Neither the key nor the plan allows any of it: nothing was read.", {
      hint: "see `brandapi whoami` for the key's scopes, and the brand's plan",
    });
  if (succeeded === 0) throw first.error;
  const texts = new Set(failures.map((failure) => failureText(failure, failures)));
  if (notTried.length > 0)
    texts.add(`Skipped because the API is down: ${notTried.map(({ name }) => name).join(", ")}.`);
  const retry = "run the same command again: what succeeded is kept; see `brandapi status`";
  const hints = failures.flatMap(({ error }) => {
    const refusal = findRefusal(error);
    return refusal ? (refusal.hint ?? []) : retry;
  });
  throw new Incomplete(
    `${failures.length} of ${pluralize(asked, "resource")} failed: ${[...texts].join(" ")}`,
    { hint: [...new Set(hints)].join("; ") },
  );
}

/** Returns a sentence about a failure. Resources that were refused for the same reason share one. */
function failureText({ resource, error }: Failure, all: readonly Failure[]): string {
  const reason = findRefusal(error)?.message;
  const isSame = (one: Failure) =>
    one.error instanceof Incomplete && findRefusal(one.error)?.message === reason;
  const same = reason === undefined ? [] : all.filter(isSame).map((one) => one.resource.name);
  if (same.length > 1) return `${same.join(", ")} were read before, and are refused now: ${reason}`;
  return error instanceof Incomplete ? error.message : `${resource.name}: ${errorReason(error)}`;
}

/**
 * Runs a command for every profile of this machine, one after another, with the profile's settings. A failure does not stop
 * the other profiles; a signal does.
 * @returns the exit code of the worst failure
 * @throws ConfigurationError without a profile, Stopped, UsageError
 */
export async function runForAllProfiles<Options extends GlobalOptions>(
  options: Options,
  context: Context,
  run: (options: Options, context: Context) => Promise<unknown>,
): Promise<ExitCode> {
  const { argv, deps } = context;
  const profiles = await readProfilesWithKey(deps);
  const hint = "run `brandapi login --profile NAME` for each";
  if (profiles.length === 0) throw new ConfigurationError("No brand is set up here.", { hint });
  let worst: ExitCode = exitCodes.done;
  for (const [profile] of profiles) {
    deps.signal.throwIfAborted();
    const profileOptions = { ...options, allProfiles: undefined, profile };
    try {
      await run(profileOptions, { ...context, deps: depsFor(profile, options, deps), profile });
    } catch (error) {
      if (deps.signal.aborted || error instanceof UsageError) throw error;
      const code = reportError(error, argv, deps, profile);
      // The codes are in order of urgency, from a defect (1) to stale data (10).
      if (worst === exitCodes.done || code < worst) worst = code;
    }
  }
  return worst;
}

/** Returns the dependencies for one profile: without BRANDAPI_PING, which covers all profiles, and with a heading for its output. */
function depsFor(profile: string, { color, json }: GlobalOptions, deps: Deps): Deps {
  const { BRANDAPI_PING, ...env } = deps.env;
  const withHeading = (stream: OutputStream) =>
    prependHeading(stream, styleFor(stream, { color }, env).bold(`[${profile}]`));
  const stdout = json ? deps.stdout : withHeading(deps.stdout);
  return { ...deps, env, stdout, stderr: withHeading(deps.stderr) };
}
