import { versions } from "node:process";
import type Sqlite from "better-sqlite3";
import { ConfigurationError } from "../errors.js";
import { errorCode } from "./system-errors.js";

export type SqliteConstructor = typeof Sqlite;

const hasNode22 = Number(versions.node.split(".")[0]) >= 22;

/**
 * better-sqlite3 13 includes its binaries but requires Node 22. Version 12 supports Node 20, but npm has to download or
 * compile its binary during installation.
 */
export const sqlitePackage = hasNode22 ? "better-sqlite3" : "better-sqlite3-12";

let loaded: Promise<SqliteConstructor> | undefined;

/** @throws ConfigurationError if better-sqlite3 is missing or was compiled for a different version of Node */
export async function loadSqlite(): Promise<SqliteConstructor> {
  loaded ??= load(sqlitePackage);
  return await loaded;
}

async function load(name: string): Promise<SqliteConstructor> {
  try {
    const { default: Constructor } = (await import(name)) as { default: SqliteConstructor };
    // Open a database now, because better-sqlite3 12 does not load its binary until then.
    new Constructor(":memory:").close();
    return Constructor;
  } catch (cause) {
    // npm reports no error if it can neither download nor compile an optional package, so the package can be missing.
    const hint = hasNode22
      ? "reinstall brandapi with this version of Node: run `npm ci` in a checkout, or `npm install -g PACKAGE`"
      : "use Node 22 or later, which needs no compiler. " +
        "To see why npm could not download or compile SQLite, reinstall brandapi with `npm install -g --foreground-scripts`; compiling needs Python, a C++ compiler and Node's headers";
    throw new ConfigurationError(
      `SQLite is not installed for Node ${versions.node}: ${name} cannot be loaded.`,
      { hint, cause },
    );
  }
}

/** True if SQLite reports damage to the file or to its header. */
export function isDamageError(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error));
}
