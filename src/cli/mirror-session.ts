import type { ApiClient } from "../api/client.js";
import { commandFor } from "../config/credentials.js";
import { type GlobalOptions, readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { BrandapiError, Forbidden, Unauthorized } from "../errors.js";
import { addRestoreHint } from "../store/mirror/backups.js";
import { checkForDamage } from "../store/mirror/damage.js";
import { closeMirror, type Mirror, withMirror, withMirrorFile } from "../store/mirror/database.js";
import { lockMirror } from "../store/mirror/lock.js";
import { noMirrorError, openMirror, openMirrorForPlan, openMirrorOrEmpty } from "../store/mirror/open.js";
import { checkOwner, claimMirror, readOwner } from "../store/mirror/owner.js";
import { omitMembers } from "../store/redaction/redact-mirror.js";
import { noteFailedRun } from "../store/state/run-failures.js";
import { noteProgress } from "../store/state/run-progress.js";
import type { SyncSession } from "../sync/session.js";
import { hideKeys } from "../util/redact-keys.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import {
  type Identity,
  openApiForCommand,
  readIdentity,
  refuseClockSkew,
  warnBeforeExpiry,
} from "./api-session.js";
import { type Progress, TerminalReporter } from "./progress.js";

/** What a command needs to read the API into the mirror. */
export interface MirrorSession extends Omit<SyncSession, "options"> {
  identity: Identity;
  settings: Settings;
}

interface MirrorSessionOptions {
  deps: Deps;
  /** With `wait`, the command waits for another one that has locked the mirror; `full` is `sync --full`. */
  options: GlobalOptions & { wait?: boolean; full?: boolean };
  /** `write` and `verify` lock the mirror; `verify` requires one; `plan` writes nothing. */
  purpose: "write" | "verify" | "plan";
  /** The command's name, which `status` shows in another terminal. */
  command: string;
}

type Work = (session: MirrorSession) => Promise<void>;

/** A command whose settings were read and whose API client is open. */
interface OpenCommand extends MirrorSessionOptions {
  settings: Settings;
  reporter: TerminalReporter;
  api: ApiClient;
}

/**
 * Opens the API and the mirror for a command, and closes both however it ends. The mirror is read once before
 * the first request, to see that it is sound, and opened once for the command, after `/me` has returned the key's brand: a
 * rejected key or another brand's key neither creates nor migrates a mirror.
 * @throws MirrorUnusable if the mirror is damaged, another brand's, or was replaced during the run; MirrorBusy; what
 * `work` throws
 */
export async function withMirrorSession(run: MirrorSessionOptions, work: Work): Promise<void> {
  const { deps, options, purpose } = run;
  const settings = await readSettings(options, deps);
  const reporter = new TerminalReporter(deps, options);
  try {
    const api = await openApiForCommand(settings, deps, reporter);
    try {
      const openRun = { ...run, settings, reporter, api };
      await (purpose === "plan" ? withMirrorForPlan(openRun, work) : withLockedMirror(openRun, work));
    } finally {
      api.close();
    }
  } catch (error) {
    throw await addRestoreHint(error, settings.dbPath);
  } finally {
    reporter.close();
  }
}

/** Opens the mirror read-only, or an empty one if there is none yet. */
async function withMirrorForPlan(run: OpenCommand, work: Work): Promise<void> {
  const opening = run.deps.withSignals("kill", () => openMirrorForPlan(run.settings.dbPath));
  await withMirror(opening, async (mirror) => {
    const identity = await identify(run);
    checkOwner(readOwner(mirror), identity.brand, run.settings.brand);
    await work(createSession(run, identity, mirror));
  });
}

/** Locks the mirror while a command writes into it. */
async function withLockedMirror(run: OpenCommand, work: Work): Promise<void> {
  const { options, purpose, reporter, settings } = run;
  const { clock, signal, withSignals } = run.deps;
  const { dbPath } = settings;
  const opening = withSignals("kill", () => openMirrorOrEmpty(dbPath));
  const owner = await withMirror(opening, (mirror) => {
    if (purpose === "verify" && mirror.id === null) throw noMirrorError(dbPath);
    return readOwner(mirror);
  });
  const { wait = false } = options;
  const lock = await lockMirror(dbPath, { wait, clock, signal, queued: reporter.note });
  try {
    const identity = await identify(run).catch(async (error: unknown) => {
      if (!signal.aborted)
        // If this fails as well, the first error is the one to report.
        await withMirrorFile(dbPath, (mirror) => noteFailure(mirror, run, error)).catch(() => {});
      throw error;
    });
    checkOwner(owner, identity.brand, settings.brand);
    const mirror = await withSignals("kill", () => openMirror(dbPath, { reporter }));
    try {
      await prepare(mirror, run, identity);
      reporter.onProgress((progress) => saveProgress(mirror, run, progress));
      await work(createSession(run, identity, mirror));
    } catch (error) {
      noteRejection(mirror, run, error);
      throw error;
    } finally {
      reporter.onProgress(null);
      closeMirror(mirror);
    }
  } finally {
    lock.release();
  }
}

/** Requests the key's brand and scopes. @throws ConfigurationError if this machine's clock is wrong */
async function identify({ api, deps, reporter, settings }: OpenCommand): Promise<Identity> {
  const identity = await readIdentity(api);
  refuseClockSkew(identity.skew);
  warnBeforeExpiry(identity.key.expires_at, deps.clock.now(), settings.profile, reporter.warn);
  return identity;
}

/** Checks a mirror that was just opened, and makes it this brand's. */
async function prepare(mirror: Mirror, run: OpenCommand, identity: Identity): Promise<void> {
  const { command, deps, purpose } = run;
  if (command === "sync")
    await deps.withSignals("kill", async () => checkForDamage(mirror, deps.clock.now()));
  claimMirror(mirror, identity.brand);
  noteFailedRun(mirror, null);
  if (purpose === "write") await deps.withSignals("kill", async () => applyOmit(mirror, run));
}

function createSession(run: OpenCommand, identity: Identity, mirror: Mirror): MirrorSession {
  const { api, deps, reporter, settings } = run;
  const { clock, keys } = deps;
  return { dailyPoints: new Map(), api, clock, keys, reporter, identity, settings, mirror };
}

function saveProgress(mirror: Mirror, { command, deps }: OpenCommand, progress: Progress): void {
  const { name: resource, position, of, requests, left, isKnown } = progress;
  const at = formatInstant(deps.clock.now());
  noteProgress(mirror, {
    command,
    resource,
    position,
    of,
    requests,
    requests_left: isKnown ? left : null,
    at,
  });
}

/** Records that the API rejected the key, or refused this machine, in the middle of a run. */
function noteRejection(mirror: Mirror, run: OpenCommand, error: unknown): void {
  const isRefused = error instanceof Unauthorized || (error instanceof Forbidden && error.affectsAllRequests);
  if (!isRefused) return;
  try {
    noteFailure(mirror, run, error);
  } catch {
    // The refusal is the error to report.
  }
}

/** Records a failed run for `status`, because nobody reads the output of a nightly run. */
function noteFailure(mirror: Mirror, { command, deps }: OpenCommand, error: unknown): void {
  noteFailedRun(mirror, {
    command,
    at: formatInstant(deps.clock.now()),
    error: hideKeys(errorReason(error), deps.keys),
    hint: (error instanceof BrandapiError && error.hint) || null,
    isRefused: error instanceof Unauthorized || error instanceof Forbidden,
  });
}

/** Applies the profile's list of omitted members to the mirror, and prints what changed. */
function applyOmit(mirror: Mirror, { options, reporter, settings: { omit, profile } }: OpenCommand): void {
  const result = omitMembers(mirror, omit);
  if (!result) return;
  const { lost, restored, total } = result;
  for (const text of lost) reporter.warn(text);
  reporter.note(`omits ${omit.join(", ") || "nothing"}: ${pluralize(total, "record")} rewritten`);
  if (restored.length === 0) return;
  const next = options.full
    ? ""
    : `. Run \`${commandFor("sync --full", profile)}\` to store it for older records too`;
  // A warning, because a sync with the wrong profile stores personal data again.
  reporter.warn(
    `The mirror omitted ${restored.join(", ")} so far, but the profile \`${profile}\` does not: syncs store it from now on${next}`,
  );
}
