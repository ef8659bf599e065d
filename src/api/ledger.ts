import type { Database, Statement } from "better-sqlite3";
import { holdLeft, restamp, schema, sendLeft } from "./ledger-sql.js";
import type { ServerLimit } from "./limits.js";

/** An instant on both clocks, in milliseconds. */
export interface Stamp {
  mono: number;
  wall: number;
}

/** Whose budget: an API's origin, and the SHA-256 of a key. */
export interface Account {
  origin: string;
  key: string;
}

export interface Budget {
  /** Requests per window for the account's key; its origin (the machine's address) has twice as many. */
  limit: number;
  windowMs: number;
}

/** A permit, or how long to wait before asking again. */
export type Verdict = { id: number } | Wait;

export interface Wait {
  /** Milliseconds until asking again makes sense. */
  waitMs: number;
  /** Milliseconds until there will be a permit, as far as is known. */
  expectedMs: number;
  reason: "budget" | "server";
}

/** How often to look again where an answer under way can shorten the wait. */
const lookAgainMs = 250;
/** The longest that a header other than `Retry-After` can hold a key. */
const holdCapMs = 60_000;

/** The sliding window as rows: who sent when, and what the servers asked for. All calls are one transaction each. */
export class Ledger {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(
    db: Database,
    private readonly account: Account,
    private readonly budget: Budget,
  ) {
    this.#db = db;
    db.exec(schema);
  }

  /** Takes a permit if there is one, and `kept` more are left. */
  take(now: Stamp, kept: number): Verdict {
    return this.#exclusively(() => {
      this.#run(restamp("sends", "sent"), now);
      this.#run(restamp("sends", "done"), now);
      this.#run(restamp("holds", "at"), now);
      this.#run(`DELETE FROM sends WHERE ${sendLeft} <= 0`, now);
      this.#run(`DELETE FROM holds WHERE ${holdLeft} <= 0`, now);
      const waits = [this.#held(now), ...this.#full(now, kept)].filter((wait) => wait !== null);
      const longest = waits.sort((a, b) => b.expectedMs - a.expectedMs)[0];
      if (longest) return longest;
      return { id: this.record(now, null) };
    });
  }

  /** Writes down a request that was sent, outside any budget: it happened. */
  record(sent: Stamp, done: Stamp | null): number {
    const values = { ...this.account, ...both("sent", sent), ...both("done", done) };
    return Number(
      this.#prepare(
        `INSERT INTO sends (origin, key, sent_mono, sent_wall, done_mono, done_wall)
         VALUES (:origin, :key, :sent_mono, :sent_wall, :done_mono, :done_wall)`,
      ).run(values).lastInsertRowid,
    );
  }

  /** Whether a request is written down here, and is the one that was sent then. */
  has(id: number, sent: Stamp): boolean {
    const where = "id = :id AND sent_mono = :mono AND sent_wall = :wall";
    return this.#value(`SELECT 1 FROM sends WHERE ${where}`, sent, { id }) === 1;
  }

  /** The answer to a request is there: its permit is free a window from now. */
  answered(id: number, now: Stamp, limit: ServerLimit | null): void {
    this.#exclusively(() => {
      this.#run("UPDATE sends SET done_mono = :mono, done_wall = :wall WHERE id = :id", now, { id });
      if (!limit || limit.resetMs === null) return;
      const known = this.#value(
        `SELECT count(*) FROM sends WHERE origin = :origin AND key = :key AND ${sendLeft} > 0`,
        now,
        this.account,
      );
      // Requests under way overtake one another, so the server may have counted each of them before this one.
      // Nothing that we do not know: our own count lets each permit go as it comes free, a reset would hold them all.
      if (limit.remaining >= this.budget.limit - Number(known)) {
        this.#run(
          "DELETE FROM holds WHERE kind = 'answer' AND origin = :origin AND key = :key AND after_id <= :id",
          now,
          {
            ...this.account,
            id,
          },
        );
        return;
      }
      const ms = Math.min(limit.resetMs, holdCapMs);
      // Answers can overtake one another: what was said to the request sent last is the news.
      this.#run(
        `INSERT INTO holds VALUES (:origin, :key, 'answer', :mono, :wall, :ms, :remaining, :id)
         ON CONFLICT DO UPDATE SET at_mono = excluded.at_mono, at_wall = excluded.at_wall, ms = excluded.ms,
           remaining = excluded.remaining, after_id = excluded.after_id
         WHERE excluded.after_id >= after_id OR ${holdLeft} <= 0`,
        now,
        { ...this.account, ms, remaining: limit.remaining, id },
      );
    });
  }

  /** Sends nothing for `ms` milliseconds: for this key, or with `everyone` for all. A longer hold stays. */
  hold(now: Stamp, ms: number, everyone = false): void {
    this.#run(
      `INSERT INTO holds VALUES (:origin, :key, 'told', :mono, :wall, :ms, 0, 0)
       ON CONFLICT DO UPDATE SET at_mono = excluded.at_mono, at_wall = excluded.at_wall, ms = excluded.ms
       WHERE excluded.ms > ${holdLeft}`,
      now,
      { ...(everyone ? { origin: "*", key: "*" } : this.account), ms },
    );
  }

  /** Milliseconds until the key's full window frees its next permit beside those kept; `null` when it is not full. */
  fullForMs(now: Stamp, kept: number): number | null {
    return this.#full(now, kept)[0]?.expectedMs ?? null;
  }

  close(): void {
    this.#db.close();
  }

  /** The waits for the key's and the origin's windows, where they are full. */
  #full(now: Stamp, kept: number): Wait[] {
    const { limit } = this.budget;
    const scopes = [
      ["origin = :origin AND key = :key", limit - kept],
      ["origin = :origin AND :key = :key", 2 * limit - kept],
    ] as const;
    return scopes.flatMap(([where, most]) => {
      const used = Number(this.#value(`SELECT count(*) FROM sends WHERE ${where}`, now, this.account));
      if (used < most) return [];
      const [left, open] = this.#row(
        `SELECT ${sendLeft} AS left, done_mono IS NULL FROM sends WHERE ${where} ORDER BY left LIMIT 1 OFFSET :skip`,
        now,
        { ...this.account, skip: used - most },
      );
      const expectedMs = Math.max(1, Number(left));
      return [
        { expectedMs, waitMs: open ? Math.min(expectedMs, lookAgainMs) : expectedMs, reason: "budget" },
      ];
    });
  }

  /** The wait that a server asked for: a hold, or nothing left of what it last said was remaining. */
  #held(now: Stamp): Wait | null {
    const [told, isOurs] = this.#row(
      `SELECT ${holdLeft} AS left, origin = '*' FROM holds
       WHERE kind = 'told' AND ((origin = :origin AND key = :key) OR origin = '*') ORDER BY left DESC LIMIT 1`,
      now,
      this.account,
    );
    // A hold for everyone is no server's word: a new file takes the window for spent.
    const reason = isOurs ? "budget" : "server";
    if (Number(told) > 0) return { waitMs: Number(told), expectedMs: Number(told), reason };
    const [left] = this.#row(
      `SELECT ${holdLeft} FROM holds AS h WHERE kind = 'answer' AND origin = :origin AND key = :key
       AND remaining <= (SELECT count(*) FROM sends AS s
                         WHERE s.origin = h.origin AND s.key = h.key AND s.id > h.after_id)`,
      now,
      this.account,
    );
    if (!(Number(left) > 0)) return null;
    const expectedMs = Number(left);
    return { waitMs: Math.min(expectedMs, lookAgainMs), expectedMs, reason: "server" };
  }

  #exclusively<T>(work: () => T): T {
    return this.#db.transaction(work).immediate();
  }

  #run(sql: string, now: Stamp, values: Record<string, string | number> = {}): void {
    this.#prepare(sql).run({ ...now, window: this.budget.windowMs, ...values });
  }

  #row(sql: string, now: Stamp, values: object): unknown[] {
    const row = this.#prepare(sql)
      .raw()
      .get({ ...now, window: this.budget.windowMs, ...values });
    return (row as unknown[] | undefined) ?? [];
  }

  #value(sql: string, now: Stamp, values: object): unknown {
    return this.#row(sql, now, values)[0];
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function both(name: string, stamp: Stamp | null): Record<string, number | null> {
  return { [`${name}_mono`]: stamp?.mono ?? null, [`${name}_wall`]: stamp?.wall ?? null };
}
