import type { ApiClient } from "../api/client.js";
import { configPath } from "../config/folders.js";
import { commandFor, type GlobalFlags, type Settings } from "../config/settings.js";
import { unknownFieldHint } from "../config/stored-profiles.js";
import { noteMisspelledVariables } from "../config/variables.js";
import type { Deps } from "../deps.js";
import {
  BrandapiError,
  ConfigurationError,
  Forbidden,
  failureScope,
  MirrorBusy,
  MirrorUnusable,
  Unauthorized,
} from "../errors.js";
import { checkForDamage, closeMirror, connect, type Mirror, withMirror } from "../store/database.js";
import { lockMirror, writeProgress } from "../store/mirror-lock.js";
import { noMirrorError, openMirror, openMirrorForPlan, openMirrorOrEmpty } from "../store/open.js";
import { checkOwner, claimMirror, readOwner } from "../store/owner.js";
import { omitFields } from "../store/redact-mirror.js";
import { writeFailedCommand } from "../store/runs.js";
import { defaultOptions, type SyncOptions, type SyncSession } from "../sync/run.js";
import { pluralize } from "../util/format-text.js";
import { hideKeys } from "../util/redact-keys.js";
import type { Reporter } from "../util/reporter.js";
import { errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/timestamps.js";
import { type Identity, openApi, readIdentity, warnBeforeExpiry } from "./api-session.js";
import { explainMirrorError } from "./mirror-reading.js";
import { type Progress, TerminalReporter } from "./progress.js";

/** A command that reads the API and the mirror. */
interface MirrorCommand {
  name: "sync" | "verify" | "download";
  deps: Deps;
  flags: GlobalFlags & { wait?: boolean; full?: boolean };
  settings: Settings;
  options?: SyncOptions;
}

export interface MirrorSession extends SyncSession {
  identity: Identity;
  settings: Settings;
}

/**
 * Runs a command that writes to the mirror.
 * @throws MirrorUnusable if the mirror is damaged, belongs to another brand, or is replaced while `work` is running;
 * MirrorBusy; errors from `work`
 */
export async function withMirrorSession(
  command: MirrorCommand,
  work: (session: MirrorSession) => Promise<void>,
): Promise<void> {
  const { name, deps, flags, settings, options = defaultOptions } = command;
  const { clock, keys, signal } = deps;
  const { dbPath } = settings;
  const continueHint = "everything read so far is kept; run the same command again to continue";
  const stopHint = name === "verify" ? undefined : continueHint;
  await withApi(command, async (api, reporter) => {
    // An unusable mirror is reported even if another run holds the lock.
    const owner = await withMirror(openMirrorOrEmpty(dbPath), (existing) => {
      if (name === "verify" && !existing.hasFile) throw noMirrorError(dbPath);
      // Print the path of a new mirror, because it may contain a typo.
      if (flags.db !== undefined && !existing.hasFile) reporter.note(`Creating a new mirror: ${dbPath}`);
      return readOwner(existing);
    });
    const lockOptions = { wait: flags.wait ?? false, clock, signal, onQueued: reporter.note };
    const lock = await deps.runGracefully(() => lockMirror(dbPath, lockOptions), stopHint);
    let mirror: Mirror | undefined;
    let isWorking = false;
    try {
      // Check the key first, so that a rejected key or another brand's key neither creates nor migrates a mirror.
      const identity = await deps.runGracefully(() => checkApiIdentity(api, command, reporter), stopHint);
      checkOwner(owner, identity.brand, settings.brand);

      mirror = await openMirror(dbPath, { reporter });
      if (name === "sync") checkForDamage(mirror, clock.now());
      claimMirror(mirror, identity.brand);
      writeFailedCommand(mirror, null);
      if (name !== "verify") applyOmit(mirror, command, reporter);

      const cachedTotals = new Map();
      const session = { cachedTotals, api, clock, keys, reporter, identity, settings, options, mirror };
      reporter.onProgress((progress) => saveProgress(session.mirror, name, progress, clock.now()));
      isWorking = true;
      await deps.runGracefully(() => work(session), stopHint);
    } catch (error) {
      if (!signal.aborted && shouldRecordFailure(error, isWorking)) await recordFailure(command, error);
      throw error;
    } finally {
      reporter.onProgress(null);
      try {
        if (mirror) closeMirror(mirror);
      } finally {
        lock.release();
      }
    }
  });
}

/**
 * Runs `work`, which plans a sync, without writing anything. Opens the mirror read-only, or uses an empty in-memory
 * mirror if there is none.
 */
export async function withPlanSession(
  command: MirrorCommand,
  work: (session: MirrorSession) => Promise<void>,
): Promise<void> {
  const { deps, settings, options = defaultOptions } = command;
  const { clock, keys } = deps;
  await withApi(command, async (api, reporter) => {
    await withMirror(openMirrorForPlan(settings.dbPath), async (mirror) => {
      await deps.runGracefully(async () => {
        const identity = await checkApiIdentity(api, command, reporter);
        checkOwner(readOwner(mirror), identity.brand, settings.brand);
        const cachedTotals = new Map();
        await work({ cachedTotals, api, clock, keys, reporter, identity, settings, options, mirror });
      });
    });
  });
}

/** Opens the reporter and the API client, warns about unknown settings, and explains errors from the mirror. */
async function withApi(
  { deps, flags, settings }: MirrorCommand,
  work: (api: ApiClient, reporter: TerminalReporter) => Promise<void>,
): Promise<void> {
  const reporter = new TerminalReporter(deps, flags);
  for (const field of settings.unknownFields)
    reporter.warn(
      `The profile \`${settings.profile}\` in ${configPath(deps)} has an unknown field \`${field}\`: ${unknownFieldHint(field)}`,
    );
  try {
    const api = await openApi(settings, deps, reporter);
    noteMisspelledVariables(flags, deps.env, reporter.note);
    await work(api, reporter).finally(() => api.close());
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
  const identity = await readIdentity(api);
  // With a wrong clock, the mirror's timestamps would be wrong.
  if (identity.clockWarning !== null)
    throw new ConfigurationError(identity.clockWarning, {
      hint: "set the clock, then run the same command again",
    });
  warnBeforeExpiry(identity.key.expires_at, deps.clock.now(), settings.profile, warn);
  return identity;
}

/** Saves the progress for `status`, which may run in another terminal. */
function saveProgress(mirror: Mirror, command: string, progress: Progress, now: number): void {
  const { name: resource, position, of, requests, left, isKnown } = progress;
  const requests_left = isKnown ? left : null;
  writeProgress(mirror, { command, resource, position, of, requests, requests_left, at: formatInstant(now) });
}

/** @param isWorking true if `work` threw the error; most of its failures are already recorded as runs */
function shouldRecordFailure(error: unknown, isWorking: boolean): boolean {
  // Never write to a mirror that is damaged, in use, or owned by another brand.
  if (error instanceof MirrorUnusable || error instanceof MirrorBusy) return false;
  if (!isWorking) return true;
  // All other errors are already in `sync_runs`, with the resource that failed.
  return isRejectedKey(error) && failureScope(error) === "command";
}

function isRejectedKey(error: unknown): boolean {
  return error instanceof Unauthorized || error instanceof Forbidden;
}

/**
 * Records a failed command so that `status` can report it, because nobody reads the output of a nightly run. If the
 * mirror cannot be written, the command's original error is more useful than the write error, which is ignored.
 */
async function recordFailure({ name, deps, settings }: MirrorCommand, error: unknown): Promise<void> {
  const failure = {
    command: name,
    at: formatInstant(deps.clock.now()),
    error: hideKeys(errorReason(error), deps.keys),
    hint: (error instanceof BrandapiError && error.hint) || null,
    isRefused: isRejectedKey(error),
  };
  await withMirror(connect(settings.dbPath), (mirror) => writeFailedCommand(mirror, failure)).catch(() => {});
}

/** Applies the profile's list of omitted fields to the stored records. */
function applyOmit(
  mirror: Mirror,
  { flags, settings: { omit, profile } }: MirrorCommand,
  reporter: Reporter,
): void {
  const result = omitFields(mirror, omit);
  if (!result) return;
  const { lost, restored, total } = result;
  for (const text of lost) reporter.warn(text);
  const rewritten = total === 0 ? "" : `: ${pluralize(total, "record")} rewritten`;
  reporter.note(`omits ${omit.join(", ") || "nothing"}${rewritten}`);
  if (restored.length === 0) return;
  const next = flags.full
    ? ""
    : `. Run \`${commandFor("sync --full", profile)}\` to store it for older records too`;
  // Print a warning rather than a note, because a sync with the wrong profile would store personal data again.
  reporter.warn(
    `The mirror has omitted ${restored.join(", ")} so far, but the profile \`${profile}\` does not. From now on, syncs will store it${next}`,
  );
}
