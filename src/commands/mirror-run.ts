import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { AccessForbidden, ApiUnavailable, KeyRejected } from "../errors.js";
import { counted } from "../lib/counted.js";
import { hideKeys } from "../lib/secrets.js";
import { formatInstant } from "../lib/times.js";
import {
  checkOwner,
  checkPlace,
  claimMirror,
  closeMirror,
  isMade,
  type Lock,
  lockMirror,
  type Mirror,
  noteFailedRun,
  noteProgress,
  rememberKey,
  schemaVersion,
} from "../mirror/index.js";
import { openMirror, openMirrorOrNone, openMirrorReadOnly } from "../query/index.js";
import { keepOut } from "../records/index.js";
import { refuseSkew } from "../sync/clock.js";
import type { Access } from "../sync/run.js";
import type { Progress } from "../ui/progress.js";
import { createReporter } from "../ui/reporter.js";
import { openAccess } from "./access.js";
import type { GlobalOptions } from "./context.js";
import { expiryWarning, type Identity, readIdentity } from "./identity.js";

/** What a command that reads the API into the mirror works with. */
export interface MirrorSession extends Omit<Access, "options"> {
  identity: Identity;
  settings: Settings;
}

export interface MirrorRunOptions {
  deps: Deps;
  options: GlobalOptions;
  /**
   * `write` holds the mirror's lock; `prove` does too, and makes no mirror where there is none; `plan` only looks, also
   * where there is no mirror yet.
   */
  purpose: "write" | "prove" | "plan";
  /** Queue behind another run. */
  wait: boolean;
  /** The command's name, for whoever looks at the mirror meanwhile. */
  command: string;
}

/**
 * Opens the API and the mirror for one run, and closes both however it ends: holds the mirror's lock, asks whose key
 * it is, and refuses another brand's mirror before anything is written.
 * @throws MirrorUnusable, whatever else happened, where the mirror was replaced or removed in the middle
 */
export async function withMirrorRun(
  { deps, options, purpose, wait, command }: MirrorRunOptions,
  work: (session: MirrorSession) => Promise<void>,
): Promise<void> {
  const { clock, signal, killable } = deps;
  let written: Mirror | undefined;
  const reporter = createReporter(deps, options, {
    progressed: (progress) => written && note(written, command, progress, clock.now()),
  });
  const closers: (() => void)[] = [() => reporter.close()];
  let lock: Lock | undefined;
  try {
    const { api, settings } = await openAccess(options, deps, reporter);
    closers.unshift(() => api.close());
    if (purpose !== "plan") {
      // What is no mirror is refused before a lock is laid beside it.
      const open = purpose === "prove" ? openMirrorReadOnly : openMirrorOrNone;
      (await killable(() => open(settings.dbPath))).db.close();
      lock = await lockMirror(settings.dbPath, { wait, clock, signal, queued: reporter.note });
      closers.unshift(lock.release);
    }
    const identity = await readIdentity(api).catch(async (error: unknown) => {
      if (lock) await noteFailure(settings.dbPath, { command, at: formatInstant(clock.now()), error });
      throw error;
    });
    refuseSkew(identity.skew);
    const warning = expiryWarning(identity.key.expires_at, clock.now(), settings.profile);
    if (warning) reporter.warn(warning);
    const session = { api, clock, signal, killable, reporter, identity, settings };
    const present = await openMirrorOrNone(settings.dbPath);
    try {
      checkOwner(present, identity.brand, settings.brand);
      if (purpose === "plan" && schemaVersion(present) !== "older")
        return await work({ ...session, mirror: present });
    } finally {
      present.db.close();
    }
    if (purpose === "plan") {
      // What an older version wrote is brought up to date first, from what it holds.
      const mirror = await killable(() => openMirrorReadOnly(settings.dbPath));
      closers.unshift(() => mirror.db.close());
      return await work({ ...session, mirror });
    }
    if (checkPlace(settings.dbPath) && !isMade(settings.dbPath))
      reporter.warn(`the mirror was an empty file, and is filled from the beginning: ${settings.dbPath}`);
    const mirror = await killable(() => openMirror(settings.dbPath));
    try {
      claimMirror(mirror, identity.brand);
      noteFailedRun(mirror, null);
      rememberKey(mirror, identity.key);
      if (purpose === "write") await killable(async () => omitMembers(mirror, settings.omit, reporter));
      written = mirror;
      return await work({ ...session, mirror });
    } finally {
      written = undefined;
      closeMirror(mirror);
    }
  } finally {
    for (const close of closers) close();
  }
}

/** Keeps out what the profile says, and takes what is new there out of all that is stored. */
function omitMembers(mirror: Mirror, omit: readonly string[], reporter: { note(text: string): void }): void {
  const { held } = keepOut(mirror, { omit });
  if (held === null) return;
  const records = Object.values(held.records).reduce((sum, count) => sum + count, 0);
  reporter.note(`omits ${omit.join(", ")}: ${counted(records, "record")} held it, and were rewritten`);
}

/** For `status`: what is told in a night is told to nobody. A mirror that is yet to be made stays unmade. */
async function noteFailure(path: string, { error, ...run }: { command: string; at: string; error: unknown }) {
  const isTold = [ApiUnavailable, KeyRejected, AccessForbidden].some((one) => error instanceof one);
  if (!isTold || !isMade(path)) return;
  try {
    const mirror = await openMirror(path);
    try {
      noteFailedRun(mirror, { ...run, error: hideKeys((error as Error).message) });
    } finally {
      closeMirror(mirror);
    }
  } catch {
    // A full disk takes no note either.
  }
}

/** Notes how far the run is, for other processes. What keeps it from that is told when the next answer is kept. */
function note(
  mirror: Mirror,
  command: string,
  { isKnown, left, name, of, position, requests }: Progress,
  now: number,
) {
  const isShared = mirror.db.inTransaction;
  try {
    noteProgress(mirror, {
      command,
      resource: name,
      position,
      of,
      requests,
      requests_left: isKnown ? left : null,
      at: formatInstant(now),
    });
  } catch (error) {
    // A full disk takes back the whole transaction: what is read must not go on as if that were open.
    if (isShared) throw error;
  }
}
