import type { GlobalFlags } from "../config/settings.js";
import { readProfilesWithKey } from "../config/stored-profiles.js";
import type { Context, Deps, OutputStream } from "../deps.js";
import { ConfigurationError, type ExitCode, exitCodes, UsageError } from "../errors.js";
import { createStyle } from "../util/terminal.js";
import { reportError } from "./error-output.js";

/**
 * Runs a command for the selected profile or, with `--all-profiles`, for every profile on this machine. If one profile
 * fails, continues with the next one, unless the error is Stopped or a UsageError.
 * @returns the most severe exit code
 * @throws ConfigurationError if `--all-profiles` is given but there are no profiles; Stopped and UsageError from `run`;
 * without `--all-profiles`, also all other errors from `run`
 */
export async function runForProfiles<Flags extends GlobalFlags & { allProfiles?: boolean }>(
  flags: Flags,
  context: Context,
  run: (flags: Flags, context: Context) => Promise<void>,
): Promise<ExitCode> {
  if (!flags.allProfiles) {
    await run(flags, context);
    return exitCodes.done;
  }
  const { commandLine, deps } = context;
  const profiles = readProfilesWithKey(deps);
  const hint = "run `brandapi login --profile NAME` for each brand";
  if (profiles.length === 0)
    throw new ConfigurationError("No brand is configured on this machine.", { hint });
  let worst: ExitCode = exitCodes.done;
  for (const [profile] of profiles) {
    deps.signal.throwIfAborted();
    const profileFlags = { ...flags, allProfiles: undefined, profile };
    try {
      await run(profileFlags, { ...context, deps: createProfileDeps(profile, flags, deps), profile });
    } catch (error) {
      if (deps.signal.aborted || error instanceof UsageError) throw error;
      const code = reportError(error, commandLine, deps, profile);
      // Lower exit codes are more severe. For example, 1 means a bug, and 10 means stale data.
      if (worst === exitCodes.done || code < worst) worst = code;
    }
  }
  return worst;
}

function createProfileDeps(profile: string, { color, json }: GlobalFlags, deps: Deps): Deps {
  const withHeading = (stream: OutputStream) =>
    prependHeading(stream, createStyle(stream, { color }, deps.env).bold(`[${profile}]`));
  return { ...deps, stdout: json ? deps.stdout : withHeading(deps.stdout), stderr: withHeading(deps.stderr) };
}

/** Returns a stream that prints a heading before its first output. A run without output gets no heading. */
function prependHeading(stream: OutputStream, heading: string): OutputStream {
  let isPrinted = false;
  const write = (...args: Parameters<OutputStream["write"]>) => {
    if (!isPrinted) stream.write(`${heading}\n`);
    isPrinted = true;
    return stream.write(...args);
  };
  return Object.create(stream, { write: { value: write } });
}
