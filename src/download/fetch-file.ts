import { join } from "node:path";
import type { ApiClient, Fault } from "../api/index.js";
import { bounds, nextTry } from "../api/index.js";
import type { Clock } from "../deps.js";
import { NotFound, RequestRefused } from "../errors.js";
import type { Json } from "../resources/types.js";
import { downloadPath, readFileUrl } from "./address.js";
import type { LibraryFile } from "./catalogue.js";
import { FileFailed } from "./failure.js";
import { openPart, type Part, type PartMemory } from "./part.js";
import { openPatience, type Timers } from "./patience.js";
import { DiskNearlyFull, openRoom } from "./room.js";
import { type FileHost, transfer } from "./transfer.js";

/** What fetching one file takes. */
export interface FileAccess extends Omit<FileHost, "patience" | "room">, Timers {
  clock: Clock;
  api: Pick<ApiClient, "get">;
  baseUrl: string;
  /** Milliseconds without progress after which a file is given up. */
  maxWaitMs: number;
  /** A number in [0, 1). */
  random(): number;
}

/** What hears how a file gets on. */
export interface FileProgress {
  /** Its length so far, and of the whole, where known. */
  length(length: number, total: number | null): void;
  waiting(ms: number, reason: string): void;
  /** The file host is called for it, for the first time. */
  called(): void;
}

/** A file in its place. */
export interface FetchedFile {
  bytes: number;
  sha256: string;
  /** Bytes that an earlier run had left, and that were not fetched again. */
  resumedFrom: number;
}

/** A URL is valid for 300 seconds (API document, Limits); one this old is not called any more. */
const freshMs = 270_000;
/** How often a file may be refused, restarted or found to have the wrong size without having grown in between. */
const mostStrikes = 3;
/** Most requests for one file, whatever happens. */
const mostTries = 200;

/**
 * Fetches one file into `folder/name`: through a fresh signed URL, resumed after an interruption, a new URL when the
 * old has expired, its size checked against the library's. Nothing is under its name before it is complete.
 * @throws FileFailed when this file cannot be had; what the file system, the API or the signal throws
 */
export async function fetchFile(
  file: LibraryFile,
  place: { folder: string; name: string; memory: PartMemory },
  access: FileAccess,
  progress: FileProgress,
): Promise<FetchedFile> {
  const path = join(place.folder, place.name);
  const part = await openPart(path, place.memory);
  const room = file.size === null ? openRoom(path) : null;
  const resumedFrom = part.length;
  try {
    // A run that was killed between the last byte and the new name.
    const isWhole = resumedFrom > 0 && resumedFrom === file.size;
    progress.length(part.length, file.size);
    if (!isWhole) await fill(part, file, { ...access, room }, progress);
    return { bytes: part.length, sha256: await part.finish(), resumedFrom };
  } catch (error) {
    // What would have filled the disk is not left on it.
    if (error instanceof DiskNearlyFull) await part.restart(null);
    throw error;
  } finally {
    await part.close();
  }
}

/** Tries until the part holds the whole file. */
async function fill(
  part: Part,
  file: LibraryFile,
  access: FileAccess & Pick<FileHost, "room">,
  progress: FileProgress,
): Promise<void> {
  const { clock, signal } = access;
  const patience = openPatience(access.maxWaitMs, access);
  let signed: SignedUrl | null = null;
  let longest = part.length;
  let strikes = 0;
  let attempt = 0;
  for (let tries = 0; tries < mostTries; tries += 1) {
    if (signed === null || clock.monotonic() - signed.at > freshMs)
      signed = await patience.apart(() => sign(file, access));
    if (tries === 0) progress.called();
    const host = { ...access, patience };
    const outcome = await transfer(signed.url, part, file.size, host, (length, total) => {
      progress.length(length, total);
      if (length <= longest) return;
      patience.grew(length - longest);
      longest = length;
      strikes = 0;
      attempt = 0;
    });
    if (outcome.kind === "complete") return;
    if (outcome.kind === "refused") throw new FileFailed(outcome.reason);
    if (outcome.kind === "expired") signed = null;
    if (outcome.kind === "restart" || outcome.kind === "mismatch") await part.restart(null);
    attempt += 1;
    if (outcome.kind !== "fault") strikes += 1;
    const fault = outcome.kind === "fault" ? outcome.fault : passing(outcome.reason);
    const next = nextTry(fault, {
      attempt,
      leftMs: access.maxWaitMs - patience.idleMs(),
      random: access.random(),
    });
    // A URL can expire on its way: that alone is no reason to wait, or to give up.
    const waitMs = outcome.kind === "expired" && strikes === 1 ? 0 : next?.waitMs;
    if (waitMs === undefined || strikes > mostStrikes)
      throw new FileFailed(fault.reason, { hostDown: outcome.kind === "fault" });
    if (waitMs > 0) progress.waiting(waitMs, fault.reason);
    await clock.sleep(waitMs, signal);
  }
  throw new FileFailed(`it is not complete after ${mostTries} tries`);
}

interface SignedUrl {
  url: URL;
  /** When it was asked for, in milliseconds of the monotonic clock. */
  at: number;
}

/** Asks for a download URL: API document, "8. GET /content/{source}/{item_id}/download". It is never kept. */
async function sign(file: LibraryFile, { api, baseUrl, clock, signal }: FileAccess): Promise<SignedUrl> {
  const at = clock.monotonic();
  const data = await download();
  const url = readFileUrl(
    typeof data === "object" && data !== null && "url" in data ? data.url : null,
    baseUrl,
  );
  if ("refused" in url) throw new FileFailed(url.refused);
  return { url, at };

  async function download(): Promise<Json> {
    try {
      const path = downloadPath(file, baseUrl);
      if (path === null) throw new FileFailed("no address can hold its id");
      return (await api.get(path, {}, { scope: "content:read", signal, maxBytes: bounds.smallBytes })).data;
    } catch (error) {
      if (error instanceof NotFound)
        throw new FileFailed(`the library does not have it any more (${error.status})`);
      if (error instanceof RequestRefused)
        throw new FileFailed("the API refuses to give a download URL (400)");
      throw error;
    }
  }
}

function passing(reason: string): Fault {
  return { kind: "network", reason };
}
