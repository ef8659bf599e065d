import { expect, test } from "vitest";
import { MirrorBusy, MirrorUnusable } from "../../src/errors.js";
import { explainOpenError, explainSqliteError, sqliteProblemKind } from "../../src/store/sqlite-errors.js";

const failure = (code: string, message = "reason") => Object.assign(new Error(message), { code });

test.each([
  ["SQLITE_BUSY", "close the program", "busy"],
  ["SQLITE_BUSY_SNAPSHOT", "close the program", "busy"],
  ["SQLITE_LOCKED", "close the program", "busy"],
  ["SQLITE_PROTOCOL", "close the program", "busy"],
  ["SQLITE_NOTADB", "backup --restore", "no-database"],
  ["SQLITE_CORRUPT_VTAB", "backup --restore", "damaged"],
  ["SQLITE_READONLY_DBMOVED", "permissions", "read-only"],
  ["SQLITE_CANTOPEN", "permissions", "no-access"],
  ["SQLITE_PERM", "permissions", "no-access"],
  ["SQLITE_AUTH", "permissions", "no-access"],
  ["SQLITE_FULL", "free some space", "full"],
  ["SQLITE_IOERR_WRITE", "check the disk", "disk"],
  ["SQLITE_TOOBIG", "fewer rows", "large"],
  ["SQLITE_NOMEM", "fewer rows", "large"],
])("the error for %s names the mirror, and its hint contains %j", (code, hint, kind) => {
  expect(sqliteProblemKind(failure(code))).toBe(kind);
  const explained = explainSqliteError(failure(code), "/data/acme.sqlite");
  expect(explained).toBeInstanceOf(kind === "busy" ? MirrorBusy : MirrorUnusable);
  expect(explained?.message).toContain("/data/acme.sqlite");
  expect(explained?.hint).toContain(hint);
  expect(explainSqliteError(failure(code))?.message).not.toContain("undefined");
});

test.each(["malformed JSON", "unsupported file format"])(
  "the SQLite error `%s` is reported as an invalid mirror file",
  (message) => {
    expect(sqliteProblemKind(failure("SQLITE_ERROR", message))).toBe("invalid");
  },
);

test("explainSqliteError returns null for an error that does not concern the mirror file", () => {
  for (const error of [failure("SQLITE_ERROR", "no such table: x"), failure("ENOENT"), "reason"]) {
    expect(sqliteProblemKind(error)).toBeNull();
    expect(explainSqliteError(error)).toBeNull();
    expect(explainOpenError(error, "/data/acme.sqlite")).toBeNull();
  }
});

test.each([
  ["SQLITE_NOTADB", "is not an SQLite database"],
  ["SQLITE_CORRUPT", "is damaged"],
  ["SQLITE_READONLY", "cannot be written"],
  ["SQLITE_CANTOPEN", "cannot be opened"],
])("if opening a mirror fails with %s, the message says that the mirror %s", (code, problem) => {
  const explained = explainOpenError(failure(code), "/data/acme.sqlite");
  expect(explained).toBeInstanceOf(MirrorUnusable);
  expect((explained as Error).message).toBe(`The mirror ${problem}: /data/acme.sqlite.`);
});
