import type { ApiClient } from "../api/client.js";
import { commandFor } from "../config/credentials.js";
import { configPath } from "../config/folders.js";
import { type GlobalFlags, noteMisspelledVariables, type Settings } from "../config/settings.js";
import { unknownFieldHint } from "../config/stored-profiles.js";
import type { Deps } from "../deps.js";
import {
  BrandapiError,
  Forbidden,
  failureScope,
  MirrorBusy,
  MirrorUnusable,
  Unauthorized,
} from "../errors.js";
import { explainMirrorError } from "../store/backups.js";
import { checkForDamage, closeMirror, type Mirror, withMirror, withMirrorFile } from "../store/database.js";
import { lockMirror, writeProgress } from "../store/lock.js";
import { noMirrorError, openMirror, openMirrorForPlan, openMirrorOrEmpty } from "../store/open.js";
import { checkOwner, claimMirror, type OwnerBrand, readOwner } from "../store/owner.js";
import { omitFields } from "../store/redact-mirror.js";
import { writeFailedRun } from "../store/runs.js";
import type { SyncSession } from "../sync/run.js";
import { hideKeys } from "../util/redact-keys.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import {
  type Identity,
  openApiForCommand,
  readIdentity,
  refuseWrongClock,
  warnBeforeExpiry,
} from "./api-session.js";
import { type Progress, TerminalReporter } from "./progress.js";

export interface MirrorSession extends Omit<SyncSession, "options"> {
  identity: Identity;
  settings: Settings;
}

interface ApiCommand {
  name: "sync" | "verify" | "download";
  deps: Deps;
  flags: GlobalFlags & { wait?: boolean; full?: boolean };
  settings: Settings;
}

/** The steps of opening a mirror that only some commands need. */
interface MirrorSteps {
  /** True to fail if the mirror does not exist, instead of creating it. */
  requiresMirror?: boolean;
  /** True to check the file for damage, at most once a day. */
  checksForDamage?: boolean;
  /** True to apply the profile's list of omitted fields to the stored records. */
  appliesOmit?: boolean;
}

interface ConnectedCommand extends ApiCommand {
  reporter: TerminalReporter;
  api: ApiClient;
}

type SessionWork = (session: MirrorSession) => Promise<void>;

/**
 * Runs a command that writes to the mirror, in these steps:
 *
 * 1. Read the mirror's owner. An unusable mirror is therefore reported even while another run has the lock.
 * 2. Lock the mirror.
 * 3. Request `/me`, and compare the clock and the owner. Therefore, a rejected key or another brand's key neither creates
 *    nor migrates a mirror.
 * 4. Open the mirror for writing, and prepare it.
 * 5. Run `work`.
 * 6. If a step after the lock failed, record the failure for `status`, unless `work` has recorded it in `sync_runs`.
 * 7. Close the mirror, and release the lock.
 *
 * @throws MirrorUnusable if the mirror is damaged, belongs to another brand, or is replaced while `work` is running;
 * MirrorBusy; errors from `work`
 */
export async function withMirrorSession(
  command: ApiCommand,
  steps: MirrorSteps,
  work: SessionWork,
): Promise<void> {
  await withApi(command, async (connected) => {
    const { deps, flags, reporter, settings } = connected;
    const { clock, signal } = deps;
    const owner = await readOwnerOfFile(connected, steps);
    const lock = await lockMirror(settings.dbPath, {
      wait: flags.wait ?? false,
      suggestsWait: true,
      clock,
      signal,
      onQueued: reporter.note,
    });
    let mirror: Mirror | null = null;
    let isWorking = false;
    try {
      const identity = await identify(connected);
      checkOwner(owner, identity.brand, settings.brand);
      mirror = await deps.runKillable(() => openMirror(settings.dbPath, { reporter }));
      await prepareMirror(mirror, connected, steps, identity);
      isWorking = true;
      await work(createSession(connected, identity, mirror));
    } catch (error) {
      if (!signal.aborted && mustRecordFailure(error, isWorking))
        await recordFailure(connected, mirror, error);
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

/** @returns null if the mirror has no owner yet or does not exist */
async function readOwnerOfFile(
  { deps, flags, reporter, settings }: ConnectedCommand,
  { requiresMirror }: MirrorSteps,
): Promise<OwnerBrand | null> {
  const opening = deps.runKillable(() => openMirrorOrEmpty(settings.dbPath));
  return await withMirror(opening, (mirror) => {
    if (requiresMirror && !mirror.hasFile) throw noMirrorError(settings.dbPath);
    // The path may contain a typo.
    if (flags.db !== undefined && !mirror.hasFile) reporter.note(`Creating a new mirror: ${mirror.path}`);
    return readOwner(mirror);
  });
}

/** Checks the mirror for damage, assigns it to the key's brand, and applies the profile's list of omitted fields. */
async function prepareMirror(
  mirror: Mirror,
  command: ConnectedCommand,
  { checksForDamage, appliesOmit }: MirrorSteps,
  { brand }: Identity,
): Promise<void> {
  const { deps, reporter } = command;
  if (checksForDamage) await deps.runKillable(async () => checkForDamage(mirror, deps.clock.now()));
  claimMirror(mirror, brand);
  writeFailedRun(mirror, null);
  if (appliesOmit) await deps.runKillable(async () => applyOmit(mirror, command));
  reporter.onProgress((progress) => saveProgress(mirror, command, progress));
}

/** @param isWorking true if the session's work threw the error; the work records its own failures */
function mustRecordFailure(error: unknown, isWorking: boolean): boolean {
  // Nothing is written to a mirror that is damaged, in use, or owned by another brand.
  if (error instanceof MirrorUnusable || error instanceof MirrorBusy) return false;
  if (!isWorking) return true;
  // `sync_runs` contains all other errors, with the resource that failed.
  return isRejectedKey(error) && failureScope(error) === "command";
}

function isRejectedKey(error: unknown): boolean {
  return error instanceof Unauthorized || error instanceof Forbidden;
}

/**
 * Runs `work` to plan a sync without writing anything. The mirror is opened read-only. If there is no mirror, an empty
 * in-memory mirror is used.
 */
export async function withPlanSession(command: ApiCommand, work: SessionWork): Promise<void> {
  await withApi(command, async (connected) => {
    const opening = connected.deps.runKillable(() => openMirrorForPlan(connected.settings.dbPath));
    await withMirror(opening, async (mirror) => {
      const identity = await identify(connected);
      checkOwner(readOwner(mirror), identity.brand, connected.settings.brand);
      await work(createSession(connected, identity, mirror));
    });
  });
}

async function withApi(
  command: ApiCommand,
  work: (command: ConnectedCommand) => Promise<void>,
): Promise<void> {
  const { deps, flags, settings } = command;
  const reporter = new TerminalReporter(deps, flags);
  for (const field of settings.unknownFields)
    reporter.warn(
      `The profile \`${settings.profile}\` in ${configPath(deps)} has an unknown field \`${field}\`: ${unknownFieldHint(field)}`,
    );
  try {
    const api = await openApiForCommand(settings, deps, reporter);
    noteMisspelledVariables(settings, reporter.note);
    await work({ ...command, reporter, api }).finally(() => api.close());
  } catch (error) {
    throw await explainMirrorError(error, settings.dbPath);
  } finally {
    reporter.close();
  }
}

/**
 * Requests `/me` and checks the response for a wrong clock and an expiring key.
 * @throws ConfigurationError if this machine's clock is wrong
 */
async function identify({ api, deps, reporter, settings }: ConnectedCommand): Promise<Identity> {
  const identity = await readIdentity(api);
  refuseWrongClock(identity);
  warnBeforeExpiry(identity.key.expires_at, deps.clock.now(), settings.profile, reporter.warn);
  return identity;
}

function createSession(command: ConnectedCommand, identity: Identity, mirror: Mirror): MirrorSession {
  const { api, deps, reporter, settings } = command;
  const { clock, keys } = deps;
  return { cachedPoints: new Map(), api, clock, keys, reporter, identity, settings, mirror };
}

/** Saves the progress for `status`, which may run in another terminal. */
function saveProgress(mirror: Mirror, { name: command, deps }: ConnectedCommand, progress: Progress): void {
  const { name: resource, position, of, requests, left, isKnown } = progress;
  const requests_left = isKnown ? left : null;
  const at = formatInstant(deps.clock.now());
  writeProgress(mirror, { command, resource, position, of, requests, requests_left, at });
}

/**
 * Records a failed command so that `status` can report it, because nobody reads the output of a nightly run. Ignores
 * errors while writing to the mirror, because the command's own error is more useful.
 * @param mirror the open mirror, or null if it has not been opened yet
 */
async function recordFailure(
  { name, deps, settings }: ConnectedCommand,
  mirror: Mirror | null,
  error: unknown,
): Promise<void> {
  const failure = {
    command: name,
    at: formatInstant(deps.clock.now()),
    error: hideKeys(errorReason(error), deps.keys),
    hint: (error instanceof BrandapiError && error.hint) || null,
    isRefused: isRejectedKey(error),
  };
  try {
    if (mirror) writeFailedRun(mirror, failure);
    else await withMirrorFile(settings.dbPath, (opened) => writeFailedRun(opened, failure));
  } catch {}
}

function applyOmit(mirror: Mirror, { flags, reporter, settings: { omit, profile } }: ConnectedCommand): void {
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
  // This is a warning rather than a note, because a sync with the wrong profile would store personal data again.
  reporter.warn(
    `The mirror has omitted ${restored.join(", ")} so far, but the profile \`${profile}\` does not. From now on, syncs will store it${next}`,
  );
}
