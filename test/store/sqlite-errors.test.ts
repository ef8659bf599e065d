import { expect, test } from "vitest";
import { MirrorBusy, MirrorUnusable } from "../../src/errors.js";
import { explainOpenError, explainSqlite, sqliteProblemKind } from "../../src/store/sqlite-errors.js";

const failure = (code: string, message = "reason") => Object.assign(new Error(message), { code });

test.each([
  ["SQLITE_BUSY", "busy", "close the program"],
  ["SQLITE_BUSY_SNAPSHOT", "busy", "close the program"],
  ["SQLITE_LOCKED", "busy", "close the program"],
  ["SQLITE_PROTOCOL", "busy", "close the program"],
  ["SQLITE_NOTADB", "no-database", "backup --restore"],
  ["SQLITE_CORRUPT_VTAB", "damaged", "backup --restore"],
  ["SQLITE_READONLY_DBMOVED", "read-only", "permissions"],
  ["SQLITE_CANTOPEN", "no-access", "permissions"],
  ["SQLITE_PERM", "no-access", "permissions"],
  ["SQLITE_AUTH", "no-access", "permissions"],
  ["SQLITE_FULL", "full", "free some space"],
  ["SQLITE_IOERR_WRITE", "disk", "check the disk"],
  ["SQLITE_TOOBIG", "large", "fewer rows"],
  ["SQLITE_NOMEM", "large", "fewer rows"],
])("%s is explained as a problem of the kind %s", (code, kind, hint) => {
  expect(sqliteProblemKind(failure(code))).toBe(kind);
  const explained = explainSqlite(failure(code), "/data/acme.sqlite");
  expect(explained).toBeInstanceOf(kind === "busy" ? MirrorBusy : MirrorUnusable);
  expect(explained?.message).toContain("/data/acme.sqlite");
  expect(explained?.hint).toContain(hint);
  expect(explainSqlite(failure(code))?.message).not.toContain("undefined");
});

test.each(["malformed JSON", "unsupported file format"])(
  "the message `%s` means that the mirror is invalid",
  (message) => {
    expect(sqliteProblemKind(failure("SQLITE_ERROR", message))).toBe("invalid");
  },
);

test("other errors are not explained", () => {
  for (const error of [failure("SQLITE_ERROR", "no such table: x"), failure("ENOENT"), "reason"]) {
    expect([sqliteProblemKind(error), explainSqlite(error)]).toEqual([undefined, undefined]);
    expect(explainOpenError(error, "/data/acme.sqlite")).toBe(error);
  }
});

test.each([
  ["SQLITE_NOTADB", "is not an SQLite database"],
  ["SQLITE_CORRUPT", "is damaged"],
  ["SQLITE_READONLY", "cannot be written"],
  ["SQLITE_CANTOPEN", "cannot be opened"],
])("if opening a mirror fails with %s, the message says that it %s", (code, problem) => {
  const explained = explainOpenError(failure(code), "/data/acme.sqlite");
  expect(explained).toBeInstanceOf(MirrorUnusable);
  expect((explained as Error).message).toBe(`The mirror ${problem}: /data/acme.sqlite.`);
});
