import { basename } from "node:path";
import type { Mirror } from "../mirror/index.js";

/** Which files are wanted; an empty list leaves a filter out. Times in milliseconds since 1970: a range. */
export interface Selection {
  sources: readonly string[];
  mediaTypes: readonly string[];
  opportunities: readonly string[];
  hosts: readonly string[];
  since?: number;
  until?: number;
}

/** A library file as the mirror knows it: the API document, "Content item". */
export interface LibraryFile {
  source: string;
  id: string;
  filename: string | null;
  mimeType: string | null;
  /** `file_size_bytes`; null where the API does not say. */
  size: number | null;
  createdAt: string | null;
  downloadPath: string | null;
}

/** A row of `content_downloads`. */
export interface Downloaded {
  source: string;
  id: string;
  /** Absolute. */
  path: string;
  bytes: number;
  sha256: string;
  downloaded_at: string;
}

/** Whether content was ever read into the mirror. */
export function contentWasSynced({ db }: Mirror): boolean {
  const found = db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM records WHERE resource = 'content')
       OR EXISTS (SELECT 1 FROM sync_runs WHERE resource = 'content' AND outcome IN ('done', 'incomplete'))`,
    )
    .pluck()
    .get();
  return found === 1 && db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'content'").get() !== undefined;
}

/** The present files that a selection names, newest first. */
export function selectFiles({ db }: Mirror, selection: Selection): LibraryFile[] {
  const { sources, mediaTypes, opportunities, hosts, since, until } = selection;
  const oneOf = (column: string, values: readonly string[]) => ({
    sql: `lower(c.${column}) IN (SELECT lower(value) FROM json_each(?))`,
    value: JSON.stringify(values),
    given: values.length > 0,
  });
  const conditions = [
    oneOf("source", sources),
    oneOf("media_type", mediaTypes),
    oneOf("opportunity_id", opportunities),
    oneOf("host_id", hosts),
    { sql: "r.dated_at >= ?", value: since ?? 0, given: since !== undefined },
    { sql: "r.dated_at < ?", value: (until ?? 0) + 1, given: until !== undefined },
  ].filter(({ given }) => given);
  const rows = db
    .prepare(
      `SELECT r.key AS key, c.source, c.id, c.filename, c.mime_type AS mimeType, c.file_size_bytes AS size,
              c.created_at AS createdAt, c.download_path AS downloadPath
       FROM content c JOIN records r USING (record_id)
       WHERE ${["c.removed_at IS NULL", ...conditions.map(({ sql }) => sql)].join(" AND ")}
       ORDER BY r.dated_at DESC, r.key`,
    )
    .all(...conditions.map(({ value }) => value)) as (Omit<LibraryFile, "source" | "id"> & {
    key: string;
    source: string | null;
    id: string | null;
  })[];
  return rows.map(({ key, ...row }) => ({
    ...row,
    // An id that is a number is null in its column; the record's key has it.
    source: row.source ?? key.slice(0, key.indexOf("/")),
    id: row.id ?? key.slice(key.indexOf("/") + 1),
    size: row.size !== null && row.size >= 0 ? row.size : null,
  }));
}

/** What was downloaded before, and the beginnings of what was interrupted. */
export interface DownloadLog {
  /** Complete downloads, by `downloadKey`. */
  complete: ReadonlyMap<string, Downloaded>;
  /** Records that a file is complete at its path; nothing is unfinished any more. */
  finish(row: Downloaded): void;
  /** What the server called the version of the file whose beginning is at `path`; null when that is not known. */
  validatorOf(path: string, file: { source: string; id: string }): string | null;
  rememberValidator(path: string, file: { source: string; id: string }, validator: string | null): void;
}

export function downloadKey({ source, id }: { source: string; id: string }): string {
  return `${source}/${id}`;
}

/** Opens the tables `content_downloads` and `content_parts`. Every write is a transaction of its own. */
export function openDownloadLog(mirror: Mirror): DownloadLog {
  const { db } = mirror;
  const rows = db
    .prepare("SELECT source, id, path, bytes, sha256, downloaded_at FROM content_downloads")
    .all() as Downloaded[];
  const complete = new Map(rows.map((row) => [downloadKey(row), row]));
  const put = db.prepare(
    `INSERT OR REPLACE INTO content_downloads (source, id, path, bytes, sha256, downloaded_at, synced_at)
     VALUES (@source, @id, @path, @bytes, @sha256, @downloaded_at, @downloaded_at)`,
  );
  const find = db
    .prepare("SELECT validator FROM content_parts WHERE path = ? AND source = ? AND id = ?")
    .pluck();
  const remember = db.prepare(
    "INSERT OR REPLACE INTO content_parts (path, source, id, validator) VALUES (?, ?, ?, ?)",
  );
  const forget = db.prepare("DELETE FROM content_parts WHERE path = ?");
  return {
    complete,
    finish(row) {
      mirror.transaction(() => {
        put.run(row);
        forget.run(row.path);
      });
      complete.set(downloadKey(row), row);
    },
    validatorOf: (path, { source, id }) => (find.get(path, source, id) as string | undefined) ?? null,
    rememberValidator(path, { source, id }, validator) {
      if (validator === null) forget.run(path);
      else remember.run(path, source, id, validator);
    },
  };
}

/** The name under which a file was downloaded before. */
export function nameOf(row: Downloaded): string {
  return basename(row.path);
}
