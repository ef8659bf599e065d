import type { Database } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import type { Mirror } from "./database.js";

/** The system tables that users can query, with their descriptions. The other system tables are internal. */
export const systemTables = {
  records:
    "every record as the API sent it, without omitted fields; the tables with the API's data are derived from these records",
  record_versions: "earlier versions of records, for `--as-of`",
  host_names: "host handles and names, and the time at which each was first read",
  changes: "changes to mirrored records, one row per field",
  sync_runs:
    "one row for each resource that a `sync` started to read or a `verify` started to compare, and one for each `forget`; " +
    "a run that fails before that, for example because the API rejects the key, has no row, but `status` prints its error; " +
    "a `verify` run that compared everything has the outcome `compared`; " +
    "`verified` is 1 if the mirror and the API agreed, even if only counts could be compared",
  coverage: "the fully read date ranges of each resource, and the time at which each range was read",
  analytics_hosts_snapshots:
    "the daily host ranking: one row for each change to a host's totals, which are null once the host has left the ranking",
  content_downloads: "downloaded library files",
} as const;

/** The application ID in a mirror's SQLite header: "brnd". */
export const applicationId = 0x62726e64;

/**
 * The migrations of the system tables, one per schema version. Later migrations rename some tables and columns that
 * earlier ones create. For the current schema, see `schema.sql`, which `npm run docs` generates. Never change a released
 * migration. The typed tables are created by `projection.ts` from the resource declarations.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE mirror_info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- Every complete record as the API last returned it. The typed tables are derived from this table.
  CREATE TABLE records (
    record_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    list_json TEXT,       -- the list item, if details are merged into the record
    detailed_at TEXT,     -- the time of the last details request
    outdated INTEGER NOT NULL DEFAULT 0, -- 1 if the list item has changed since then
    context TEXT,         -- request parameters that the record does not contain
    dated_at INTEGER,     -- the date by which the API selects records, in milliseconds since 1970, or a fraction of them
    flags INTEGER NOT NULL DEFAULT 0, -- a bit mask of the API filters that match the record
    since_at TEXT NOT NULL, -- the time at which this version was first read
    removed_at TEXT
  );
  CREATE UNIQUE INDEX records_key ON records (resource, key);
  -- Counting the records in a date range reads only this index.
  CREATE INDEX records_dated ON records (resource, dated_at, flags, removed_at) WHERE dated_at IS NOT NULL;
  -- Counting the records that match a filter reads only this index, which is small.
  CREATE INDEX records_flagged ON records (resource, dated_at, flags) WHERE flags > 0 AND removed_at IS NULL;
  CREATE INDEX records_removed ON records (resource) WHERE removed_at IS NOT NULL;

  -- Earlier versions of records. Each was current from since_at until until_at.
  CREATE TABLE record_versions (
    version_id INTEGER PRIMARY KEY,
    record_id INTEGER NOT NULL,
    json TEXT NOT NULL,
    since_at TEXT NOT NULL, until_at TEXT NOT NULL,
    present INTEGER NOT NULL,
    run_id INTEGER NOT NULL
  );
  CREATE INDEX record_versions_record ON record_versions (record_id);

  CREATE TABLE changes (
    change_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    field TEXT, old TEXT, new TEXT,
    last_seen_unchanged_at TEXT,
    seen_changed_at TEXT NOT NULL,
    run_id INTEGER NOT NULL
  );
  CREATE INDEX changes_seen ON changes (seen_changed_at);
  CREATE INDEX changes_record ON changes (resource, key);

  CREATE TABLE sync_runs (
    run_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    since TEXT,
    until TEXT,
    requests INTEGER NOT NULL DEFAULT 0, retries INTEGER NOT NULL DEFAULT 0,
    rows_read INTEGER NOT NULL DEFAULT 0, rows_new INTEGER NOT NULL DEFAULT 0,
    rows_changed INTEGER NOT NULL DEFAULT 0, rows_removed INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL,
    error TEXT,
    covered_from TEXT,     -- null: no lower bound
    api_total INTEGER, mirror_total INTEGER, differing INTEGER -- null if the run did not count records
  );
  CREATE INDEX sync_runs_resource ON sync_runs (resource, run_id);

  -- The date ranges that were read completely, with the time of the last read.
  CREATE TABLE coverage (
    resource TEXT NOT NULL,
    from_at TEXT,          -- null: no lower bound
    to_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    run_id INTEGER NOT NULL
  );
  CREATE INDEX coverage_resource ON coverage (resource);
  -- The coverage of each run, updated whenever the run's coverage grows.
  CREATE TABLE run_coverage (run_id INTEGER NOT NULL, from_at TEXT, to_at TEXT NOT NULL);
  CREATE INDEX run_coverage_run ON run_coverage (run_id);

  -- The API's daily totals from the time when each day's records were last read.
  CREATE TABLE day_figures (
    resource TEXT NOT NULL,
    day TEXT NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (resource, day)
  ) WITHOUT ROWID;

  -- Current records that the API did not return when their date was last read, with the time when it last did.
  CREATE TABLE missing (
    resource TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    last_seen_at TEXT,
    PRIMARY KEY (resource, record_id)
  ) WITHOUT ROWID;

  -- The state of each resource that is kept between syncs. Times are in milliseconds since 1970.
  CREATE TABLE sync_state (
    resource TEXT PRIMARY KEY,
    floor_ms INTEGER,      -- the oldest date ever requested; null: no lower bound
    cursor_ms INTEGER,     -- the date that the audit has reached
    window_ms INTEGER, audit_requests INTEGER, -- the options of the last run
    distrusted TEXT NOT NULL DEFAULT '[]' -- API filters whose counts turned out to be wrong
  ) WITHOUT ROWID;

  -- Columns that were discovered in the API's responses.
  CREATE TABLE open_columns (
    table_name TEXT NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (table_name, name)
  ) WITHOUT ROWID;
  -- Messages that are printed only once per mirror.
  CREATE TABLE notices (subject TEXT PRIMARY KEY, first_at TEXT NOT NULL) WITHOUT ROWID;

  -- The host ranking's all-time totals. A host has a row only for days on which its totals changed.
  CREATE TABLE analytics_hosts_snapshots (
    date TEXT NOT NULL,
    host_id TEXT, host_username TEXT,
    clicks INTEGER, buy_now_clicks INTEGER, orders INTEGER, sales REAL, -- null if the host has left the ranking
    synced_at TEXT NOT NULL
  );
  CREATE INDEX analytics_hosts_snapshots_host ON analytics_hosts_snapshots (host_id, date);
  CREATE TABLE analytics_hosts_days (date TEXT PRIMARY KEY, synced_at TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE content_downloads (
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    downloaded_at TEXT NOT NULL, synced_at TEXT NOT NULL,
    PRIMARY KEY (source, id)
  ) WITHOUT ROWID;
  `,
  `
  -- The month (UTC) of the version's date, or null if the date is missing or unreadable.
  ALTER TABLE record_versions ADD COLUMN month TEXT;

  -- Values whose type differs from the type of their column.
  CREATE TABLE unexpected_values (
    record_id INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    column_name TEXT NOT NULL,
    found TEXT NOT NULL,
    PRIMARY KEY (record_id, table_name, column_name, found)
  ) WITHOUT ROWID;
  `,
  `
  -- Date ranges that were read by page number because they contain faulty records. They are not covered.
  CREATE TABLE marked_slices (
    resource TEXT NOT NULL,
    from_at TEXT,          -- null: no lower bound
    to_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    run_id INTEGER NOT NULL,
    record_ids TEXT NOT NULL, -- a JSON array of the faulty records
    fault TEXT NOT NULL    -- the problem with the first faulty record
  );
  CREATE INDEX marked_slices_resource ON marked_slices (resource);
  CREATE INDEX records_undated ON records (resource) WHERE dated_at IS NULL;
  `,
  `
  -- The handle and name of each host, with the time at which they were first read.
  CREATE TABLE host_names (
    host_id TEXT NOT NULL,
    read_at TEXT NOT NULL,
    username TEXT, name TEXT,
    PRIMARY KEY (host_id, read_at)
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE marked_slices RENAME TO faulty_slices;
  DROP INDEX marked_slices_resource;
  CREATE INDEX faulty_slices_resource ON faulty_slices (resource);
  ALTER TABLE day_figures RENAME TO stored_totals;
  ALTER TABLE stored_totals RENAME COLUMN figures TO totals;
  ALTER TABLE open_columns RENAME TO discovered_columns;
  ALTER TABLE sync_state RENAME COLUMN distrusted TO ignored_filters;

  -- A command that failed before this migration may have stored its error under the new name. That error is newer.
  UPDATE OR IGNORE mirror_info SET name = 'running_command' WHERE name = 'under_way';
  UPDATE OR IGNORE mirror_info SET name = 'failed_command' WHERE name = 'failed_run';
  UPDATE OR IGNORE mirror_info SET name = 'denied:' || substr(name, 9) WHERE name LIKE 'refused:%';
  DELETE FROM mirror_info WHERE name IN ('under_way', 'failed_run') OR name LIKE 'refused:%';
  `,
  `
  ALTER TABLE records RENAME COLUMN context TO parameters;
  ALTER TABLE records RENAME COLUMN flags TO status_bits;
  ALTER TABLE records RENAME COLUMN outdated TO details_outdated;
  ALTER TABLE records RENAME COLUMN dated_at TO dated_ms;
  `,
  `
  -- Before, \`verify\` runs that had found differences also had the outcome "verified".
  UPDATE sync_runs SET outcome = 'compared' WHERE outcome = 'verified';
  `,
];

/**
 * Checks that a file is either a mirror or empty.
 * @throws MirrorUnusable if the file is neither, or was written by a newer version
 */
export function checkIsMirror({ db, path }: Mirror): void {
  const version = loadUserVersion(db);
  const id = Number(db.pragma("application_id", { simple: true }));
  const isEmpty = db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() === 0;
  if (version === 0 && id === 0 && isEmpty) return;
  // A file with this application ID contains all system tables, because the tables, the version and the ID are written
  // in one transaction.
  if (id !== applicationId || version < 1)
    throw new MirrorUnusable(`Not a brandapi mirror: ${path}.`, {
      hint: "choose another mirror with `--db`, or another backup with `--restore`",
    });
  if (version > migrations.length)
    throw new MirrorUnusable(`The mirror was written by a newer version of brandapi: ${path}.`, {
      hint: "the file was not changed; use the newer version, or update this one with `git pull && npm ci` (in a checkout) or `npm install -g` (with the newer package)",
    });
}

export function migrateSystemTables(db: Database): void {
  const version = loadUserVersion(db);
  if (version === migrations.length) return;
  withWritableSchema(db, () => {
    for (const step of migrations.slice(version)) db.exec(step);
  });
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${migrations.length}`);
}

/**
 * Runs statements that rename tables or columns. Without `writable_schema`, SQLite refuses to rename them if the file
 * contains an invalid view or trigger.
 */
export function withWritableSchema(db: Database, work: () => void): void {
  db.unsafeMode().pragma("writable_schema = ON");
  try {
    work();
  } finally {
    db.pragma("writable_schema = OFF");
    db.unsafeMode(false);
  }
}

/** Compares a mirror's schema version with this program's. Returns `none` for an empty file. */
export function schemaVersion({ db }: Mirror): "none" | "older" | "current" {
  const version = loadUserVersion(db);
  if (version < 1) return "none";
  return version === migrations.length ? "current" : "older";
}

function loadUserVersion(db: Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}
