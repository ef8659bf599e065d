import type { Mirror } from "../store/database.js";

/** A row in the `content_downloads` table. */
export interface CompletedDownload {
  source: string;
  id: string;
  /** The file's absolute path. */
  path: string;
  bytes: number;
  sha256: string;
  downloaded_at: string;
}

const columns = "source, id, path, bytes, sha256, downloaded_at";

/** Reads and records completed downloads in the mirror. Each write is a separate transaction. */
export class DownloadLog {
  readonly #completed: Map<string, CompletedDownload>;

  constructor(private readonly mirror: Mirror) {
    const rows = mirror.db.prepare(`SELECT ${columns} FROM content_downloads`).all() as CompletedDownload[];
    this.#completed = new Map(rows.map((row) => [fileKey(row), row]));
  }

  get(file: { source: string; id: string }): CompletedDownload | undefined {
    return this.#completed.get(fileKey(file));
  }

  all(): Iterable<CompletedDownload> {
    return this.#completed.values();
  }

  /** Adds a download, replacing any earlier download of the same file. */
  save(download: CompletedDownload): void {
    const insert = this.mirror.db.prepare(
      `INSERT OR REPLACE INTO content_downloads (${columns}, synced_at)
       VALUES (@source, @id, @path, @bytes, @sha256, @downloaded_at, @downloaded_at)`,
    );
    this.mirror.transaction(() => insert.run(download));
    this.#completed.set(fileKey(download), download);
  }
}

/** Returns the key of a file's record. IDs are unique only within a source. */
export function fileKey({ source, id }: { source: string; id: string }): string {
  return `${source}/${id}`;
}
