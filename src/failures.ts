import { fileURLToPath } from "node:url";
import { BrandapiError, ConfigurationError, MirrorUnusable } from "./errors.js";

/**
 * Any thrown value as an error that a person can act on: what the operating system, SQLite and Node's loader say is
 * put into words here, wherever it came from. Everything else is a defect in this program.
 */
export function asBrandapiError(error: unknown): BrandapiError {
  if (error instanceof BrandapiError) return error;
  return (
    explainNative(error) ??
    explainSqlite(error) ??
    explainFile(error) ??
    new BrandapiError(`A defect in brandapi: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "please report it, with what `--verbose` prints",
      cause: error,
    })
  );
}

/** better-sqlite3 is compiled for one Node version; npm may have been told to skip that. */
function explainNative(error: unknown): BrandapiError | undefined {
  const text = error instanceof Error ? error.message : "";
  const unbuilt = /Could not locate the bindings file/.test(text);
  const otherNode = /NODE_MODULE_VERSION|ERR_DLOPEN_FAILED/.test(`${text} ${codeOf(error)}`);
  if (unbuilt || otherNode)
    return new ConfigurationError(
      unbuilt
        ? "better-sqlite3 is installed but not built."
        : "better-sqlite3 was built for another version of Node.",
      { hint: rebuildHint(fileURLToPath(import.meta.url)), cause: error },
    );
  const lost = /Cannot find (?:package|module) '([^']+)'/.exec(text)?.[1];
  if (!lost || !/MODULE_NOT_FOUND/.test(codeOf(error))) return undefined;
  return new ConfigurationError(`A part of brandapi is not installed: ${lost}`, {
    hint: "run `npm ci` in brandapi's folder",
    cause: error,
  });
}

/**
 * How to build better-sqlite3 again. Where brandapi is installed globally, npm 12 runs no package's script without leave;
 * a checkout's package.json gives it.
 * @param file a file of this program
 */
export function rebuildHint(file: string): string {
  const prefix = /^(.*)\/lib\/node_modules\/brandapi\//.exec(file)?.[1];
  if (prefix === undefined) return "run `npm rebuild better-sqlite3` in brandapi's folder";
  const place = /[^\w./@+-]/.test(prefix) ? JSON.stringify(prefix) : prefix;
  return `run \`npm rebuild -g --prefix ${place} --allow-scripts=better-sqlite3 better-sqlite3\``;
}

const sqliteFailures: readonly [code: RegExp, message: string, hint: string][] = [
  [
    /^SQLITE_FULL/,
    "The disk is full, so the mirror cannot grow.",
    "free some space, then run the same command again: what was read is kept",
  ],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "The mirror is damaged, or not a mirror at all.",
    "move the file away and run `brandapi sync`, or name another with --db",
  ],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/,
    "The mirror cannot be opened for this.",
    "check the permissions of the file and its folder, or name another with --db",
  ],
  [
    /^SQLITE_IOERR/,
    "The disk failed, or is full, while the mirror was read or written.",
    "check the disk and its free space, then run the same command again: what was read is kept",
  ],
];

function explainSqlite(error: unknown): BrandapiError | undefined {
  const code = codeOf(error);
  const failure = sqliteFailures.find(([pattern]) => pattern.test(code));
  return failure && new MirrorUnusable(failure[1], { hint: failure[2], cause: error });
}

const fileFailures: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOSPC: ["The disk is full", "free some space, then run the same command again: what was read is kept"],
  EDQUOT: [
    "The disk quota is used up",
    "free some space, then run the same command again: what was read is kept",
  ],
  EACCES: ["Permission was denied", "check the permissions of the file and its folder"],
  EPERM: ["Permission was denied", "check the permissions of the file and its folder"],
  EROFS: ["The disk is read-only", "name a place that can be written to"],
  ENOENT: ["There is no such file or folder", "check the path"],
  EEXIST: ["A file is where a folder is needed", "check the path"],
  EADDRINUSE: ["The port is taken by another program", "name another, or leave it out"],
  ENOTDIR: ["A part of the path is not a folder", "check the path"],
  EISDIR: ["A file was expected, and this is a folder", "check the path"],
  EMFILE: ["Too many files are open", "raise the limit (`ulimit -n`) and try again"],
  ENFILE: ["Too many files are open on this machine", "try again later"],
};

function explainFile(error: unknown): BrandapiError | undefined {
  const failure = fileFailures[codeOf(error)];
  if (!failure || !(error instanceof Error)) return undefined;
  // Only what the file system says: a socket's error of the same code is not for here.
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  const [message, hint] = failure;
  return new ConfigurationError(path === undefined ? `${message}.` : `${message}: ${path}`, {
    hint,
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
