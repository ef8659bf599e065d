import { type BrandapiError, MirrorBusy, MirrorUnusable } from "../errors.js";
import { errorCode, errorReason, thenRetry } from "../util/system-errors.js";

export const damagedHint =
  "restore a backup with `brandapi backup --restore FILE`, or move the file out of the way and run `brandapi sync --full`";
const permissionsHint =
  "check the permissions of the file and its folder, or choose a different file with --db";

/** A problem with an SQLite file that the user can fix. */
interface SqliteProblem {
  kind:
    | "busy"
    | "no-database"
    | "damaged"
    | "invalid"
    | "full"
    | "disk"
    | "read-only"
    | "no-access"
    | "large";
  /** Matches SQLite's result code, or its result code together with its message. */
  pattern: RegExp;
  hint: string;
  /** The message and hint that replace SQLite's message if the problem prevents a mirror from being opened. */
  opening?: { problem: string; hint: string };
}

const sqliteProblems: readonly SqliteProblem[] = [
  {
    kind: "busy",
    pattern: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    hint: "close the program that has the file open, then run the same command again",
  },
  {
    kind: "no-database",
    pattern: /^SQLITE_NOTADB/,
    hint: damagedHint,
    opening: {
      problem: "is not an SQLite database",
      hint: "choose another file with `--db`, or, if this file was a mirror, move it out of the way and run `brandapi sync`",
    },
  },
  {
    kind: "damaged",
    pattern: /^SQLITE_CORRUPT/,
    hint: damagedHint,
    opening: { problem: "is damaged", hint: damagedHint },
  },
  {
    kind: "read-only",
    pattern: /^SQLITE_READONLY/,
    hint: permissionsHint,
    opening: { problem: "cannot be written", hint: "check its permissions" },
  },
  {
    kind: "no-access",
    pattern: /^SQLITE_CANTOPEN/,
    hint: permissionsHint,
    opening: { problem: "cannot be opened", hint: "check the path and its permissions" },
  },
  { kind: "no-access", pattern: /^SQLITE_(PERM|AUTH)/, hint: permissionsHint },
  { kind: "full", pattern: /^SQLITE_FULL/, hint: `free some space, ${thenRetry}` },
  { kind: "disk", pattern: /^SQLITE_IOERR/, hint: `check the disk and its free space, ${thenRetry}` },
  { kind: "large", pattern: /^SQLITE_(TOOBIG|NOMEM)/, hint: "select fewer rows or columns" },
  {
    kind: "invalid",
    pattern: /^SQLITE_ERROR: (malformed JSON|unsupported file format)/,
    hint: damagedHint,
  },
];

function findSqliteProblem(error: unknown): SqliteProblem | null {
  const text = `${errorCode(error)}: ${errorReason(error)}`;
  return sqliteProblems.find(({ pattern }) => pattern.test(text)) ?? null;
}

/** Returns the kind of an SQLite problem that the user can fix, or null for any other error. */
export function sqliteProblemKind(error: unknown): SqliteProblem["kind"] | null {
  return findSqliteProblem(error)?.kind ?? null;
}

/**
 * Explains an SQLite problem that occurred while a mirror was being used and that the user can fix. Returns null for
 * any other error.
 * @param path the mirror's path, if it is known
 */
export function explainSqliteError(cause: unknown, path?: string): BrandapiError | null {
  const found = findSqliteProblem(cause);
  if (found === null) return null;
  const { kind, hint } = found;
  if (kind === "busy") {
    const place = path === undefined ? "" : `: ${path}`;
    return new MirrorBusy(`The mirror is locked by another program${place}.`, { hint, cause });
  }
  const subject = path === undefined ? "the mirror" : `the mirror ${path}`;
  return new MirrorUnusable(`Cannot use ${subject}: ${errorReason(cause)}`, { hint, cause });
}

/** Explains an SQLite problem that prevents a mirror from being opened. Returns null for any other error. */
export function explainOpenError(cause: unknown, path: string): MirrorUnusable | null {
  const opening = findSqliteProblem(cause)?.opening;
  if (opening === undefined) return null;
  return new MirrorUnusable(`The mirror ${opening.problem}: ${path}.`, { hint: opening.hint, cause });
}
