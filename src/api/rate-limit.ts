import { createHash } from "node:crypto";
import { closeSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import type { Clock } from "../deps.js";
import { createFolder } from "../util/files.js";
import { isDamageError, loadSqlite, type SqliteConstructor } from "../util/sqlite.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import type { ApiEvents, ApiSettings } from "./client.js";
import type { ServerLimit } from "./headers.js";
import { createRetryAfterError } from "./request-errors.js";

/** The interval, in milliseconds, at which a waiting process checks whether the rate-limit file has been deleted. */
const pollMs = 1_000;
/**
 * The maximum delay that the reset time in a rate-limit header can cause. A `Retry-After` header can cause a longer
 * delay.
 */
const maxResetMs = 60_000;

/** Either a permit to send one request, or the time to wait before asking for a permit again. */
type Admission = { permit: number } | { waitMs: number };

/**
 * Enforces the API's limits across all processes on this machine (see "Limits" in the API documentation). Each request
 * counts for one window (one minute). The window starts when the response arrives, because the server may count the
 * request at any time until then.
 */
export class RateLimiter {
  /**
   * The path of the rate-limit file, or null if the file is unusable. In that case, the process counts only its own
   * requests.
   */
  #path: string | null;
  #file: RateLimitFile | null = null;
  /** True if the count of recent requests has been lost. If so, a new file must start as if the quota were used up. */
  #isCountLost = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The limit that the server reported, if it allows fewer requests than the local count does. */
  #serverLimit = { remaining: Number.POSITIVE_INFINITY, until: 0 };

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
   * @param maxServerWaitMs the longest total delay that the server may request; it does not apply to waits for the
   * configured limit
   * @returns the permit to pass to `endRequest`
   * @throws the signal's abort reason, or ApiUnavailable if the server requests a longer delay
   */
  async acquire(signal: AbortSignal, maxServerWaitMs = Number.POSITIVE_INFINITY): Promise<number> {
    signal.throwIfAborted();
    let remainingServerWaitMs = maxServerWaitMs;
    for (let isReported = false; ; isReported = true) {
      remainingServerWaitMs -= await this.#waitForServer(signal, remainingServerWaitMs);
      const admission = await this.#admit();
      if ("permit" in admission) {
        this.#serverLimit.remaining -= 1;
        return admission.permit;
      }
      if (!isReported) this.events.onWait?.({ ms: admission.waitMs, reason: "rate-limit" });
      await this.clock.sleep(Math.min(admission.waitMs, pollMs), signal);
    }
  }

  /**
   * Records that a request has succeeded or failed. From then on, the request counts toward the limit for one minute.
   * @param server the limit in the response's headers
   */
  endRequest(permit: number, server: ServerLimit | null): void {
    const now = this.clock.monotonic();
    const sentRequests = this.#startWindow(permit);
    const ownRemaining = (this.settings.rateLimit ?? Number.POSITIVE_INFINITY) - sentRequests;
    // The server may allow fewer requests than the local count suggests, because another machine uses the same key, or
    // because the actual limit is lower than the configured one.
    if (server && server.remaining < ownRemaining)
      this.#serverLimit = { remaining: server.remaining, until: now + Math.min(server.resetMs, maxResetMs) };
  }

  /** Delays all requests in this run. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.clock.monotonic() + ms);
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /**
   * Waits as long as the server requests.
   * @returns the duration of the wait, in milliseconds
   * @throws ApiUnavailable if the total delay exceeds `maxMs`
   */
  async #waitForServer(signal: AbortSignal, maxMs: number): Promise<number> {
    const startedAt = this.clock.monotonic();
    for (let isReported = false; ; isReported = true) {
      const waitedMs = this.clock.monotonic() - startedAt;
      const delayMs = this.#serverDelayMs();
      if (delayMs === 0) return waitedMs;
      if (waitedMs + delayMs > maxMs) throw createRetryAfterError(delayMs, this.clock.now());
      if (!isReported) this.events.onWait?.({ ms: delayMs, reason: "server" });
      await this.clock.sleep(delayMs, signal);
    }
  }

  #serverDelayMs(): number {
    const now = this.clock.monotonic();
    const { remaining, until } = this.#serverLimit;
    return Math.max(0, this.#pausedUntil - now, remaining > 0 ? 0 : until - now);
  }

  /**
   * Requests a permit from the rate-limit file. If that fails, tries a new file. If that fails as well, counts the
   * requests in memory.
   */
  async #admit(): Promise<Admission> {
    const { rateLimit } = this.settings;
    if (rateLimit === null) return { permit: 0 };
    const Sqlite = await loadSqlite();
    for (;;) {
      try {
        this.#file ??= this.#open(Sqlite, rateLimit);
        return this.#file.admit();
      } catch (error) {
        if (this.#path === null || !isFileError(error)) throw error;
        // If the file was already open or is damaged, the recent requests recorded in it are lost. If it could not be
        // opened, this process has not recorded any requests in it.
        if (this.#file !== null || isDamageError(error)) this.#isCountLost = true;
        this.close();
        if (removeDamagedFile(this.#path, error) === "retry") continue;
        this.#path = null;
        this.events.onNotice?.({
          message: `${this.settings.statePath} cannot be used (${errorReason(error)}); requests from other brandapi processes are not counted in this run.`,
        });
      }
    }
  }

  #open(Sqlite: SqliteConstructor, limit: number): RateLimitFile {
    const file = new RateLimitFile(Sqlite, this.#path, this.clock, {
      origin: new URL(this.settings.baseUrl).origin,
      key: createHash("sha256").update(this.settings.key).digest("hex"),
      limit,
      windowMs: this.windowMs,
    });
    if (this.#isCountLost) file.useUpQuota();
    return file;
  }

  /**
   * Records the start of a request's window in the file, and returns the number of requests that count toward the key's
   * limit. Ignores write errors, because their worst effect is that the request counts for longer than necessary.
   */
  #startWindow(permit: number): number {
    try {
      return this.#file?.startWindow(permit) ?? 0;
    } catch (error) {
      if (!isFileError(error)) throw error;
      return 0;
    }
  }
}

/**
 * Deletes a damaged rate-limit file.
 * @returns `retry` if the next attempt can create a new file, or `use-memory` if the file remains unusable
 */
function removeDamagedFile(path: string, error: unknown): "retry" | "use-memory" {
  // The file was deleted while it was open, so a new one can be created.
  if (errorCode(error) === "SQLITE_READONLY_DBMOVED") return "retry";
  if (!isDamageError(error)) return "use-memory";
  for (const suffix of ["", "-journal"]) rmSync(path + suffix, { force: true });
  return "retry";
}

function isFileError(error: unknown): boolean {
  return /^(SQLITE_|E[A-Z]+$)/.test(errorCode(error));
}

interface Quota {
  /** The API's origin. Each origin has a separate quota, and so does each sandbox, because it has a separate port. */
  origin: string;
  key: string;
  /**
   * The maximum number of requests per window with this key. All keys on this machine together may send twice as many.
   */
  limit: number;
  windowMs: number;
}

/** The extra time, in milliseconds, for which a request counts after its window, because network delays vary. */
const networkJitterMs = 50;
/** The assumed maximum time for a request to reach the server. */
const maxTransitMs = 10_000;
const lockTimeoutMs = 5_000;

/** A request counts toward the limit until the time `until`, on the monotonic clock that all processes share. */
const createRequestsTable = `CREATE TABLE IF NOT EXISTS sent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT,
  origin TEXT NOT NULL, key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL)`;

/** A sliding window of sent requests, stored in an SQLite file that all processes share. */
class RateLimitFile {
  readonly #db: Database;

  constructor(
    Sqlite: SqliteConstructor,
    path: string | null,
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly quota: Quota,
  ) {
    if (path !== null) {
      createFolder(dirname(path), 0o700);
      // Create the file first, because better-sqlite3 would create one that every user can read.
      closeSync(openSync(path, "a", 0o600));
    }
    this.#db = new Sqlite(path ?? ":memory:", { timeout: lockTimeoutMs });
    // WAL mode would create additional files, which could be deleted separately. Syncing to disk is unnecessary,
    // because the recorded requests no longer count by the time a machine restarts after a power failure.
    this.#db.pragma("journal_mode = TRUNCATE");
    this.#db.pragma("synchronous = OFF");
    this.#db.exec(createRequestsTable);
  }

  /** Returns a permit. If the limit has been reached, returns the time until a permit may be available. */
  admit(): Admission {
    const { key, limit, origin, windowMs } = this.quota;
    return this.#inTransaction((now) => {
      this.#correctAfterReboot(now);
      this.#db.prepare("DELETE FROM sent_requests WHERE until <= ?").run(now);
      const ofKey = "SELECT until FROM sent_requests WHERE origin = ? AND key = ?";
      const ofAllKeys = "SELECT until FROM sent_requests WHERE origin = ?";
      const until = Math.max(
        this.#nthNewest(ofKey, [origin, key], limit),
        this.#nthNewest(ofAllKeys, [origin], 2 * limit),
      );
      return until > now ? { waitMs: until - now } : { permit: this.#insert(now, windowMs + maxTransitMs) };
    });
  }

  /** Starts a request's window. Returns the number of requests that currently count toward the key's limit. */
  startWindow(permit: number): number {
    const { key, origin, windowMs } = this.quota;
    const ms = windowMs + networkJitterMs;
    return this.#inTransaction((now) => {
      this.#db.prepare("UPDATE sent_requests SET until = ?, ms = ? WHERE id = ?").run(now + ms, ms, permit);
      const count = this.#db.prepare("SELECT count(*) FROM sent_requests WHERE origin = ? AND key = ?");
      return count.pluck().get(origin, key) as number;
    });
  }

  /** Uses up both the key's limit and the combined limit for all keys. */
  useUpQuota(): void {
    const { limit, windowMs } = this.quota;
    this.#inTransaction((now) => {
      for (let request = 0; request < 2 * limit; request += 1) this.#insert(now, windowMs + networkJitterMs);
    });
  }

  close(): void {
    this.#db.close();
  }

  /**
   * Limits `until` to `ms` milliseconds from now. A reboot resets the monotonic clock, so a time that was stored before
   * the reboot can be far in the future.
   */
  #correctAfterReboot(now: number): void {
    this.#db.prepare("UPDATE sent_requests SET until = :now + ms WHERE until > :now + ms").run({ now });
  }

  /** Returns the time at which the nth-newest request stops counting, or 0 if there are fewer than n requests. */
  #nthNewest(select: string, values: readonly string[], n: number): number {
    const statement = this.#db.prepare(`${select} ORDER BY until DESC LIMIT 1 OFFSET ?`);
    return (statement.pluck().get(...values, n - 1) as number | undefined) ?? 0;
  }

  #insert(now: number, ms: number): number {
    const { key, origin } = this.quota;
    // Always insert a weight, because earlier versions of brandapi share this table and add up the weights.
    const insert = "INSERT INTO sent_requests (origin, key, until, ms, weight) VALUES (?, ?, ?, ?, 1)";
    return Number(this.#db.prepare(insert).run(origin, key, now + ms, ms).lastInsertRowid);
  }

  /** Reads the clock after the lock has been acquired, because waiting for the lock can take seconds. */
  #inTransaction<Result>(work: (now: number) => Result): Result {
    return this.#db.transaction(() => work(this.clock.monotonic())).immediate();
  }
}
