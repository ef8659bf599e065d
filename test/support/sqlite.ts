import { createRequire } from "node:module";
import { loadSqlite, sqlitePackage } from "../../src/util/sqlite.js";

export const Sqlite = await loadSqlite();

/** The path of the SQLite package, for scripts that run in a different process or thread. */
export const sqlitePath = createRequire(import.meta.url).resolve(sqlitePackage);
