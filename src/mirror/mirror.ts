import type { Database } from "better-sqlite3";

/** An open mirror file. */
export interface Mirror {
  readonly db: Database;
  readonly path: string;
}
