import { createHash } from "node:crypto";
import { closeSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Database, Statement } from "better-sqlite3";
import type { Clock } from "../deps.js";
import { createFolder } from "../util/files.js";
import { loadSqlite, type SqliteConstructor } from "../util/sqlite.js";
import { damageKind, errorCode, errorReason } from "../util/system-errors.js";
import type { ApiEvents, ApiSettings } from "./client.js";
import type { ServerLimit } from "./headers.js";
import { retryAfterTooLong } from "./request-errors.js";

/** The interval at which a waiting process checks whether the rate-limit file has been deleted. */
const pollMs = 1_000;
/**
 * The maximum delay caused by the reset time in a rate-limit header. A `Retry-After` header can cause a longer delay.
 */
const maxResetMs = 60_000;

type Permit = { id: number };
type Wait = { waitMs: number };

/**
 * Enforces the API's limits across all processes on this machine (see "Limits" in the API documentation). A request's
 * window starts when its response headers arrive, because the server has counted the request by then.
 */
export class RateLimiter {
  /**
   * The path of the rate-limit file, or null if the file is unusable. In that case, the process counts only its own
   * requests.
   */
  #path: string | null;
  #file: RateLimitFile | null = null;
  /** True once a file with counted requests has existed. A new file must then assume that the quota is used up. */
  #hadFile = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The server's limit, if it allows fewer requests than the local count. */
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
   * @param maxServerWaitMs limits waits requested by the server, but not waits for the configured limit
   * @returns the permit to pass to `recordResponse`
   * @throws the signal's abort reason, or ApiUnavailable if the server requests a longer wait
   */
  async acquire(signal: AbortSignal, maxServerWaitMs = Number.POSITIVE_INFINITY): Promise<number> {
    let serverWaitedMs = 0;
    let isReported = false;
    for (;;) {
      signal.throwIfAborted();
      const serverWaitMs = this.#serverWaitMs();
      if (serverWaitMs > 0 && serverWaitedMs + serverWaitMs > maxServerWaitMs)
        throw retryAfterTooLong(serverWaitMs, this.clock.now());
      const permit = serverWaitMs > 0 ? { waitMs: serverWaitMs } : await this.#take();
      if ("id" in permit) {
        if (this.#serverLimit) this.#serverLimit.remaining -= 1;
        return permit.id;
      }
      if (!isReported && permit.waitMs > 0) {
        this.events.onWait?.({ ms: permit.waitMs, reason: serverWaitMs > 0 ? "server" : "rate-limit" });
        isReported = true;
      }
      const sleepMs = Math.min(permit.waitMs, pollMs);
      if (serverWaitMs > 0) serverWaitedMs += sleepMs;
      await this.clock.sleep(sleepMs, signal);
    }
  }

  /** Restarts a request's window. Called when the response headers arrive, or when the request fails. */
  recordResponse(permit: number, server: ServerLimit | null): void {
    const now = this.clock.monotonic();
    const ownRemaining =
      (this.settings.rateLimit ?? Number.POSITIVE_INFINITY) - this.#restartWindow(permit, now);
    // The server allows fewer requests than the local count if another machine uses the same key, or if the actual
    // limit is lower than the configured one.
    if (server && server.remaining < ownRemaining)
      this.#serverLimit = { remaining: server.remaining, until: now + Math.min(server.resetMs, maxResetMs) };
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.clock.monotonic() + ms);
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  #serverWaitMs(): number {
    const now = this.clock.monotonic();
    if (this.#serverLimit && this.#serverLimit.until <= now) this.#serverLimit = null;
    const limit = this.#serverLimit;
    const until =
      limit && limit.remaining <= 0 ? Math.max(limit.until, this.#pausedUntil) : this.#pausedUntil;
    return Math.max(0, until - now);
  }

  /**
   * Returns a permit or the time to wait. If the rate-limit file cannot be used, repairs it and returns a wait of 0 ms,
   * so that the caller tries again.
   */
  async #take(): Promise<Permit | Wait> {
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

  /** If the file replaces a lost file, the entire quota counts as used. */
  #open(Sqlite: SqliteConstructor, limit: number): RateLimitFile {
    const file = new RateLimitFile(Sqlite, this.#path, {
      origin: new URL(this.settings.baseUrl).origin,
      key: createHash("sha256").update(this.settings.key).digest("hex"),
      limit,
      windowMs: this.windowMs,
    });
    if (this.#hadFile) file.exhaust(this.clock.monotonic());
    this.#hadFile = true;
    return file;
  }

  #repair(path: string, error: unknown): void {
    // The file was deleted while it was open. The next attempt recreates it.
    if (errorCode(error) === "SQLITE_READONLY_DBMOVED") return;
    if (damageKind(error) !== null) {
      for (const suffix of ["", "-journal"]) rmSync(path + suffix, { force: true });
      this.#hadFile = true;
      return;
    }
    this.#path = null;
    this.events.onNotice?.({
      message: `${this.settings.statePath} cannot be used (${errorReason(error)}): requests from other brandapi processes are not counted in this run.`,
    });
  }

  /** Ignores write errors. At worst, the request then counts for longer than necessary. */
  #restartWindow(permit: number, now: number): number {
    try {
      return this.#file?.restartWindow(permit, now) ?? 0;
    } catch (error) {
      if (!isFileError(error)) throw error;
      return 0;
    }
  }
}

function isFileError(error: unknown): boolean {
  return /^(SQLITE_|E[A-Z]+$)/.test(errorCode(error));
}

interface Quota {
  /** Each origin has a separate quota, including sandboxes on different ports. */
  origin: string;
  key: string;
  /**
   * The maximum number of requests per window with this key. All keys on this machine together may send twice this
   * number.
   */
  limit: number;
  windowMs: number;
}

/** Requests count for slightly longer than the window, to allow for network jitter. */
const marginMs = 50;
/** The assumed maximum time for a request to reach the server. */
const maxTransitMs = 10_000;
const lockTimeoutMs = 5_000;

/**
 * A row represents `weight` requests and expires at `until`, in the monotonic time that all processes share. A reboot
 * resets this clock, so `until` is never later than `ms` from now.
 */
const createRequestsTable = `CREATE TABLE IF NOT EXISTS sent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL)`;
const limitExpiry = "UPDATE sent_requests SET until = :now + ms WHERE until > :now + ms RETURNING id";
const deleteExpired = "DELETE FROM sent_requests WHERE until <= :now RETURNING id";
const insertRequest = `INSERT INTO sent_requests (origin, key, until, ms, weight)
  VALUES (:origin, :key, :now + :ms, :ms, :weight) RETURNING id`;
const renewRequest = "UPDATE sent_requests SET until = :now + :ms, ms = :ms WHERE id = :id RETURNING id";
const countUsed = "SELECT total(weight) AS used FROM sent_requests WHERE origin = :origin AND key = :key";
/** Selects the wait until enough requests have expired to allow another request with this key. */
const selectWait = `SELECT ms FROM (SELECT until - :now AS ms,
    sum(iif(key = :key, weight, 0)) OVER newest AS ofKey, sum(weight) OVER newest AS ofMachine
    FROM sent_requests WHERE origin = :origin WINDOW newest AS (ORDER BY until DESC, id))
  WHERE ofKey >= :limit OR ofMachine >= 2 * :limit ORDER BY ms DESC LIMIT 1`;

/** A sliding window of sent requests, in an SQLite file that all processes share. */
class RateLimitFile {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(
    Sqlite: SqliteConstructor,
    path: string | null,
    private readonly quota: Quota,
  ) {
    if (path !== null) {
      createFolder(dirname(path), 0o700);
      // By default, better-sqlite3 creates files that every user can read.
      closeSync(openSync(path, "a", 0o600));
    }
    this.#db = new Sqlite(path ?? ":memory:", { timeout: lockTimeoutMs });
    // WAL mode would create additional files, which could be deleted separately. Syncing to disk is unnecessary,
    // because the recorded requests have expired by the time a machine restarts after a power failure.
    this.#db.pragma("journal_mode = TRUNCATE");
    this.#db.pragma("synchronous = OFF");
    this.#db.exec(createRequestsTable);
  }

  /** @param clock called after the lock is acquired, because waiting for the lock can take seconds */
  take(clock: () => number): Permit | Wait {
    const transaction = this.#db.transaction(() => {
      const now = clock();
      this.#get(limitExpiry, { now });
      this.#get(deleteExpired, { now });
      const wait = this.#get<{ ms: number }>(selectWait, { now });
      return wait ? { waitMs: wait.ms } : { id: this.#insert(now, this.quota.windowMs + maxTransitMs, 1) };
    });
    return transaction.immediate();
  }

  restartWindow(id: number, now: number): number {
    const transaction = this.#db.transaction(() => {
      this.#get(renewRequest, { now, id, ms: this.quota.windowMs + marginMs });
      return this.#get<{ used: number }>(countUsed, {})?.used ?? 0;
    });
    return transaction.immediate();
  }

  exhaust(now: number): void {
    this.#insert(now, this.quota.windowMs + marginMs, 2 * this.quota.limit);
  }

  close(): void {
    this.#db.close();
  }

  #insert(now: number, ms: number, weight: number): number {
    return this.#get<{ id: number }>(insertRequest, { now, ms, weight })?.id ?? 0;
  }

  #get<Row>(sql: string, values: object): Row | undefined {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.get({ ...this.quota, ...values }) as Row | undefined;
  }
}
