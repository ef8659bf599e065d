import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, Statement, Transaction } from "better-sqlite3";
import { createFolder } from "../util/files.js";
import type { SqliteConstructor } from "../util/sqlite.js";

/** The key and the API whose requests are counted, and the limit. */
export interface RateLimitQuota {
  /** The origin of the API. A sandbox on a different port has its own quota. */
  origin: string;
  /** The SHA-256 hash of the key. */
  key: string;
  /** Maximum number of requests per window with this key. The limit of the machine is twice that. */
  limit: number;
  windowMs: number;
}

/** The ID of a permit, or the milliseconds until the next attempt to get one. */
export type Permit = { id: number } | { waitMs: number };

/** Allowance for network jitter: a request counts for slightly longer than the window. */
const marginMs = 50;
/** Maximum time that a request may need to reach the server. */
const maxTransitMs = 10_000;
/** Timeout for the lock of the database. Other processes keep it for less than a millisecond. */
const lockTimeoutMs = 5_000;

/**
 * A row counts as `weight` requests until `until`, on the monotonic clock that all processes share. A reboot resets the
 * clock, so `until` is limited to `ms` from now: a request may count for too long, but never too briefly.
 */
const createTable = `CREATE TABLE IF NOT EXISTS sent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL)`;
const limitExpiry = "UPDATE sent_requests SET until = :now + ms WHERE until > :now + ms RETURNING id";
const deleteExpired = "DELETE FROM sent_requests WHERE until <= :now RETURNING id";
const insertRequest = `INSERT INTO sent_requests (origin, key, until, ms, weight)
  VALUES (:origin, :key, :now + :ms, :ms, :weight) RETURNING id`;
const renewRequest = "UPDATE sent_requests SET until = :now + :ms, ms = :ms WHERE id = :id RETURNING id";
const countUsed = "SELECT total(weight) AS used FROM sent_requests WHERE origin = :origin AND key = :key";
/** Selects the time until enough requests have expired to send another one with this key from this machine. */
const selectWait = `SELECT ms FROM (SELECT until - :now AS ms,
    sum(iif(key = :key, weight, 0)) OVER newest AS ofKey, sum(weight) OVER newest AS ofMachine
    FROM sent_requests WHERE origin = :origin WINDOW newest AS (ORDER BY until DESC, id))
  WHERE ofKey >= :limit OR ofMachine >= 2 * :limit ORDER BY ms DESC LIMIT 1`;

/** A sliding window of sent requests in a SQLite file that all processes share. Each method is one transaction. */
export class RateLimitFile {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #take: Transaction<(clock: () => number) => Permit>;

  /**
   * Opens the file, and creates it and its folder if necessary.
   * @param path null: count in memory
   * @throws errors of the file system and of SQLite
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
    // The extra files of WAL mode could be deleted separately. After a power failure, no recorded request counts any
    // more, so syncing is unnecessary.
    this.#db.pragma("journal_mode = TRUNCATE");
    this.#db.pragma("synchronous = OFF");
    this.#db.exec(createTable);
    // The clock is read after the lock is acquired, which may take time.
    this.#take = this.#db.transaction((clock) => this.#takePermit(clock()));
  }

  /** Takes a permit if one is free. @param clock returns monotonic milliseconds */
  take(clock: () => number): Permit {
    return this.#take.immediate(clock);
  }

  /**
   * Restarts the window of a request, because the server has counted it by this time.
   * @returns the number of requests in the window with this key
   */
  restartWindow(id: number, now: number): number {
    const transaction = this.#db.transaction(() => {
      this.#get(renewRequest, { now, id, ms: this.quota.windowMs + marginMs });
      return this.#get<{ used: number }>(countUsed, {})?.used ?? 0;
    });
    return transaction.immediate();
  }

  /** Marks the complete quota as used for one window, because the count in the previous file was lost. */
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
