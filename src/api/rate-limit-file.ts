import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, Statement, Transaction } from "better-sqlite3";
import { createFolder } from "../util/files.js";
import type { SqliteConstructor } from "../util/sqlite.js";

/** The API and the key whose requests are counted, and the limit. */
export interface RateLimitQuota {
  /** The API's origin. A sandbox on a different port has a separate quota. */
  origin: string;
  /** The key's SHA-256 hash. */
  key: string;
  /** The maximum number of requests per window with this key. The limit for the machine is twice that. */
  limit: number;
  windowMs: number;
}

/** A permit's ID, or the number of milliseconds to wait before trying to get one again. */
export type Permit = { id: number } | { waitMs: number };

/** An allowance for network jitter: a request counts for slightly longer than the window. */
const marginMs = 50;
/** The maximum time for a request to reach the server. */
const maxTransitMs = 10_000;
/** The timeout for acquiring the database lock, which other processes hold for less than a millisecond. */
const lockTimeoutMs = 5_000;

/**
 * A row counts as `weight` requests until `until`, on the monotonic clock that all processes share. A reboot resets the
 * clock, so `until` is capped at `ms` from now. A request may therefore count for too long, but never too briefly.
 */
const createTable = `CREATE TABLE IF NOT EXISTS sent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL)`;
const limitExpiry = "UPDATE sent_requests SET until = :now + ms WHERE until > :now + ms RETURNING id";
const deleteExpired = "DELETE FROM sent_requests WHERE until <= :now RETURNING id";
const insertRequest = `INSERT INTO sent_requests (origin, key, until, ms, weight)
  VALUES (:origin, :key, :now + :ms, :ms, :weight) RETURNING id`;
const renewRequest = "UPDATE sent_requests SET until = :now + :ms, ms = :ms WHERE id = :id RETURNING id";
const countUsed = "SELECT total(weight) AS used FROM sent_requests WHERE origin = :origin AND key = :key";
/** Selects the time until enough requests have expired for this machine to send another one with this key. */
const selectWait = `SELECT ms FROM (SELECT until - :now AS ms,
    sum(iif(key = :key, weight, 0)) OVER newest AS ofKey, sum(weight) OVER newest AS ofMachine
    FROM sent_requests WHERE origin = :origin WINDOW newest AS (ORDER BY until DESC, id))
  WHERE ofKey >= :limit OR ofMachine >= 2 * :limit ORDER BY ms DESC LIMIT 1`;

/**
 * A sliding window of sent requests, in an SQLite file shared by all processes. Each method runs in one transaction.
 */
export class RateLimitFile {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #take: Transaction<(clock: () => number) => Permit>;

  /**
   * Opens the file, creating it and its folder if necessary.
   * @param path null to count in memory
   * @throws file system and SQLite errors
   */
  constructor(
    Sqlite: SqliteConstructor,
    path: string | null,
    private readonly quota: RateLimitQuota,
  ) {
    if (path !== null) {
      createFolder(dirname(path), 0o700);
      // better-sqlite3 would create a file that every user can read.
      closeSync(openSync(path, "a", 0o600));
    }
    this.#db = new Sqlite(path ?? ":memory:", { timeout: lockTimeoutMs });
    // WAL mode has additional files, which could be deleted separately. After a power failure, none of the recorded
    // requests count any more, so syncing to disk is unnecessary.
    this.#db.pragma("journal_mode = TRUNCATE");
    this.#db.pragma("synchronous = OFF");
    this.#db.exec(createTable);
    // Acquiring the lock may take time, so the clock is read afterwards.
    this.#take = this.#db.transaction((clock) => this.#takePermit(clock()));
  }

  /** Takes a permit if one is available. @param clock returns the monotonic time in milliseconds */
  take(clock: () => number): Permit {
    return this.#take.immediate(clock);
  }

  /**
   * Restarts a request's window, because the server has counted the request by now.
   * @returns the number of requests with this key in the window
   */
  restartWindow(id: number, now: number): number {
    const transaction = this.#db.transaction(() => {
      this.#get(renewRequest, { now, id, ms: this.quota.windowMs + marginMs });
      return this.#get<{ used: number }>(countUsed, {})?.used ?? 0;
    });
    return transaction.immediate();
  }

  /** Marks the entire quota as used for one window, because the request count in the previous file was lost. */
  exhaust(now: number): void {
    this.#insert(now, this.quota.windowMs + marginMs, 2 * this.quota.limit);
  }

  close(): void {
    this.#db.close();
  }

  #takePermit(now: number): Permit {
    this.#get(limitExpiry, { now });
    this.#get(deleteExpired, { now });
    const wait = this.#get<{ ms: number }>(selectWait, { now });
    if (wait) return { waitMs: wait.ms };
    return { id: this.#insert(now, this.quota.windowMs + maxTransitMs, 1) };
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
