-- Generated from schema.ts by `npm run docs`: the system tables and indexes of a new mirror, after all migrations.

CREATE TABLE mirror_info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Every complete record as the API last returned it. The typed tables are derived from this table.
CREATE TABLE records (
  record_id INTEGER PRIMARY KEY,
  resource TEXT NOT NULL,
  key TEXT NOT NULL,
  json TEXT NOT NULL,
  list_json TEXT,       -- the list item, if details are merged into the record
  detailed_at TEXT,     -- the time of the last details request
  details_outdated INTEGER NOT NULL DEFAULT 0, -- 1 if the list item has changed since then
  parameters TEXT,         -- request parameters that the record does not contain
  dated_ms INTEGER,     -- the date by which the API selects records, in milliseconds since 1970, or a fraction of them
  status_bits INTEGER NOT NULL DEFAULT 0, -- a bit mask of the API filters that match the record
  since_at TEXT NOT NULL, -- the time at which this version was first read
  removed_at TEXT
);
CREATE UNIQUE INDEX records_key ON records (resource, key);
-- Counting the records in a date range reads only this index.
CREATE INDEX records_dated ON records (resource, dated_ms, status_bits, removed_at) WHERE dated_ms IS NOT NULL;
-- Counting the records that match a filter reads only this index, which is small.
CREATE INDEX records_flagged ON records (resource, dated_ms, status_bits) WHERE status_bits > 0 AND removed_at IS NULL;
CREATE INDEX records_removed ON records (resource) WHERE removed_at IS NOT NULL;
CREATE INDEX records_undated ON records (resource) WHERE dated_ms IS NULL;

-- Earlier versions of records. Each was current from since_at until until_at.
CREATE TABLE record_versions (
  version_id INTEGER PRIMARY KEY,
  record_id INTEGER NOT NULL,
  json TEXT NOT NULL,
  since_at TEXT NOT NULL, until_at TEXT NOT NULL,
  present INTEGER NOT NULL,
  run_id INTEGER NOT NULL
-- The month (UTC) of the version's date, or null if the date is missing or unreadable.
, month TEXT);
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
CREATE TABLE "stored_totals" (
  resource TEXT NOT NULL,
  day TEXT NOT NULL,
  totals TEXT NOT NULL,
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
  ignored_filters TEXT NOT NULL DEFAULT '[]' -- API filters whose counts turned out to be wrong
) WITHOUT ROWID;

-- Columns that were discovered in the API's responses.
CREATE TABLE "discovered_columns" (
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

-- Values whose type differs from the type of their column.
CREATE TABLE unexpected_values (
  record_id INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  found TEXT NOT NULL,
  PRIMARY KEY (record_id, table_name, column_name, found)
) WITHOUT ROWID;

-- Date ranges that were read by page number because they contain faulty records. They are not covered.
CREATE TABLE "faulty_slices" (
  resource TEXT NOT NULL,
  from_at TEXT,          -- null: no lower bound
  to_at TEXT NOT NULL,
  read_at TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  record_ids TEXT NOT NULL, -- a JSON array of the faulty records
  fault TEXT NOT NULL    -- the problem with the first faulty record
);
CREATE INDEX faulty_slices_resource ON faulty_slices (resource);

-- The handle and name of each host, with the time at which they were first read.
CREATE TABLE host_names (
  host_id TEXT NOT NULL,
  read_at TEXT NOT NULL,
  username TEXT, name TEXT,
  PRIMARY KEY (host_id, read_at)
) WITHOUT ROWID;
