import type { Database, Statement } from "better-sqlite3";
import type { ServerLimit } from "./server-limit.js";

/** Whose requests are counted: those to an API's origin, with a key of which the SHA-256 is known. */
export interface Account {
  origin: string;
  key: string;
}

/** Milliseconds until a permit comes free, and 1 if the server asked for that wait. */
export interface Wait {
  ms: number;
  told: 0 | 1;
}

/** The network's jitter: a request counts a little longer than the window, never shorter. */
const marginMs = 50;
/** A request without an answer may still reach the server this long after it was sent. */
const unansweredMs = 10_000;
/** The longest wait that a header other than `Retry-After` can ask for. */
const longestResetMs = 60_000;
/** More requests than any limit: nothing is counted but what the server asks for. */
export const endless = 1e9;

/**
 * A row counts as `weight` requests until `until`, by the monotonic clock that all processes share, and for `ms` at most:
 * a row from before a reboot counts as new, so that a clock that jumps makes everyone slower, never faster. A `told` row
 * stands for what the server asked for: it counts for the key, not for the machine.
 */
const schema = `CREATE TABLE IF NOT EXISTS counted (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL,
  key TEXT NOT NULL, until REAL NOT NULL, ms REAL NOT NULL, weight INTEGER NOT NULL, told INTEGER NOT NULL)`;
const shorten = "UPDATE counted SET until = :now + ms WHERE until > :now + ms";
const expire = "DELETE FROM counted WHERE until <= :now";
const insert = `INSERT INTO counted (origin, key, until, ms, weight, told)
  VALUES (:origin, :key, :now + :ms, :ms, :weight, :told) RETURNING id`;
const renew = "UPDATE counted SET until = :now + :ms, ms = :ms WHERE id = :id";
const sum = "SELECT total(weight) AS used FROM counted WHERE origin = :origin AND key = :key";
/** Finds the row that has to expire before fewer than `most` requests count; none if fewer count now. */
const blocking = (where: string) => `SELECT until - :now AS ms, told FROM (SELECT until, told,
  sum(weight) OVER (ORDER BY until DESC, id) AS used FROM counted WHERE origin = :origin AND ${where})
  WHERE used >= :most ORDER BY used LIMIT 1`;
const ofKeySql = blocking("key = :key");
const ofMachineSql = blocking("told = 0");

/** The sliding window, as rows of one SQLite file that many processes share. Each call is one transaction. */
export class Ledger {
  readonly #statements = new Map<string, Statement>();

  /** @param limit requests per window for the key, twice as many for the machine; `endless` for none */
  constructor(
    private readonly db: Database,
    private readonly account: Account,
    private readonly limit: number,
    private readonly windowMs: number,
  ) {
    db.exec(schema);
  }

  /** Takes a permit if more than `kept` are free. @returns its id, or the wait for one */
  take(clock: () => number, kept: number): number | Wait {
    return this.#exclusively(() => {
      // The clock is read after the wait for other processes.
      const now = clock();
      this.#run(shorten, { now });
      this.#run(expire, { now });
      const values = { ...this.account, now };
      const ofKey = this.#row<Wait>(ofKeySql, { ...values, most: this.limit - kept });
      const ofMachine = this.#row<Wait>(ofMachineSql, { ...values, most: 2 * this.limit - kept });
      if (ofKey && ofMachine) return ofKey.ms > ofMachine.ms ? ofKey : ofMachine;
      const wait = ofKey ?? ofMachine;
      if (wait || this.limit === endless) return wait ?? 0;
      return this.#insert(now, this.windowMs + unansweredMs, 1, 0);
    });
  }

  /** The headers of an answer came, or its request failed: by now the server has counted it. */
  answered(id: number, now: number, server: ServerLimit | null): void {
    this.#exclusively(() => {
      this.#run(renew, { now, id, ms: this.windowMs + marginMs });
      if (server?.resetMs === undefined || server.resetMs === null) return;
      const used = this.#row<{ used: number }>(sum, this.account)?.used ?? 0;
      // Somebody else uses the key, or its limit is lower: the difference counts as sent until the server's reset.
      const weight = this.limit - used - server.remaining;
      if (weight > 0) this.#insert(now, Math.min(server.resetMs, longestResetMs), weight, 1);
    });
  }

  /** Sends nothing with this key for `ms` milliseconds. */
  hold(now: number, ms: number): void {
    this.#insert(now, ms, endless, 1);
  }

  /** Takes the whole window as used: an earlier file was lost, and with it the count. */
  spend(now: number): void {
    this.#insert(now, this.windowMs + marginMs, 2 * this.limit, 0);
  }

  close(): void {
    this.db.close();
  }

  #insert(now: number, ms: number, weight: number, told: 0 | 1): number {
    return this.#row<{ id: number }>(insert, { ...this.account, now, ms, weight, told })?.id ?? 0;
  }

  #exclusively<T>(work: () => T): T {
    return this.db.transaction(work).immediate();
  }

  #run(sql: string, values: object): void {
    this.#prepare(sql).run(values);
  }

  #row<Row>(sql: string, values: object): Row | undefined {
    return this.#prepare(sql).get(values) as Row | undefined;
  }

  #prepare(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
