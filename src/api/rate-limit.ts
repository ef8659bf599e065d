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

/** Maximum sleep between two checks of the file, which could be deleted in the meantime. */
const pollMs = 1_000;
/** Maximum wait for the reset in a rate-limit header. A `Retry-After` can be longer. */
const maxResetMs = 60_000;

/**
 * Keeps the requests of all processes on this machine within the API's limits (API document, "Limits"), with a sliding
 * window that allows bursts. The window of a request starts when its response headers arrive, because the server has
 * counted it by then. Waits that the server asks for are not saved: they end with the run.
 */
export class RateLimiter {
  /** Null if the file cannot be used and this process counts only its own requests. */
  #path: string | null;
  #file: RateLimitFile | null = null;
  /** True if a new file would replace a file with counted requests. */
  #replacesFile = false;
  /** The end of a wait that the server asked for, on the monotonic clock. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The limit of the server, if it allows fewer requests than our own count. */
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
   * @param maxServerWaitMs maximum wait that the server may ask for; waits for our own limit always end
   * @returns the ID of the permit, for `release`
   * @throws the signal's reason, or ApiUnavailable if the server asks for a longer wait
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
   * Restarts the window of a request when its response headers have arrived or it has failed.
   * @param server the limit in the headers, if any
   */
  release(permit: number, server: ServerLimit | null): void {
    const now = this.clock.monotonic();
    const used = this.#restartWindow(permit, now);
    const ownRemaining = (this.settings.rateLimit ?? Number.POSITIVE_INFINITY) - used;
    // If the server has counted more requests than we have, a different machine uses the key or the limit is lower.
    if (server && server.remaining < ownRemaining)
      this.#serverLimit = { remaining: server.remaining, until: now + Math.min(server.resetMs, maxResetMs) };
  }

  /** Delays all requests of this run by `ms` milliseconds. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.clock.monotonic() + ms);
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Returns the remaining milliseconds of a wait that the server asked for; 0 if there is none. */
  #serverWaitMs(): number {
    const now = this.clock.monotonic();
    if (this.#serverLimit && this.#serverLimit.until <= now) this.#serverLimit = null;
    const limit = this.#serverLimit;
    const until =
      limit && limit.remaining <= 0 ? Math.max(limit.until, this.#pausedUntil) : this.#pausedUntil;
    return Math.max(0, until - now);
  }

  /** Takes a permit if one is free. If the file fails, repairs it, so that the caller can try again. */
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

  /** Opens the file. If it replaces a lost file, the complete quota counts as used. */
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
    // The file was deleted while it was open. The next attempt creates a new one.
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
        "requests of other brandapi processes are not counted in this run.",
    });
  }

  /**
   * Returns the number of requests in the window with this key. If the file cannot be written, the request counts for
   * longer.
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

/** True for an error of SQLite or the file system, false for a defect of this program. */
function isFileError(error: unknown): boolean {
  return /^(SQLITE_|E[A-Z]+$)/.test(errorCode(error));
}
