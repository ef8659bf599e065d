import { createRequire } from "node:module";
import { loadSqlite, sqlitePackage } from "../../src/util/sqlite.js";

/** better-sqlite3 as the program loads it, for tests that read or change a mirror directly. */
export const Sqlite = await loadSqlite();

/** The path of the same package, for a script that runs in another process or thread. */
export const sqlitePath = createRequire(import.meta.url).resolve(sqlitePackage);
