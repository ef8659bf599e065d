/** What the operating system's codes mean, in words that can stand alone or follow a comma, and what mends it. */
const meanings: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  ENOENT: ["there is no such file or folder", "check the path"],
  EACCES: ["permission was denied", "check the permissions of the file and its folder"],
  EPERM: ["permission was denied", "check the permissions of the file and its folder"],
  EROFS: ["the disk is read-only", "name a place that can be written to"],
  ENOSPC: ["the disk is full", "free some space, then run the same command again: what was read is kept"],
  EDQUOT: [
    "the disk quota is used up",
    "free some space, then run the same command again: what was read is kept",
  ],
  EFBIG: [
    "the file grows larger than is allowed here",
    "raise the limit (`ulimit -f`), or name another place",
  ],
  EIO: ["the disk failed", "check the disk"],
  ESTALE: ["the network drive has lost the file", "mount the drive again, or name another place"],
  EEXIST: ["a file is where a folder is needed", "check the path"],
  ENOTDIR: ["a part of the path is not a folder", "check the path"],
  ENOTSUP: ["it is not a file", "name a file"],
  ENXIO: ["it is not a file", "name a file"],
  EISDIR: ["a file was expected, and this is a folder", "check the path"],
  ELOOP: ["symbolic links lead in a circle", "check where the links lead"],
  ENAMETOOLONG: ["the name is too long", "give it a shorter name"],
  EINVAL: ["the system does not take such a name", "give it another name"],
  EILSEQ: ["the system does not take such a name", "give it another name"],
  ETXTBSY: ["this is a program that is running", "name another file"],
  EBUSY: ["the system holds the file", "close what uses it, then run the same command again"],
  EXDEV: ["this is another disk", "name a place on the same disk"],
  EMFILE: ["too many files are open", "raise the limit (`ulimit -n`) and try again"],
  ENFILE: ["too many files are open on this machine", "try again later"],
  EAGAIN: ["too many processes are running", "raise the limit (`ulimit -u`), or try again later"],
  ENOMEM: ["there is too little memory", "close other programs, or raise the limit (`ulimit -v`)"],
  EADDRINUSE: ["the port is taken by another program", "name another, or leave it out"],
};

/** An error of the operating system, in words. */
export interface SystemFailure {
  code: string;
  why: string;
  hint: string | undefined;
  path: string | undefined;
}

/** What an error of the operating system says, known code or not; undefined for every other error. */
export function systemFailure(error: unknown): SystemFailure | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const code = String(error.code);
  const call = "syscall" in error ? error.syscall : undefined;
  const unknown = [`the system refused (${code}, ${call})`, "check the path and the disk"] as const;
  const [why, hint] = meanings[code] ?? (call === undefined ? [] : unknown);
  if (why === undefined) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  return { code, why, hint, path };
}
