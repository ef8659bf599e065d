import type { ApiClient } from "../api/client.js";
import { configPath } from "../config/folders.js";
import type { GlobalFlags, Settings } from "../config/settings.js";
import { unknownFieldHint } from "../config/stored-profiles.js";
import { noteMisspelledVariables } from "../config/variables.js";
import type { Deps } from "../deps.js";
import { BrandapiError, ConfigurationError, Forbidden, MirrorUnusable, Unauthorized } from "../errors.js";
import { checkForDamage, closeMirror, connect, type Mirror, withMirror } from "../store/database.js";
import { clearFailedCommand, saveFailedCommand } from "../store/known-problems.js";
import { lockMirror, saveProgress } from "../store/mirror-lock.js";
import { mirrorExists, openMirror, openMirrorForPlan } from "../store/open.js";
import { checkOwner, loadOwner } from "../store/owner.js";
import { omitFields } from "../store/redact-mirror.js";
import { defaultOptions, type SyncOptions, type SyncSession } from "../sync/session.js";
import { pluralize } from "../util/format-text.js";
import { hideKeys } from "../util/redact-keys.js";
import type { Reporter } from "../util/reporter.js";
import { errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/timestamps.js";
import { type Identity, openApi, requestIdentity, warnBeforeExpiry } from "./api-session.js";
import { createMissingMirrorError, explainMirrorError } from "./mirror-errors.js";
import { type Progress, TerminalReporter } from "./progress.js";

/** A command that uses both the API and the mirror, such as `sync` or `verify`. */
interface MirrorCommand {
  /** The command's name, which `status` prints while the command is running or if it has failed. */
  name: string;
  deps: Deps;
  flags: GlobalFlags & { wait?: boolean; full?: boolean };
  settings: Settings;
  options?: SyncOptions;
}

/** A command that writes to the mirror. */
interface WritingCommand extends MirrorCommand {
  /** True to fail if the mirror does not exist. By default, it is created. */
  needsMirror?: boolean;
  /** True to check the entire mirror file for damage. By default, a quicker check runs once a day. */
  checksFile?: boolean;
  /** True to apply the profile's list of omitted fields to the stored records. */
  appliesOmit?: boolean;
  /** The hint to print if a signal stops the command. */
  stopHint?: string;
}

/** The hint to print if a signal stops a command that can be resumed. */
export const resumeHint = "everything read so far is kept; run the same command again to continue";

export interface MirrorSession extends SyncSession {
  identity: Identity;
  settings: Settings;
}

/**
 * Runs a command that writes to the mirror: locks the mirror, requests `/me`, opens the mirror for the key's brand, and
 * calls `work`. If the key is rejected or belongs to another brand, no mirror is created or migrated.
 *
 * A signal stops three steps gracefully: waiting for the lock, requesting `/me`, and `work`. During all other steps, it
 * ends the process at once, and SQLite rolls back the open transaction.
 * @throws MirrorUnusable if the mirror is damaged, belongs to another brand, or is replaced while `work` is running;
 * MirrorBusy; errors from `work`
 */
export async function withMirrorSession(
  command: WritingCommand,
  work: (session: MirrorSession) => Promise<void>,
): Promise<void> {
  const { deps, flags, needsMirror, settings, stopHint } = command;
  const { clock, signal } = deps;
  await withApi(command, async (api, reporter) => {
    if (needsMirror && !mirrorExists(settings.dbPath)) throw createMissingMirrorError(settings, deps);
    const lockOptions = { wait: flags.wait ?? false, clock, signal, onQueued: reporter.note };
    const lock = await deps.runGracefully(() => lockMirror(settings.dbPath, lockOptions), stopHint);
    try {
      const session = await openSession(command, api, reporter);
      await runSession(command, session, reporter, work);
    } finally {
      lock.release();
    }
  });
}

/** Requests `/me` and opens the mirror. Records any failure as a failed command. */
async function openSession(
  command: WritingCommand,
  api: ApiClient,
  reporter: Reporter,
): Promise<MirrorSession> {
  const { appliesOmit, checksFile = false, deps, flags, settings, stopHint } = command;
  const { dbPath } = settings;
  let mirror: Mirror | undefined;
  try {
    const identity = await deps.runGracefully(() => checkApiIdentity(api, command, reporter), stopHint);
    // Tell the user about a new mirror, because its path may contain a typo.
    if (flags.db !== undefined && !mirrorExists(dbPath)) reporter.note(`Creating a new mirror: ${dbPath}`);
    const brands = { ofKey: identity.brand, ofProfile: settings.brand };
    mirror = await openMirror(dbPath, { brands, reporter });
    checkForDamage(mirror, deps.clock.now(), { complete: checksFile });
    clearFailedCommand(mirror);
    if (appliesOmit) applyOmit(mirror, command, reporter);
    return createSession(command, { identity, mirror }, api, reporter);
  } catch (error) {
    await recordFailure(command, mirror, error);
    if (mirror) closeMirror(mirror);
    throw error;
  }
}

/**
 * Calls `work` and closes the mirror. A rejected key is the only error that is recorded as a failed command, because
 * `sync` and `verify` record all other errors in `sync_runs`, together with the failed resource.
 */
async function runSession(
  command: WritingCommand,
  session: MirrorSession,
  reporter: TerminalReporter,
  work: (session: MirrorSession) => Promise<void>,
): Promise<void> {
  const { deps, name, stopHint } = command;
  const { mirror } = session;
  reporter.setProgressListener((progress) => saveCommandProgress(mirror, name, progress, deps.clock.now()));
  try {
    await deps.runGracefully(() => work(session), stopHint);
  } catch (error) {
    if (isRefusal(error) && error.failureScope === "command") await recordFailure(command, mirror, error);
    throw error;
  } finally {
    reporter.setProgressListener(null);
    closeMirror(mirror);
  }
}

/**
 * Runs `work`, which plans a sync without writing anything. Opens the mirror read-only, or uses an empty in-memory
 * mirror if there is none.
 */
export async function withPlanSession<T>(
  command: MirrorCommand,
  work: (session: MirrorSession) => Promise<T>,
): Promise<T> {
  const { deps, settings } = command;
  return await withApi(command, (api, reporter) =>
    withMirror(openMirrorForPlan(settings.dbPath), (mirror) =>
      deps.runGracefully(async () => {
        const identity = await checkApiIdentity(api, command, reporter);
        checkOwner(loadOwner(mirror), identity.brand, settings.brand);
        return await work(createSession(command, { identity, mirror }, api, reporter));
      }),
    ),
  );
}

function createSession(
  { deps, settings, options = defaultOptions }: MirrorCommand,
  { identity, mirror }: Pick<MirrorSession, "identity" | "mirror">,
  api: ApiClient,
  reporter: Reporter,
): MirrorSession {
  const { clock, apiKeys, signal } = deps;
  return {
    mirror,
    api,
    clock,
    signal,
    apiKeys,
    reporter,
    options,
    cachedTotals: new Map(),
    identity,
    settings,
  };
}

/** Opens the reporter and the API client, warns about unknown settings, and explains errors from the mirror. */
async function withApi<T>(
  { deps, flags, settings }: MirrorCommand,
  work: (api: ApiClient, reporter: TerminalReporter) => Promise<T>,
): Promise<T> {
  const reporter = new TerminalReporter(deps, flags);
  for (const field of settings.unknownFields)
    reporter.warn(
      `The profile \`${settings.profile}\` in ${configPath(deps)} has an unknown field \`${field}\`; ${unknownFieldHint(field)}`,
    );
  try {
    const api = await openApi(settings, deps, reporter);
    noteMisspelledVariables(flags, deps.env, reporter.note);
    return await work(api, reporter).finally(() => api.close());
  } catch (error) {
    throw await explainMirrorError(error, settings.dbPath);
  } finally {
    reporter.close();
  }
}

/**
 * Requests `/me`, compares the clocks, and warns if the key expires soon.
 * @throws ConfigurationError if this machine's clock is wrong
 */
async function checkApiIdentity(
  api: ApiClient,
  { deps, settings }: MirrorCommand,
  { warn }: Reporter,
): Promise<Identity> {
  const identity = await requestIdentity(api);
  // Stop, because a wrong clock would put wrong timestamps in the mirror.
  if (identity.clockWarning !== null)
    throw new ConfigurationError(identity.clockWarning, {
      hint: "set the clock, then run the same command again",
    });
  warnBeforeExpiry(identity.key.expires_at, settings, deps.clock.now(), warn);
  return identity;
}

/** Saves the command's progress in the mirror, so that `status` can print it in another terminal. */
function saveCommandProgress(mirror: Mirror, command: string, progress: Progress, now: number): void {
  const { name: resource, position, taskCount, requestsSent, requestsLeft, isLeftKnown } = progress;
  saveProgress(mirror, {
    command,
    resource,
    position,
    of: taskCount,
    requests: requestsSent,
    requests_left: isLeftKnown ? requestsLeft : null,
    at: formatInstant(now),
  });
}

/**
 * Records a failed command so that `status` can report it, because nobody reads the output of a nightly run. If the
 * mirror cannot be written to, ignores the write error, because the command's original error is more useful.
 * @param mirror the open mirror, or undefined if it has not been opened
 */
async function recordFailure(
  { name, deps, settings }: MirrorCommand,
  mirror: Mirror | undefined,
  error: unknown,
): Promise<void> {
  // Never write to a mirror that is damaged or that belongs to another brand.
  if (deps.signal.aborted || error instanceof MirrorUnusable) return;
  const failure = {
    command: name,
    at: formatInstant(deps.clock.now()),
    error: hideKeys(errorReason(error), deps.apiKeys),
    hint: (error instanceof BrandapiError && error.hint) || null,
    isRefused: isRefusal(error),
  };
  try {
    // An outdated mirror can store the failure without being migrated, because `mirror_info` has never changed.
    if (mirror) saveFailedCommand(mirror, failure);
    else await withMirror(connect(settings.dbPath), (opened) => saveFailedCommand(opened, failure));
  } catch {}
}

function isRefusal(error: unknown): error is Unauthorized | Forbidden {
  return error instanceof Unauthorized || error instanceof Forbidden;
}

/** Applies the profile's list of omitted fields to the stored records. */
function applyOmit(
  mirror: Mirror,
  { flags, settings: { omit, profile } }: MirrorCommand,
  reporter: Reporter,
): void {
  const result = omitFields(mirror, omit);
  if (!result) return;
  const { warnings, noLongerOmitted, total } = result;
  for (const text of warnings) reporter.warn(text);
  const rewritten = total === 0 ? "" : `: ${pluralize(total, "record")} rewritten`;
  reporter.note(`omits ${omit.join(", ") || "nothing"}${rewritten}`);
  if (noLongerOmitted.length === 0) return;
  const [it, fields] = noLongerOmitted.length === 1 ? ["it", "this field"] : ["them", "these fields"];
  const next = flags.full ? "" : `. Run \`brandapi sync --full\` to store ${fields} for older records too`;
  // Print a warning rather than a note, because a sync with the wrong profile would store personal data again.
  reporter.warn(
    `The mirror has omitted ${noLongerOmitted.join(", ")} so far, but the profile \`${profile}\` does not omit ${it}. From now on, syncs will store ${fields}${next}`,
  );
}
