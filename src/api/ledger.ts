import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, Statement, Transaction } from "better-sqlite3";
import { makeFolder } from "../lib/make-folder.js";
import type { loadSqlite } from "../lib/sqlite.js";
import type { ServerLimit } from "./server-limit.js";

/** Whose requests are counted, and how many a window may hold. */
export interface Account {
  /** The API's origin: a sandbox on another port is counted apart. */
  origin: string;
  /** The SHA-256 of the key. */
  key: string;
  /** Requests per window for the key, twice as many for the machine; `endless` for no limit. */
  limit: number;
  windowMs: number;
}

/** Milliseconds until a permit comes free, and 1 if the server asked for that wait. */
export interface Wait {
  ms: number;
  told: 0 | 1;
}

/** More requests than any limit: nothing is counted but what the server asks for. */
export const endless = 1e9;
/** The network's jitter: a request counts a little longer than the window, never shorter. */
const marginMs = 50;
/** A request without an answer may still reach the server this long after it was sent. */
const unansweredMs = 10_000;
/** The longest wait that a header other than `Retry-After` can ask for. */
const longestResetMs = 60_000;
/** Milliseconds that transactions of other processes, each of less than one, may hold this one up. */
const busyMs = 5_000;

/**
 * A row counts as `weight` requests until `until`, by the monotonic clock that all processes share. A row of before a
 * reboot has an `until` of another clock: it is cut to `ms` from now, because a request may count too long, never too
 * short. `told` is 1 for a wait that the server asked for: the row counts for the key, not for the machine.
 */
const schema = `CREATE TABLE IF NOT EXISTS counted (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL, told INTEGER NOT NULL)`;
const shorten = "UPDATE counted SET until = :now + ms WHERE until > :now + ms RETURNING id";
const expire = "DELETE FROM counted WHERE until <= :now RETURNING id";
const insert = `INSERT INTO counted (origin, key, until, ms, weight, told)
  VALUES (:origin, :key, :now + :ms, :ms, :weight, :told) RETURNING id`;
const renew = "UPDATE counted SET until = :now + :ms, ms = :ms WHERE id = :id RETURNING id";
const sum = "SELECT total(weight) AS used FROM counted WHERE origin = :origin AND key = :key";
/** Finds the row that has to expire before there is room for the key and for the machine. */
const blocking = `SELECT ms, told FROM (SELECT until - :now AS ms, told,
    sum(iif(key = :key, weight, 0)) OVER newest AS ofKey, sum(iif(told, 0, weight)) OVER newest AS ofMachine
    FROM counted WHERE origin = :origin WINDOW newest AS (ORDER BY until DESC, id))
  WHERE ofKey >= :limit OR ofMachine >= 2 * :limit ORDER BY ms DESC LIMIT 1`;

/** The sliding window, as rows of one SQLite file that many processes share. Each call is one transaction. */
export class Ledger {
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement>();
  readonly #taking: Transaction<(clock: () => number) => number | Wait>;
  /** True from the first row on that counts something. */
  #isUsed = false;

  /** Opens the file, which is made with its folder if it is missing; null counts in memory. @throws the system's error */
  constructor(
    Sqlite: Awaited<ReturnType<typeof loadSqlite>>,
    file: string | null,
    private readonly account: Account,
  ) {
    if (file !== null) {
      makeFolder(dirname(file), 0o700);
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

  /** Takes a permit. @returns its id, or the wait for one */
  take(clock: () => number): number | Wait {
    if (this.account.limit === endless && !this.#isUsed) return 0;
    return this.#taking.immediate(clock);
  }

  #takeAt(now: number): number | Wait {
    this.#row(shorten, { now });
    this.#row(expire, { now });
    const wait = this.#row<Wait>(blocking, { now });
    if (wait || this.account.limit === endless) return wait ?? 0;
    return this.#insert(now, this.account.windowMs + unansweredMs, 1, 0);
  }

  /** The headers of an answer came, or its request failed: by now the server has counted it. */
  answered(id: number, now: number, server: ServerLimit | null): void {
    const { limit, windowMs } = this.account;
    if (limit === endless && !server) return;
    const work = this.#db.transaction(() => {
      this.#row(renew, { now, id, ms: windowMs + marginMs });
      const used = this.#row<{ used: number }>(sum, {})?.used ?? 0;
      // Somebody else uses the key, or its limit is lower: the difference counts as sent until the server's reset.
      const weight = server ? limit - used - server.remaining : 0;
      if (server && weight > 0) this.#insert(now, Math.min(server.resetMs, longestResetMs), weight, 1);
    });
    work.immediate();
  }

  /** Sends nothing with this key for `ms` milliseconds. */
  hold(now: number, ms: number): void {
    this.#insert(now, ms, endless, 1);
  }

  /** Takes the whole window as used, because an earlier file was lost, and with it the count. */
  spend(now: number): void {
    this.#insert(now, this.account.windowMs + marginMs, 2 * this.account.limit, 0);
  }

  close(): void {
    this.#db.close();
  }

  #insert(now: number, ms: number, weight: number, told: 0 | 1): number {
    this.#isUsed = true;
    return this.#row<{ id: number }>(insert, { now, ms, weight, told })?.id ?? 0;
  }

  #row<Row>(sql: string, values: object): Row | undefined {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement.get({ ...this.account, ...values }) as Row | undefined;
  }
}
