import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, Statement, Transaction } from "better-sqlite3";
import { createFolder } from "../util/files.js";
import type { SqliteConstructor } from "../util/sqlite.js";

/** Whose requests are counted, and how many a window may hold. */
export interface QuotaKey {
  /** The API's origin: a sandbox on another port is counted apart. */
  origin: string;
  /** The SHA-256 of the key. */
  key: string;
  /** Requests per window for the key, twice as many for the machine. */
  limit: number;
  windowMs: number;
}

/** The network's jitter: a request counts a little longer than the window, never shorter. */
const marginMs = 50;
/** A request without a response may still reach the server this long after it was sent. */
const unansweredMs = 10_000;
/** Milliseconds that transactions of other processes, each of less than one, may hold this one up. */
const busyMs = 5_000;

/**
 * A row counts as `weight` requests until `until`, by the monotonic clock that all processes share. A row of before a
 * reboot has an `until` of another clock: it is cut to `ms` from now, because a request may count too long, never too
 * short. Earlier versions also stored the server's waits, in the table `counted`.
 */
const schema = `CREATE TABLE IF NOT EXISTS sent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL)`;
const shorten = "UPDATE sent_requests SET until = :now + ms WHERE until > :now + ms RETURNING id";
const expire = "DELETE FROM sent_requests WHERE until <= :now RETURNING id";
const insert = `INSERT INTO sent_requests (origin, key, until, ms, weight)
  VALUES (:origin, :key, :now + :ms, :ms, :weight) RETURNING id`;
const renew = "UPDATE sent_requests SET until = :now + :ms, ms = :ms WHERE id = :id RETURNING id";
const sum = "SELECT total(weight) AS used FROM sent_requests WHERE origin = :origin AND key = :key";
/** Finds the row that has to expire before there is room for the key and for the machine. */
const blocking = `SELECT ms FROM (SELECT until - :now AS ms,
    sum(iif(key = :key, weight, 0)) OVER newest AS ofKey, sum(weight) OVER newest AS ofMachine
    FROM sent_requests WHERE origin = :origin WINDOW newest AS (ORDER BY until DESC, id))
  WHERE ofKey >= :limit OR ofMachine >= 2 * :limit ORDER BY ms DESC LIMIT 1`;

/** The id of a permit, or the milliseconds until one is free. */
export type Permit = { id: number } | { waitMs: number };

/** The sliding window, as rows of one SQLite file that many processes share. Each call is one transaction. */
export class RequestLog {
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement>();
  readonly #taking: Transaction<(clock: () => number) => Permit>;

  /** Opens the file, which is made with its folder if it is missing; null counts in memory. @throws the system's error */
  constructor(
    Sqlite: SqliteConstructor,
    file: string | null,
    private readonly account: QuotaKey,
  ) {
    if (file !== null) {
      createFolder(dirname(file), 0o700);
      // Made here first, because better-sqlite3 would make it readable for everyone.
      closeSync(openSync(file, "a", 0o600));
    }
    this.#db = new Sqlite(file ?? ":memory:", { timeout: busyMs });
    // No WAL: its two more files can be deleted, too. A power cut costs milliseconds, and the window is older by then.
    this.#db.pragma("journal_mode = TRUNCATE");
    this.#db.pragma("synchronous = OFF");
    this.#db.exec(schema);
    // The clock is read after the wait for other processes.
    this.#taking = this.#db.transaction((clock) => this.#takeAt(clock()));
  }

  take(clock: () => number): Permit {
    return this.#taking.immediate(clock);
  }

  #takeAt(now: number): Permit {
    this.#row(shorten, { now });
    this.#row(expire, { now });
    const wait = this.#row<{ ms: number }>(blocking, { now });
    if (wait) return { waitMs: wait.ms };
    return { id: this.#insert(now, this.account.windowMs + unansweredMs, 1) };
  }

  /**
   * Counts a request from now on, because its response's headers came or it failed: by now the server has counted it.
   * @returns the requests of this key that count now
   */
  answered(id: number, now: number): number {
    const work = this.#db.transaction(() => {
      this.#row(renew, { now, id, ms: this.account.windowMs + marginMs });
      return this.#row<{ used: number }>(sum, {})?.used ?? 0;
    });
    return work.immediate();
  }

  /** Takes the whole window as used, because an earlier file was lost, and with it the count. */
  spend(now: number): void {
    this.#insert(now, this.account.windowMs + marginMs, 2 * this.account.limit);
  }

  close(): void {
    this.#db.close();
  }

  #insert(now: number, ms: number, weight: number): number {
    return this.#row<{ id: number }>(insert, { now, ms, weight })?.id ?? 0;
  }

  #row<Row>(sql: string, values: object): Row | undefined {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement.get({ ...this.account, ...values }) as Row | undefined;
  }
}
