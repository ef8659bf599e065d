/** "brnd": tells a mirror from any other SQLite file. */
export const applicationId = 0x62726e64;

/**
 * The system tables, a step a version. A step is never edited once released: add the next one.
 * Typed tables are no part of this: they are projections, made from the registry of resources.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE mirror_info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- The truth: every record whole, as the API sent it.
  CREATE TABLE records (
    record_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    list_json TEXT,       -- the list's form, where there are details
    detailed_at TEXT,     -- when the details were read
    context TEXT,         -- what was asked for, where the record does not say it
    dated_at INTEGER,     -- milliseconds: the date that ranges go by
    flags INTEGER NOT NULL DEFAULT 0, -- a bit for each filter of the API that is counted
    since_at TEXT NOT NULL, -- when this form of the record was first read
    removed_at TEXT
  );
  CREATE UNIQUE INDEX records_key ON records (resource, key);
  -- Counting a range reads this index and nothing else.
  CREATE INDEX records_dated ON records (resource, dated_at, flags, removed_at) WHERE dated_at IS NOT NULL;

  -- What a record was before: from since_at until until_at.
  CREATE TABLE record_versions (
    version_id INTEGER PRIMARY KEY,
    record_id INTEGER NOT NULL,
    json TEXT NOT NULL,
    since_at TEXT NOT NULL,
    until_at TEXT NOT NULL,
    present INTEGER NOT NULL,
    run_id INTEGER NOT NULL
  );
  CREATE INDEX record_versions_record ON record_versions (record_id);

  CREATE TABLE changes (
    change_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    field TEXT,
    old TEXT,
    new TEXT,
    last_seen_unchanged_at TEXT,
    seen_changed_at TEXT NOT NULL,
    run_id INTEGER NOT NULL
  );
  CREATE INDEX changes_seen ON changes (seen_changed_at);

  CREATE TABLE sync_runs (
    run_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    since TEXT,
    until TEXT,
    requests INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0,
    rows_read INTEGER NOT NULL DEFAULT 0,
    rows_new INTEGER NOT NULL DEFAULT 0,
    rows_changed INTEGER NOT NULL DEFAULT 0,
    rows_removed INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL,
    error TEXT
  );
  CREATE INDEX sync_runs_resource ON sync_runs (resource, run_id);

  -- Which spans of a resource's dates were read completely, and when: the newest read of each instant.
  CREATE TABLE coverage (
    resource TEXT NOT NULL,
    from_at TEXT,          -- null: from the beginning
    to_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    run_id INTEGER NOT NULL
  );
  CREATE INDEX coverage_resource ON coverage (resource);

  -- What the API's figures by day were when the day's records were last read.
  CREATE TABLE tripwires (
    resource TEXT NOT NULL,
    day TEXT NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (resource, day)
  ) WITHOUT ROWID;

  -- Where an unfinished read stopped.
  CREATE TABLE checkpoints (
    resource TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    seen BLOB NOT NULL,
    updated_at TEXT NOT NULL
  ) WITHOUT ROWID;

  -- Records that a proven part of an unfinished read did not find.
  CREATE TABLE removal_candidates (
    resource TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (resource, record_id)
  ) WITHOUT ROWID;

  -- Columns and attributes that this version of the program was not told about, as they were first seen.
  CREATE TABLE open_columns (
    table_name TEXT NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (table_name, name)
  ) WITHOUT ROWID;

  -- The ranking's all-time totals by day: a row only where a host's figures moved since the day before.
  CREATE TABLE analytics_hosts_snapshots (
    date TEXT NOT NULL,
    host_id TEXT,
    host_username TEXT,
    clicks INTEGER,
    buy_now_clicks INTEGER,
    orders INTEGER,
    sales REAL,
    synced_at TEXT NOT NULL
  );
  CREATE INDEX analytics_hosts_snapshots_host ON analytics_hosts_snapshots (host_id, date);
  CREATE TABLE analytics_hosts_days (date TEXT PRIMARY KEY, synced_at TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE content_downloads (
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    downloaded_at TEXT NOT NULL,
    synced_at TEXT NOT NULL,
    PRIMARY KEY (source, id)
  ) WITHOUT ROWID;
  -- Interrupted downloads: which version of the file the beginning at this path is of (ETag or Last-Modified).
  CREATE TABLE content_parts (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    validator TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE notices (subject TEXT PRIMARY KEY, first_at TEXT NOT NULL) WITHOUT ROWID;
  `,
  `
  -- Counting records without a date would otherwise read every record whole.
  CREATE INDEX records_undated ON records (resource, flags, removed_at) WHERE dated_at IS NULL;
  -- Few are cancelled or refunded: counting them need not pass by the others.
  CREATE INDEX records_flagged ON records (resource, dated_at, flags) WHERE flags > 0 AND removed_at IS NULL;
  `,
  `
  -- Few are removed: what is present is counted as all less these.
  CREATE INDEX records_removed ON records (resource) WHERE removed_at IS NOT NULL;
  `,
  `
  ALTER TABLE sync_runs ADD COLUMN covered_from TEXT; -- null: from the beginning
  ALTER TABLE tripwires RENAME TO day_figures;
  ALTER TABLE removal_candidates RENAME TO missing;
  -- What the sync of a resource has set out to read, and what its runs really use. Milliseconds since 1970.
  CREATE TABLE sync_state (
    resource TEXT PRIMARY KEY,
    floor_ms INTEGER,       -- the oldest date that was ever asked for; null: from the beginning
    goal TEXT,              -- the ranges [from, to] of a run that was stopped; from null: from the beginning
    goal_begun_at INTEGER,  -- null: nothing is unfinished
    cursor_ms INTEGER,      -- where the audit stands
    window_ms INTEGER,
    audit_requests INTEGER
  ) WITHOUT ROWID;
  -- A read that was stopped before this version: what was proven since it began is covered.
  CREATE TEMP TABLE stopped AS
    SELECT resource, json_extract(state, '$.goal.from') AS since_ms,
      json_array(json_array(json_extract(state, '$.goal.from'), json_extract(state, '$.goal.to'))) AS goal,
      coalesce((SELECT max(started_at) FROM sync_runs AS r WHERE r.resource = k.resource), updated_at) AS begun_at
    FROM checkpoints AS k WHERE json_extract(state, '$.goal.to') IS NOT NULL;
  INSERT INTO sync_state (resource, floor_ms)
    SELECT resource, CASE WHEN sum(from_at IS NULL) = 0 THEN CAST(round(unixepoch(min(from_at), 'subsec') * 1000) AS INTEGER) END
    FROM coverage WHERE resource IN ('orders', 'content') GROUP BY resource; -- months of clicks had no oldest date
  INSERT OR IGNORE INTO sync_state (resource, floor_ms) SELECT resource, since_ms FROM stopped;
  UPDATE sync_state SET goal = s.goal, goal_begun_at = CAST(round(unixepoch(s.begun_at, 'subsec') * 1000) AS INTEGER),
      floor_ms = CASE WHEN s.since_ms IS NULL OR floor_ms IS NULL THEN NULL ELSE min(floor_ms, s.since_ms) END
    FROM stopped AS s WHERE s.resource = sync_state.resource;
  DROP TABLE stopped;
  DROP TABLE checkpoints;
  DELETE FROM mirror_info WHERE name LIKE 'figures:%' OR name LIKE 'unusable-count:%';
  `,
  `
  -- Whether the list has shown the record otherwise since its details were read.
  ALTER TABLE records ADD COLUMN outdated INTEGER NOT NULL DEFAULT 0;
  UPDATE records SET outdated = 1 WHERE resource IN ('opportunities', 'surveys') AND detailed_at < since_at;
  -- What was covered when a run had come to its end.
  CREATE TABLE run_coverage (
    run_id INTEGER NOT NULL,
    from_at TEXT,          -- null: from the beginning
    to_at TEXT NOT NULL
  );
  CREATE INDEX run_coverage_run ON run_coverage (run_id);
  -- Of earlier runs it is taken to be what they and those before them asked for, less what is unread by now.
  CREATE TEMP TABLE whole AS
    SELECT resource, min(from_at) AS from_at, max(to_at) AS to_at FROM (
      SELECT *, sum(is_apart) OVER (PARTITION BY resource ORDER BY from_at) AS nth FROM (
        SELECT resource, coalesce(from_at, '') AS from_at, to_at, coalesce(from_at > strftime('%Y-%m-%dT%H:%M:%fZ',
            lag(to_at) OVER (PARTITION BY resource ORDER BY from_at), '+0.001 seconds'), 0) AS is_apart
        FROM coverage))
    GROUP BY resource, nth;
  INSERT INTO run_coverage
    SELECT run_id, nullif(max(from_at, lowest), ''), min(to_at, reach) FROM (
      SELECT run_id, resource, outcome, min(until, finished_at) AS reach,
        min(coalesce(since, '')) OVER (PARTITION BY resource ORDER BY run_id) AS lowest
      FROM sync_runs WHERE outcome IN ('done', 'incomplete', 'stopped') AND until IS NOT NULL)
    JOIN whole USING (resource) WHERE outcome = 'done' AND from_at <= reach AND to_at >= lowest;
  DROP TABLE whole;
  `,
  `
  -- When the reading before showed it: what was read since says nothing of how it was. Null: noted by an older version.
  ALTER TABLE missing ADD COLUMN last_seen_at TEXT;
  `,
];
