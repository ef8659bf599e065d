import type { ReadableTable } from "../query/readable-tables.js";
import { checkCondition, explainRuntimeError } from "../query/user-sql.js";
import type { Mirror } from "../store/database.js";

/** The files that are wanted. Times in milliseconds since 1970. */
interface FileSelection {
  /** An expression over the columns of `content`. */
  where: string | undefined;
  since: number | undefined;
  until: number | undefined;
}

/** A library file as the mirror knows it: the API document, "Content item". */
export interface LibraryFile {
  source: string;
  id: string;
  filename: string | null;
  mimeType: string | null;
  /** Bytes; null if the API does not say. */
  size: number | null;
  createdAt: string | null;
  /** When the library's entry was first read as it is now. */
  sinceAt: string;
}

/** A row of `content_downloads`. */
export interface CompletedDownload {
  source: string;
  id: string;
  /** Absolute. */
  path: string;
  bytes: number;
  sha256: string;
  downloaded_at: string;
}

/**
 * Returns the present files that a selection names, newest first.
 * @param table `content`
 * @throws UsageError for a condition that SQLite does not understand
 */
export function selectFiles(mirror: Mirror, table: ReadableTable, selection: FileSelection): LibraryFile[] {
  const { where = "1", since = null, until = null } = selection;
  checkCondition(mirror, table, where);
  const select = mirror.db.prepare(
    // An id that is a number is null in its column, but the key of the record (source/id) has it.
    `SELECT coalesce(c.source, substr(r.key, 1, instr(r.key, '/') - 1)) AS source,
       coalesce(c.id, substr(r.key, instr(r.key, '/') + 1)) AS id, c.filename, c.mime_type AS mimeType,
       iif(c.file_size_bytes >= 0, c.file_size_bytes, NULL) AS size, c.created_at AS createdAt, r.since_at AS sinceAt
     FROM (SELECT * FROM content WHERE (${where}\n)) AS c JOIN records AS r USING (record_id)
     WHERE (@since IS NULL OR r.dated_at >= @since) AND (@until IS NULL OR r.dated_at < @until + 1)
     ORDER BY r.dated_at DESC, r.key`,
  );
  try {
    return select.all({ since, until }) as LibraryFile[];
  } catch (error) {
    throw explainRuntimeError(error, "--where");
  }
}

/** The downloads that the mirror knows. */
export type DownloadLog = ReturnType<typeof openDownloadLog>;

export function downloadKey({ source, id }: { source: string; id: string }): string {
  return `${source}/${id}`;
}

/** Opens the table `content_downloads`. Every write is a transaction of its own. */
export function openDownloadLog(mirror: Mirror) {
  const columns = "source, id, path, bytes, sha256, downloaded_at";
  const rows = mirror.db.prepare(`SELECT ${columns} FROM content_downloads`).all() as CompletedDownload[];
  const complete = new Map(rows.map((row) => [downloadKey(row), row]));
  const put = mirror.db.prepare(
    `INSERT OR REPLACE INTO content_downloads (${columns}, synced_at)
     VALUES (@source, @id, @path, @bytes, @sha256, @downloaded_at, @downloaded_at)`,
  );
  return {
    /** Complete downloads, by `downloadKey`. */
    complete,
    /** Records that a file is complete at its path. */
    finish(row: CompletedDownload): void {
      mirror.transaction(() => put.run(row));
      complete.set(downloadKey(row), row);
    },
  };
}
