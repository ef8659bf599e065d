/** An error of the operating system, in its own words. */
export interface SystemFailure {
  code: string;
  /** Such as "ENOSPC: no space left on device". */
  why: string;
  hint: string;
  path: string | undefined;
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: "free some space, then run the same command again: what was read is kept",
  EDQUOT: "free some space, then run the same command again: what was read is kept",
  EACCES: "check the permissions of the file and its folder",
  EPERM: "check the permissions of the file and its folder",
  EROFS: "name a place that can be written to",
  EFBIG: "raise the limit (`ulimit -f`), or name another place",
  EMFILE: "raise the limit (`ulimit -n`) and try again",
  EADDRINUSE: "name another port, or leave it out",
};

/** Returns what the operating system says; undefined for every other error. */
export function systemFailure(error: unknown): SystemFailure | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  const code = String(error.code);
  if (!("syscall" in error) && !(code in hints)) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  const [why = code] = error.message.split(", ");
  return {
    code,
    why: why.startsWith(code) ? why : `${code}: ${why}`,
    hint: hints[code] ?? "check the path",
    path,
  };
}

/** The system's own words where there are any, otherwise the error's message. */
export function wordsOf(error: unknown): string {
  return systemFailure(error)?.why ?? (error instanceof Error ? error.message : String(error));
}
