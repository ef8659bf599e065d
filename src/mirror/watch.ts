import { statSync } from "node:fs";
import { lossError } from "./loss.js";
import type { Mirror } from "./mirror.js";
import { idOf } from "./place.js";

/**
 * Notes how a mirror's file stands before it is read.
 * @returns throws MirrorUnusable where somebody has written into the file since, past SQLite. Call it when nothing is
 * read any more. A file that was moved or replaced is no matter: what was opened is read to its end.
 */
export function watchMirror(mirror: Mirror): () => void {
  const before = standingOf(mirror);
  return () => {
    if (before === null || idOf(mirror.path) !== mirror.id) return;
    const now = standingOf(mirror);
    if (now && now.file !== before.file && now.version === before.version)
      throw lossError("overwritten", mirror.path);
  };
}

/**
 * The file as the system knows it, and what changes with everything that SQLite does to it; null where that cannot be
 * told: with pages in its log, SQLite may just be bringing them in.
 */
function standingOf({ db, id, path }: Mirror): { file: string; version: string } | null {
  const found = id === null ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  const [log] = db.pragma("wal_checkpoint(NOOP)") as { log: number; checkpointed: number }[];
  if (!found || log?.log !== log?.checkpointed) return null;
  const version = `${db.pragma("data_version", { simple: true })} ${log?.log}`;
  return { file: `${found.size} ${found.mtimeNs}`, version };
}
