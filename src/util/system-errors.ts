import { statSync } from "node:fs";
import { dirname } from "node:path";
import { BrandapiError, ConfigurationError, MirrorBusy, MirrorUnusable } from "../errors.js";

/**
 * Converts any thrown value to a BrandapiError. Operating system and SQLite errors get a message and a hint. Any other
 * error is a bug in brandapi.
 */
export function asBrandapiError(error: unknown): BrandapiError {
  if (error instanceof BrandapiError) return error;
  return (
    explainSqlite(error) ??
    explainSystem(error) ??
    new BrandapiError(`A bug in brandapi: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "please report it, and include the output of `--verbose`",
      cause: error,
    })
  );
}

export const damagedHint =
  "restore a backup with `brandapi backup --restore FILE`, or move the file out of the way and run `brandapi sync --full`";
const thenRetry = "then run the same command again; data that was already read is kept";
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
      hint: "choose another file with `--db`, or, if this file was a mirror, move it away and run `brandapi sync`",
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

function findSqliteProblem(error: unknown): SqliteProblem | undefined {
  const text = `${errorCode(error)}: ${errorReason(error)}`;
  return sqliteProblems.find(({ pattern }) => pattern.test(text));
}

/** Returns the kind of problem that SQLite reports, or undefined for other errors. */
export function sqliteProblemKind(error: unknown): SqliteProblem["kind"] | undefined {
  return findSqliteProblem(error)?.kind;
}

/** True if SQLite reports damage to the file or to its header. */
export function isDamaged(error: unknown): boolean {
  const kind = sqliteProblemKind(error);
  return kind === "damaged" || kind === "no-database";
}

/**
 * Explains an error that SQLite threw while a mirror was being used. Returns undefined for other errors.
 * @param path the mirror's path, if it is known
 */
export function explainSqlite(cause: unknown, path?: string): BrandapiError | undefined {
  const found = findSqliteProblem(cause);
  if (found === undefined) return undefined;
  const { kind, hint } = found;
  if (kind === "busy") {
    const place = path === undefined ? "" : `: ${path}`;
    return new MirrorBusy(`The mirror is locked by another program${place}.`, { hint, cause });
  }
  const mirror = path === undefined ? "the mirror" : `the mirror ${path}`;
  return new MirrorUnusable(`Cannot use ${mirror}: ${errorReason(cause)}`, { hint, cause });
}

/** Explains an error that SQLite threw while a mirror was being opened. Returns other errors unchanged. */
export function explainOpenError(error: unknown, path: string): unknown {
  const opening = findSqliteProblem(error)?.opening;
  if (opening === undefined) return error;
  return new MirrorUnusable(`The mirror ${opening.problem}: ${path}.`, { hint: opening.hint, cause: error });
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: `free some space, ${thenRetry}`,
  EDQUOT: `free some space, ${thenRetry}`,
  EACCES: "check the permissions of the file and its folder",
  EPERM: "check the permissions of the file and its folder",
  EISDIR: "choose a file, or move the folder out of the way",
  EEXIST: "choose a different name, or move the existing file out of the way",
  ENOTDIR: "choose a different path, or move the existing file out of the way",
  EROFS: "choose a file on a writable disk",
  EADDRINUSE: "choose a different port, or omit it",
};

/** Returns the hint for an error that prevents a file from being written. */
export function writeHint(cause: unknown): string {
  const code = errorCode(cause);
  if (code === "EROFS") return "choose another folder, because this file system is read-only";
  if (code === "EACCES" || code === "EPERM")
    return "choose another folder, or check the permissions of this folder";
  if (code === "ENOSPC" || code === "EDQUOT") return "free some space, or choose another folder";
  return "check the path, or choose another folder";
}

function explainSystem(cause: unknown): BrandapiError | undefined {
  const code = errorCode(cause);
  const reason = systemReason(cause);
  if (reason === undefined) return undefined;
  if (/\buv_cwd\b/.test(String(cause)))
    return new ConfigurationError("The current folder no longer exists.", {
      hint: "change to an existing folder, for example with `cd ~`, and run the command again",
      cause,
    });
  const isPort = code === "EACCES" && cause instanceof Error && "port" in cause;
  return new ConfigurationError(`${failedAction(cause)}: ${reason}`, {
    hint: isPort ? "choose a port above 1023, or omit `--port`" : (hints[code] ?? "check the path"),
    cause,
  });
}

function failedAction(cause: unknown): string {
  if (cause instanceof Error && "path" in cause) return `Cannot use ${cause.path}`;
  return cause instanceof Error && "port" in cause ? `Cannot use port ${cause.port}` : "A system call failed";
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EADDRINUSE: "already in use",
  EDQUOT: "the disk quota is exceeded",
  EEXIST: "it is a file, not a folder",
  EISDIR: "it is a folder",
  ENOENT: "no such file or folder",
  ENOSPC: "the disk is full",
  EPERM: "permission denied",
  ERR_FS_EISDIR: "it is a folder",
};

/** Returns a system error's reason without the error code, or undefined for other errors. */
function systemReason(error: unknown): string | undefined {
  // If the folder is missing, better-sqlite3 throws a TypeError.
  if (error instanceof TypeError && /directory does not exist$/.test(error.message)) return error.message;
  const code = errorCode(error);
  if (!(error instanceof Error && ("syscall" in error || code in hints))) return undefined;
  const [text = ""] = error.message.split(", ");
  const isFolder = "syscall" in error && error.syscall === "mkdir";
  if (code === "ENOTDIR" && "path" in error) return notFolderReason(String(error.path));
  if (code === "EEXIST" && !isFolder) return "a file with this name already exists";
  return reasons[code] ?? /^(?:\w+ )?E[A-Z\d]+: (.+)/.exec(text)?.[1] ?? text;
}

function notFolderReason(path: string): string {
  let file = path;
  while (dirname(file) !== file && !isFile(file)) file = dirname(file);
  if (dirname(file) === file) return "part of the path is not a folder";
  return file === path ? "it is a file, not a folder" : `\`${file}\` is a file, not a folder`;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Like `systemReason`, but falls back to the error's message. */
export function errorReason(error: unknown): string {
  return systemReason(error) ?? (error instanceof Error ? error.message : String(error));
}

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
