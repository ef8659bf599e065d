import { statSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";

/** The end of a hint for an error that can interrupt a sync. */
export const thenRetry = "then run the same command again; data that was already read is kept";

const hints: Readonly<Record<string, string>> = {
  ENOSPC: `free some space, ${thenRetry}`,
  EDQUOT: `free some space, ${thenRetry}`,
  EACCES: "check the permissions of the file and its folder",
  EPERM: "check the permissions of the file and its folder",
  EISDIR: "choose a file, or move the folder out of the way",
  EEXIST: "choose a different name, or move the existing file out of the way",
  ENOTDIR: "choose a different path, or move the existing file out of the way",
  EROFS: "choose a file on a writable disk",
  EADDRINUSE: "choose a different port, or omit `--port`",
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

/** Explains an operating system error. Returns undefined for other errors. */
export function explainSystemError(cause: unknown): ConfigurationError | undefined {
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
  // If the folder is missing, better-sqlite3 throws a TypeError instead of a system error.
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
