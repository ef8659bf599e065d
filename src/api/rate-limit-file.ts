import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, Statement, Transaction } from "better-sqlite3";
import { createFolder } from "../util/files.js";
import type { SqliteConstructor } from "../util/sqlite.js";

/** The key whose requests are counted, and its limit. */
export interface RateLimitQuota {
  /** The API's origin: a sandbox on another port has its own quota. */
  origin: string;
  /** SHA-256 of the key. */
  key: string;
  /** Requests per window for the key; the limit for the machine is twice that. */
  limit: number;
  windowMs: number;
}

/** The ID of a permit, or the milliseconds until one may be free. */
export type Permit = { id: number } | { waitMs: number };

/** Network jitter: a request counts slightly longer than the window, never shorter. */
const marginMs = 50;
/** A request without a response may reach the server up to this long after it was sent. */
const maxTransitMs = 10_000;
/** Timeout for the database lock; other processes hold it for less than a millisecond. */
const lockTimeoutMs = 5_000;

/**
 * A row counts as `weight` requests until `until`, on the monotonic clock, which all processes share. A reboot resets
 * that clock, so `until` is capped at `ms` from now: a request may count for too long, but never too briefly.
 */
const createTable = `CREATE TABLE IF NOT EXISTS sent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL)`;
const limitExpiry = "UPDATE sent_requests SET until = :now + ms WHERE until > :now + ms RETURNING id";
const deleteExpired = "DELETE FROM sent_requests WHERE until <= :now RETURNING id";
const insertRequest = `INSERT INTO sent_requests (origin, key, until, ms, weight)
  VALUES (:origin, :key, :now + :ms, :ms, :weight) RETURNING id`;
const renewRequest = "UPDATE sent_requests SET until = :now + :ms, ms = :ms WHERE id = :id RETURNING id";
const countUsed = "SELECT total(weight) AS used FROM sent_requests WHERE origin = :origin AND key = :key";
/** Selects the time until enough requests have expired for another one with this key and from this machine. */
const selectWait = `SELECT ms FROM (SELECT until - :now AS ms,
    sum(iif(key = :key, weight, 0)) OVER newest AS ofKey, sum(weight) OVER newest AS ofMachine
    FROM sent_requests WHERE origin = :origin WINDOW newest AS (ORDER BY until DESC, id))
  WHERE ofKey >= :limit OR ofMachine >= 2 * :limit ORDER BY ms DESC LIMIT 1`;

/** A sliding window of sent requests, in an SQLite file that all processes share. Each method is one transaction. */
export class RateLimitFile {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #take: Transaction<(clock: () => number) => Permit>;

  /**
   * Opens the file; creates it and its folder if they are missing.
   * @param path null to count in memory
   * @throws the error of the system or of SQLite
   */
  constructor(
    Sqlite: SqliteConstructor,
    path: string | null,
    private readonly quota: RateLimitQuota,
  ) {
    if (path !== null) {
      createFolder(dirname(path), 0o700);
      // better-sqlite3 would create a file that everyone can read.
      closeSync(openSync(path, "a", 0o600));
    }
    this.#db = new Sqlite(path ?? ":memory:", { timeout: lockTimeoutMs });
    // Not WAL: its extra files could be deleted separately. Not synced: after a power failure the requests have expired.
    this.#db.pragma("journal_mode = TRUNCATE");
    this.#db.pragma("synchronous = OFF");
    this.#db.exec(createTable);
    // Read the clock after acquiring the lock, which may take time.
    this.#take = this.#db.transaction((clock) => this.#takePermit(clock()));
  }

  /** Takes a permit if one is free. @param clock returns monotonic milliseconds */
  take(clock: () => number): Permit {
    return this.#take.immediate(clock);
  }

  /**
   * Restarts a request's window once its response headers have arrived or it has failed: the server has counted it by
   * then.
   * @returns the number of this key's requests in the window
   */
  restartWindow(id: number, now: number): number {
    const transaction = this.#db.transaction(() => {
      this.#get(renewRequest, { now, id, ms: this.quota.windowMs + marginMs });
      return this.#get<{ used: number }>(countUsed, {})?.used ?? 0;
    });
    return transaction.immediate();
  }

  /** Marks the whole quota as used for one window, because the count in the previous file was lost. */
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
