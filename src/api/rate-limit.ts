import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../deps.js";
import { loadSqlite, type SqliteConstructor } from "../util/sqlite.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { retryAfterTooLong } from "./api-errors.js";
import type { ApiEvents, ApiSettings } from "./client.js";
import type { ServerLimit } from "./headers.js";
import { type Permit, RateLimitFile } from "./rate-limit-file.js";

/** The maximum time to sleep between checks of the file, because the file could be deleted in the meantime. */
const pollMs = 1_000;
/** The maximum time to wait for the reset time in a rate-limit header. A `Retry-After` can be longer. */
const maxResetMs = 60_000;

/**
 * Keeps the requests from all processes on this machine within the API's limits (API document, "Limits"), using a
 * sliding window that allows bursts. A request's window starts when its response headers arrive, because the server has
 * counted the request by then. Server-requested waits are not saved, so they end with the run.
 */
export class RateLimiter {
  /**
   * The path of the file, or null if the file cannot be used. In that case, this process counts only its own requests.
   */
  #path: string | null;
  #file: RateLimitFile | null = null;
  /** True if the next file to be opened replaces one that contained counted requests. */
  #replacesFile = false;
  /** The end of a server-requested wait, on the monotonic clock. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The server's limit, if it allows fewer requests than our own count does. */
  #serverLimit: { remaining: number; until: number } | null = null;

  constructor(
    private readonly settings: Pick<ApiSettings, "baseUrl" | "key" | "rateLimit" | "statePath">,
    private readonly clock: Clock,
    private readonly events: Pick<ApiEvents, "onNotice" | "onWait">,
    private readonly windowMs = 60_000,
  ) {
    this.#path = join(settings.statePath, "rate.sqlite");
  }

  /**
   * Waits until a request may be sent.
   * @param maxServerWaitMs the maximum server-requested wait; waits for our own limit always end, so they need no
   *   maximum
   * @returns the permit's ID, to be passed to `release`
   * @throws the signal's abort reason, or ApiUnavailable if the server requests a longer wait
   */
  async acquire(signal: AbortSignal, maxServerWaitMs = Number.POSITIVE_INFINITY): Promise<number> {
    let serverWaitedMs = 0;
    let isReported = false;
    for (;;) {
      signal.throwIfAborted();
      const serverWaitMs = this.#serverWaitMs();
      const permit = serverWaitMs > 0 ? { waitMs: serverWaitMs } : await this.#take();
      if ("id" in permit) {
        if (this.#serverLimit) this.#serverLimit.remaining -= 1;
        return permit.id;
      }
      const { waitMs } = permit;
      if (serverWaitMs > 0 && serverWaitedMs + waitMs > maxServerWaitMs)
        throw retryAfterTooLong(waitMs, this.clock.now());
      if (!isReported && waitMs > 0) {
        this.events.onWait?.({ ms: waitMs, reason: serverWaitMs > 0 ? "server" : "rate-limit" });
        isReported = true;
      }
      const sleepMs = Math.min(waitMs, pollMs);
      if (serverWaitMs > 0) serverWaitedMs += sleepMs;
      await this.clock.sleep(sleepMs, signal);
    }
  }

  /**
   * Restarts a request's window. Called when its response headers have arrived or it has failed.
   * @param server the limit in the response headers, or null if there is none
   */
  release(permit: number, server: ServerLimit | null): void {
    const now = this.clock.monotonic();
    const used = this.#restartWindow(permit, now);
    const ownRemaining = (this.settings.rateLimit ?? Number.POSITIVE_INFINITY) - used;
    // If the server has counted more requests than we have, either another machine uses the same key or the limit is
    // lower.
    if (server && server.remaining < ownRemaining)
      this.#serverLimit = { remaining: server.remaining, until: now + Math.min(server.resetMs, maxResetMs) };
  }

  /** Delays all requests in this run by `ms` milliseconds. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.clock.monotonic() + ms);
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Returns how many milliseconds of a server-requested wait remain, or 0 if there is no wait. */
  #serverWaitMs(): number {
    const now = this.clock.monotonic();
    if (this.#serverLimit && this.#serverLimit.until <= now) this.#serverLimit = null;
    const limit = this.#serverLimit;
    const until =
      limit && limit.remaining <= 0 ? Math.max(limit.until, this.#pausedUntil) : this.#pausedUntil;
    return Math.max(0, until - now);
  }

  /** Takes a permit if one is available. If the file cannot be used, repairs it so that the caller can try again. */
  async #take(): Promise<Permit> {
    const { rateLimit } = this.settings;
    if (rateLimit === null) return { id: 0 };
    const Sqlite = await loadSqlite();
    try {
      this.#file ??= this.#open(Sqlite, rateLimit);
      return this.#file.take(() => this.clock.monotonic());
    } catch (error) {
      if (this.#path === null || !isFileError(error)) throw error;
      this.close();
      this.#repair(this.#path, error);
      return { waitMs: 0 };
    }
  }

  /** Opens the file. If it replaces a lost file, the entire quota counts as used. */
  #open(Sqlite: SqliteConstructor, limit: number): RateLimitFile {
    const file = new RateLimitFile(Sqlite, this.#path, {
      origin: new URL(this.settings.baseUrl).origin,
      key: createHash("sha256").update(this.settings.key).digest("hex"),
      limit,
      windowMs: this.windowMs,
    });
    if (this.#replacesFile) file.exhaust(this.clock.monotonic());
    this.#replacesFile = true;
    return file;
  }

  /** Deletes a damaged file. If the file cannot be used at all, falls back to counting in memory. */
  #repair(path: string, error: unknown): void {
    const code = errorCode(error);
    // The file was deleted while it was open. The next attempt recreates it.
    if (code === "SQLITE_READONLY_DBMOVED") return;
    if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
      for (const suffix of ["", "-journal"]) rmSync(path + suffix, { force: true });
      this.#replacesFile = true;
      return;
    }
    this.#path = null;
    this.events.onNotice?.({
      message:
        `${this.settings.statePath} cannot be used (${errorReason(error)}): ` +
        "requests from other brandapi processes are not counted in this run.",
    });
  }

  /**
   * Restarts a request's window, and returns the number of requests with this key in the window. If the file cannot be
   * written, the request counts for longer than necessary.
   */
  #restartWindow(permit: number, now: number): number {
    try {
      return this.#file?.restartWindow(permit, now) ?? 0;
    } catch (error) {
      if (!isFileError(error)) throw error;
      return 0;
    }
  }
}

/** True for an SQLite or file system error, false for a bug in this program. */
function isFileError(error: unknown): boolean {
  return /^(SQLITE_|E[A-Z]+$)/.test(errorCode(error));
}
