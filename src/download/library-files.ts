import type { ReadableTable } from "../query/readable-tables.js";
import { checkCondition, explainRuntimeError } from "../query/user-sql.js";
import type { Mirror } from "../store/database.js";

/** The filters for library files. Times are in milliseconds since the Unix epoch. */
interface FileSelection {
  /** An SQL condition on columns of the `content` table. */
  where: string | undefined;
  since: number | undefined;
  until: number | undefined;
}

/** A file in the mirrored content library (see "Content item" in the API documentation). */
export interface LibraryFile {
  source: string;
  id: string;
  filename: string | null;
  mimeType: string | null;
  /** The size in bytes, or null if the API does not report it. */
  size: number | null;
  createdAt: string | null;
  /** The time at which the current version of the record was first read. */
  sinceAt: string;
}

/**
 * Returns the selected files, newest first.
 * @param table the `content` table
 * @throws UsageError if SQLite rejects the condition
 */
export function selectFiles(mirror: Mirror, table: ReadableTable, selection: FileSelection): LibraryFile[] {
  const { where = "1", since = null, until = null } = selection;
  checkCondition(mirror, table, where);
  const select = mirror.db.prepare(
    // The column is null if the API sends a number as the ID, so the ID is then taken from the record's key
    // (`source/id`).
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
