import { MirrorUnusable } from "../errors.js";
import { codeOf, damagedHint } from "../lib/failures.js";

const damagedHeaderHint =
  "if it was a mirror, its header is damaged: restore a copy with `brandapi backup --restore FILE`; otherwise name another file with `--db`";
export const otherFileHint = "name another mirror with `--db`, or another backup with `--restore`";

/** Returns SQLite's error as a sentence about the mirror; any other error unchanged. */
export function asMirrorError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  const say = (what: string, hint: string) =>
    new MirrorUnusable(`The mirror ${what}: ${path}.`, { hint, cause: error });
  if (code === "SQLITE_NOTADB") return say("is not an SQLite database", damagedHeaderHint);
  if (code.startsWith("SQLITE_CORRUPT")) return say("is damaged", damagedHint);
  if (code === "SQLITE_CANTOPEN") return say("cannot be opened", "check the path and its permissions");
  if (code.startsWith("SQLITE_READONLY")) return say("cannot be written", "check its permissions");
  return error;
}
