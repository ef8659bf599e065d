import { commandFor } from "../config/credentials.js";
import { type GlobalOptions, readSettings, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { AccessForbidden, BrandapiError, KeyRejected } from "../errors.js";
import { addRestoreHint, checkForDamage, noteDamageCheck } from "../store/damage.js";
import { checkOwner, claimMirror, closeMirror, type Mirror, withMirrorFile } from "../store/database.js";
import { lockMirror } from "../store/lock.js";
import { type OpenOptions, openMirror, openMirrorOrEmpty, openMirrorReadOnly } from "../store/open.js";
import { omitMembers } from "../store/redaction.js";
import { noteFailedRun, noteProgress } from "../store/run-progress.js";
import { schemaVersion } from "../store/schema.js";
import type { SyncSession } from "../sync/session.js";
import { hideKeys } from "../util/redact-keys.js";
import type { Reporter } from "../util/reporter.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { type Identity, openApi, readIdentity, refuseClockSkew, warnBeforeExpiry } from "./api-session.js";
import { createReporter } from "./progress.js";

/** The means of a command that reads the API into the mirror. */
export interface RunSession extends Omit<SyncSession, "options"> {
  identity: Identity;
  settings: Settings;
}

interface RunOptions {
  deps: Deps;
  /** With `wait`, the run queues behind another; `full` is `sync --full`. */
  options: GlobalOptions & { wait?: boolean; full?: boolean };
  /** `write` and `prove` hold the mirror's lock; `prove` needs a mirror; `plan` writes nothing. */
  purpose: "write" | "prove" | "plan";
  /** The command's name, for `status` in another terminal. */
  command: string;
}

/**
 * Opens the API and the mirror for one run, and closes both however it ends: takes the mirror's lock, asks whose key it
 * is, and refuses another brand's mirror before anything is written.
 * @throws MirrorUnusable if the mirror is damaged, or was replaced or removed during the run
 */
export async function withMirrorRun(
  { deps, options, purpose, command }: RunOptions,
  work: (session: RunSession) => Promise<void>,
): Promise<void> {
  const { clock, keys, signal, withSignals } = deps;
  const { full = false, wait = false } = options;
  const settings = await readSettings(options, deps);
  const { dbPath } = settings;
  let written: Mirror | undefined;
  const reporter = createReporter(deps, options, {
    progressed({ name: resource, position, of, requests, left, isKnown }) {
      const progress = { command, resource, position, of, requests, requests_left: isKnown ? left : null };
      if (written) noteProgress(written, { ...progress, at: formatInstant(clock.now()) });
    },
  });
  const closers = [reporter.close];
  try {
    const api = await openApi(settings, deps, reporter);
    closers.unshift(() => api.close());
    const open = purpose === "prove" ? openMirrorReadOnly : openPresent;
    const present = await withSignals("kill", () => open(dbPath, { reporter }));
    closers.unshift(() => present.db.close());
    if (purpose !== "plan")
      closers.unshift((await lockMirror(dbPath, { wait, clock, signal, queued: reporter.note })).release);
    // For `status`, because nobody reads a nightly run's output.
    const failedRun = (error: unknown) => ({
      command,
      at: formatInstant(clock.now()),
      error: hideKeys(errorReason(error), keys),
      hint: (error instanceof BrandapiError && error.hint) || null,
      isRefused: error instanceof KeyRejected || error instanceof AccessForbidden,
    });
    const identity = await readIdentity(api).catch(async (error: unknown) => {
      // An error of the note itself matters less.
      if (purpose !== "plan" && !signal.aborted)
        await withMirrorFile(dbPath, (mirror) => noteFailedRun(mirror, failedRun(error))).catch(() => {});
      throw error;
    });
    refuseClockSkew(identity.skew);
    warnBeforeExpiry(identity.key.expires_at, clock.now(), settings.profile, reporter.warn);
    checkOwner(present, identity.brand, settings.brand);
    const session = { dailyPoints: new Map(), api, clock, keys, reporter, identity, settings };
    if (purpose === "plan") return await work({ ...session, mirror: present });
    const isSync = command === "sync";
    if (isSync && present.id !== null)
      await withSignals("kill", async () => checkForDamage(present, clock.now()));
    present.db.close();
    const mirror = await withSignals("kill", () => openMirror(dbPath, { reporter }));
    try {
      claimMirror(mirror, identity.brand);
      if (isSync) noteDamageCheck(mirror, clock.now());
      noteFailedRun(mirror, null);
      if (purpose === "write")
        await withSignals("kill", async () => applyOmit(mirror, settings, { isFull: full, reporter }));
      written = mirror;
      return await work({ ...session, mirror });
    } catch (error) {
      // Rejected in the middle of the run, or refused because of this machine's address.
      const isRefused =
        error instanceof KeyRejected || (error instanceof AccessForbidden && error.everywhere);
      try {
        if (isRefused) noteFailedRun(mirror, failedRun(error));
      } catch {
        // The refusal is the error to report.
      }
      throw error;
    } finally {
      written = undefined;
      closeMirror(mirror);
    }
  } catch (error) {
    throw await addRestoreHint(error, dbPath, settings.profile);
  } finally {
    for (const close of closers) close();
  }
}

/** Opens the mirror for reading, brought up to date from what it holds; without one, an empty one in memory. */
async function openPresent(path: string, options: OpenOptions): Promise<Mirror> {
  const mirror = await openMirrorOrEmpty(path);
  if (schemaVersion(mirror) !== "older") return mirror;
  mirror.db.close();
  return await openMirrorReadOnly(path, options);
}

/** Applies the profile's list of omitted members to the mirror, and prints what changed. */
function applyOmit(
  mirror: Mirror,
  { omit, profile }: Pick<Settings, "omit" | "profile">,
  { isFull, reporter }: { isFull: boolean; reporter: Pick<Reporter, "note" | "warn"> },
): void {
  const result = omitMembers(mirror, omit);
  if (!result) return;
  const { lost, restored, total } = result;
  for (const text of lost) reporter.warn(text);
  reporter.note(`omits ${omit.join(", ") || "nothing"}: ${pluralize(total, "record")} rewritten`);
  if (restored.length === 0) return;
  const next = isFull ? "" : `; \`${commandFor("sync --full", profile)}\` reads them for stored records`;
  // A mirror that is synced by mistake with another profile stores personal data again.
  reporter.warn(
    `The mirror omitted ${restored.join(", ")} so far, which the profile \`${profile}\` does not omit: stored from now on${next}`,
  );
}
