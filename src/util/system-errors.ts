import { BrandapiError, ConfigurationError, MirrorBusy, MirrorUnusable } from "../errors.js";

/**
 * Returns any thrown value as an error that a person can act on: what the operating system, SQLite and Node's loader say
 * gets a message and a hint here. Everything else is a defect in this program.
 */
export function asBrandapiError(error: unknown): BrandapiError {
  if (error instanceof BrandapiError) return error;
  return (
    explainSqlite(error) ??
    explainSystem(error) ??
    new BrandapiError(`A defect in brandapi: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "please report it, with what `--verbose` prints",
      cause: error,
    })
  );
}

export const damagedHint =
  "restore a sound copy, `brandapi backup --restore FILE`, or move the file away and run `brandapi sync --full`";
const again = "then run the same command again: what was read is kept";
const sqliteFailures: readonly [words: RegExp, hint: string][] = [
  [/^SQLITE_FULL/, `free some space, ${again}`],
  [/^SQLITE_(CORRUPT|NOTADB|ERROR: (malformed JSON|unsupported file format))/, damagedHint],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/,
    "check the permissions of the file and its folder, or name another with --db",
  ],
  [/^SQLITE_(TOOBIG|NOMEM)/, "ask for less of it"],
  [/^SQLITE_IOERR/, `check the disk and its free space, ${again}`],
];

function explainSqlite(cause: unknown): BrandapiError | undefined {
  const code = errorCode(cause);
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code))
    return new MirrorBusy("Another program holds the mirror and does not let go of it.", {
      hint: "close the program that has the file open, then run the same command again",
      cause,
    });
  const words = `${code}: ${errorReason(cause)}`;
  const hint = sqliteFailures.find(([pattern]) => pattern.test(words))?.[1];
  if (hint === undefined) return undefined;
  return new MirrorUnusable(`cannot use the mirror: ${errorReason(cause)}`, { hint, cause });
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: `free some space, ${again}`,
  EDQUOT: `free some space, ${again}`,
  EACCES: "check the permissions of the file and its folder",
  EPERM: "check the permissions of the file and its folder",
  EROFS: "name a file on a disk where you can write",
  EADDRINUSE: "name another port, or leave it out",
};

function explainSystem(cause: unknown): BrandapiError | undefined {
  const code = errorCode(cause);
  const why = systemReason(cause);
  if (why === undefined) return undefined;
  return new ConfigurationError(`${subjectOf(cause)}: ${why}`, {
    hint: hints[code] ?? "check the path",
    cause,
  });
}

function subjectOf(cause: unknown): string {
  if (cause instanceof Error && "path" in cause) return `cannot use ${cause.path}`;
  return cause instanceof Error && "port" in cause ? `cannot use port ${cause.port}` : "the system refused";
}

/** What Node's own words for a system error do not make clear. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EADDRINUSE: "it is in use",
  EDQUOT: "the disk quota is used up",
  EISDIR: "it is a folder",
  ENOENT: "no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is not a folder",
  EPERM: "permission denied",
  ERR_FS_EISDIR: "it is a folder",
};

/** Returns the reason of a system error in plain words, without its code; undefined for other errors. */
function systemReason(error: unknown): string | undefined {
  // better-sqlite3 has its own words.
  if (error instanceof TypeError && /directory does not exist$/.test(error.message)) return error.message;
  const code = errorCode(error);
  if (!(error instanceof Error && ("syscall" in error || code in hints))) return undefined;
  const [words = ""] = error.message.split(", ");
  return reasons[code] ?? /^(?:\w+ )?E[A-Z\d]+: (.+)/.exec(words)?.[1] ?? words;
}

/** Returns the reason of an error: of a system error in plain words, otherwise its message. */
export function errorReason(error: unknown): string {
  return systemReason(error) ?? (error instanceof Error ? error.message : String(error));
}

/** Returns the code of a system or SQLite error; empty for others. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
