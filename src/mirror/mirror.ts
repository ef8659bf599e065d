import type { Database, Statement } from "better-sqlite3";
import type { Held } from "./held.js";
import { inTransaction } from "./transaction.js";

/** An open mirror file. */
export interface Mirror {
  readonly db: Database;
  /** Where it really is, whatever links lead to it. */
  readonly path: string;
  /** Which file it is, as `idOf` says; null in memory. */
  readonly id: string | null;
  /** What a run holds of it; null where nobody does. */
  held: Held | null;
  /** All that `work` writes is kept, or nothing. */
  transaction<T>(work: () => T): T;
}

export function mirrorOf({ db, path, id }: Pick<Mirror, "db" | "path" | "id">): Mirror {
  const mirror: Mirror = {
    db,
    path,
    id,
    held: null,
    transaction: (work) => inTransaction(mirror, work),
  };
  return mirror;
}

/** @throws MirrorUnusable where a run held it, and it is not what it was any more */
export function closeMirror({ db, held }: Mirror): void {
  if (held) held.end();
  else db.close();
}

const prepared = new WeakMap<Database, Map<string, Statement>>();

/** A statement that is asked for again and again, compiled once for each connection. */
export function statement({ db }: Mirror, sql: string): Statement {
  const known = prepared.get(db) ?? new Map<string, Statement>();
  prepared.set(db, known);
  const found = known.get(sql) ?? db.prepare(sql);
  known.set(sql, found);
  return found;
}
