import { fileURLToPath } from "node:url";
import { BrandapiError, ConfigurationError, MirrorBusy, MirrorUnusable } from "../errors.js";
import { systemFailure } from "./system-errors.js";

/**
 * Any thrown value as an error that a person can act on: what the operating system, SQLite and Node's loader say is
 * put into words here, wherever it came from. Everything else is a defect in this program.
 */
export function asBrandapiError(error: unknown): BrandapiError {
  if (error instanceof BrandapiError) return error;
  return (
    explainNative(error) ??
    explainMemory(error) ??
    explainSqlite(error) ??
    explainSystem(error) ??
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
  [/^SQLITE_TOOBIG/, "A text is longer than SQLite can hold.", "ask for less of it"],
  [
    /^SQLITE_IOERR/,
    "The disk failed, or is full, while the mirror was read or written.",
    "check the disk and its free space, then run the same command again: what was read is kept",
  ],
];

function explainSqlite(error: unknown): BrandapiError | undefined {
  const code = codeOf(error);
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code))
    return new MirrorBusy("Another program holds the mirror and does not let go of it.", {
      hint: "close the program that has the file open, then run the same command again",
      cause: error,
    });
  const failure = sqliteFailures.find(([pattern]) => pattern.test(code));
  return failure && new MirrorUnusable(failure[1], { hint: failure[2], cause: error });
}

function explainSystem(error: unknown): BrandapiError | undefined {
  const failure = systemFailure(error);
  if (!failure) return undefined;
  const { hint, path, why } = failure;
  const said = why.charAt(0).toUpperCase() + why.slice(1);
  return new ConfigurationError(path === undefined ? `${said}.` : `${said}: ${path}`, { hint, cause: error });
}

/** What Node says where it gets no more memory. At the end of its own heap it stops without asking anybody. */
function explainMemory(error: unknown): BrandapiError | undefined {
  const text = error instanceof RangeError || codeOf(error) === "SQLITE_NOMEM" ? String(error) : "";
  if (!/out of memory|allocation failed|Invalid (array buffer|typed array|string) length/i.test(text))
    return undefined;
  return new ConfigurationError("There is too little memory for this.", {
    hint: "close other programs, or raise the limit (`ulimit -v`, the container's)",
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
