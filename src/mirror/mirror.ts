import type { Database, Statement } from "better-sqlite3";

/** An open mirror file. */
export interface Mirror {
  readonly db: Database;
  readonly path: string;
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
