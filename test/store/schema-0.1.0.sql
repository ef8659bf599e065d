-- The complete schema of a mirror that commit a57a331 (0.1.0) created, for tests of migrations.
PRAGMA application_id = 1651666532;
PRAGMA user_version = 1;
CREATE TABLE mirror_info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    record_id INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    list_json TEXT,       -- the list's record, of a resource with details
    detailed_at TEXT,     -- when the details were read
    outdated INTEGER NOT NULL DEFAULT 0, -- 1: the list has shown another record since
    context TEXT,         -- what was asked for, if the record does not say it
    dated_at INTEGER,     -- milliseconds: the date that ranges go by
    flags INTEGER NOT NULL DEFAULT 0, -- one bit per filter of the API that is counted
    since_at TEXT NOT NULL, -- when this state of the record was first read
    removed_at TEXT
  );
CREATE UNIQUE INDEX records_key ON records (resource, key);
CREATE INDEX records_dated ON records (resource, dated_at, flags, removed_at) WHERE dated_at IS NOT NULL;
CREATE INDEX records_flagged ON records (resource, dated_at, flags) WHERE flags > 0 AND removed_at IS NULL;
CREATE INDEX records_removed ON records (resource) WHERE removed_at IS NOT NULL;
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
    covered_from TEXT,     -- null: from the beginning
    api_total INTEGER, mirror_total INTEGER, differing INTEGER -- null: nothing was counted
  );
CREATE INDEX sync_runs_resource ON sync_runs (resource, run_id);
CREATE TABLE coverage (
    resource TEXT NOT NULL,
    from_at TEXT,          -- null: from the beginning
    to_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    run_id INTEGER NOT NULL
  );
CREATE INDEX coverage_resource ON coverage (resource);
CREATE TABLE run_coverage (run_id INTEGER NOT NULL, from_at TEXT, to_at TEXT NOT NULL);
CREATE INDEX run_coverage_run ON run_coverage (run_id);
CREATE TABLE day_figures (
    resource TEXT NOT NULL,
    day TEXT NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (resource, day)
  ) WITHOUT ROWID;
CREATE TABLE missing (
    resource TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    last_seen_at TEXT,
    PRIMARY KEY (resource, record_id)
  ) WITHOUT ROWID;
CREATE TABLE sync_state (
    resource TEXT PRIMARY KEY,
    floor_ms INTEGER,      -- the oldest date that was ever asked for; null: from the beginning
    cursor_ms INTEGER,     -- the date that the audit has come to
    window_ms INTEGER, audit_requests INTEGER, -- the options of the newest run
    distrusted TEXT NOT NULL DEFAULT '[]' -- filters that are no evidence
  ) WITHOUT ROWID;
CREATE TABLE open_columns (
    table_name TEXT NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (table_name, name)
  ) WITHOUT ROWID;
CREATE TABLE notices (subject TEXT PRIMARY KEY, first_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE analytics_hosts_snapshots (
    date TEXT NOT NULL,
    host_id TEXT, host_username TEXT,
    clicks INTEGER, buy_now_clicks INTEGER, orders INTEGER, sales REAL, -- null: the host has left
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
CREATE TABLE "orders" ("id" TEXT, "external_order_id" TEXT, "order_number" TEXT, "order_date" TEXT, "currency" TEXT, "total_amount" REAL, "subtotal_amount" REAL, "refund_amount" REAL, "financial_status" TEXT, "fulfillment_status" TEXT, "is_cancelled" INTEGER, "is_refunded" INTEGER, "commission_rate" REAL, "commission_amount" REAL, "attribution" TEXT, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "product_id" TEXT, "product_title" TEXT, "product_cover_photo" TEXT, "gear_list_id" TEXT, "gear_list_title" TEXT, day TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "order_date" GLOB '????-??-??T??:??:??*Z' THEN substr("order_date", 1, 10) || ' ' || substr("order_date", 12, length("order_date") - 12)
    WHEN "order_date" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("order_date", 1, 10) || ' ' || substr("order_date", 12, 5) || substr("order_date", -6)), 1, 16)
      || substr("order_date", 17, length("order_date") - 22)
    WHEN "order_date" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("order_date", 1, 10) || ' ' || substr("order_date", 12, 5) || substr("order_date", -5, 3) || ':' || substr("order_date", -2)), 1, 16)
      || substr("order_date", 17, length("order_date") - 21)
    WHEN "order_date" GLOB '????-??-??[Tt ]??:??*' THEN substr("order_date", 1, 10) || ' ' || rtrim(substr("order_date", 12), 'Zz')
    WHEN "order_date" GLOB '????-??-??' THEN "order_date" || ' 00:00:00' END AS TEXT), 1, 10)) VIRTUAL, month TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "order_date" GLOB '????-??-??T??:??:??*Z' THEN substr("order_date", 1, 10) || ' ' || substr("order_date", 12, length("order_date") - 12)
    WHEN "order_date" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("order_date", 1, 10) || ' ' || substr("order_date", 12, 5) || substr("order_date", -6)), 1, 16)
      || substr("order_date", 17, length("order_date") - 22)
    WHEN "order_date" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("order_date", 1, 10) || ' ' || substr("order_date", 12, 5) || substr("order_date", -5, 3) || ':' || substr("order_date", -2)), 1, 16)
      || substr("order_date", 17, length("order_date") - 21)
    WHEN "order_date" GLOB '????-??-??[Tt ]??:??*' THEN substr("order_date", 1, 10) || ' ' || rtrim(substr("order_date", 12), 'Zz')
    WHEN "order_date" GLOB '????-??-??' THEN "order_date" || ' 00:00:00' END AS TEXT), 1, 7)) VIRTUAL, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "order_line_items" ("order_id" TEXT, "position" INTEGER, "title" TEXT, "variant_title" TEXT, "sku" TEXT, "quantity" INTEGER, "price" REAL, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "roster" ("relationship_id" TEXT, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "host_title" TEXT, "host_intro" TEXT, "host_discipline" TEXT, "host_specialty" TEXT, "host_location" TEXT, "host_socials" TEXT, "status" TEXT, "commission_rate" REAL, "joined_at" TEXT, "activated_at" TEXT, "campaigns_status" TEXT, "campaigns_invited" INTEGER, "campaigns_active" INTEGER, "campaigns_completed" INTEGER, "campaigns_declined" INTEGER, day TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "joined_at" GLOB '????-??-??T??:??:??*Z' THEN substr("joined_at", 1, 10) || ' ' || substr("joined_at", 12, length("joined_at") - 12)
    WHEN "joined_at" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("joined_at", 1, 10) || ' ' || substr("joined_at", 12, 5) || substr("joined_at", -6)), 1, 16)
      || substr("joined_at", 17, length("joined_at") - 22)
    WHEN "joined_at" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("joined_at", 1, 10) || ' ' || substr("joined_at", 12, 5) || substr("joined_at", -5, 3) || ':' || substr("joined_at", -2)), 1, 16)
      || substr("joined_at", 17, length("joined_at") - 21)
    WHEN "joined_at" GLOB '????-??-??[Tt ]??:??*' THEN substr("joined_at", 1, 10) || ' ' || rtrim(substr("joined_at", 12), 'Zz')
    WHEN "joined_at" GLOB '????-??-??' THEN "joined_at" || ' 00:00:00' END AS TEXT), 1, 10)) VIRTUAL, month TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "joined_at" GLOB '????-??-??T??:??:??*Z' THEN substr("joined_at", 1, 10) || ' ' || substr("joined_at", 12, length("joined_at") - 12)
    WHEN "joined_at" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("joined_at", 1, 10) || ' ' || substr("joined_at", 12, 5) || substr("joined_at", -6)), 1, 16)
      || substr("joined_at", 17, length("joined_at") - 22)
    WHEN "joined_at" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("joined_at", 1, 10) || ' ' || substr("joined_at", 12, 5) || substr("joined_at", -5, 3) || ':' || substr("joined_at", -2)), 1, 16)
      || substr("joined_at", 17, length("joined_at") - 21)
    WHEN "joined_at" GLOB '????-??-??[Tt ]??:??*' THEN substr("joined_at", 1, 10) || ' ' || rtrim(substr("joined_at", 12), 'Zz')
    WHEN "joined_at" GLOB '????-??-??' THEN "joined_at" || ' 00:00:00' END AS TEXT), 1, 7)) VIRTUAL, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "recommendations" ("host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "host_title" TEXT, "host_intro" TEXT, "host_discipline" TEXT, "host_specialty" TEXT, "host_location" TEXT, "host_socials" TEXT, "host_motto" TEXT, "product_count" INTEGER, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "recommendation_products" ("host_id" TEXT, "id" TEXT, "title" TEXT, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY, "note", "url");
CREATE TABLE "opportunities" ("id" TEXT, "title" TEXT, "description" TEXT, "project_details" TEXT, "status" TEXT, "listing_type" TEXT, "deadline" TEXT, "application_deadline" TEXT, "target_url" TEXT, "payment_flatFee" REAL, "payment_commission" REAL, "payment_bonuses" TEXT, "payment_terms" TEXT, "payment_totalPotential" REAL, "commission_rate" REAL, "content_types" TEXT, "category" TEXT, "assignment_counts" TEXT, "created_at" TEXT, "updated_at" TEXT, day TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "created_at" GLOB '????-??-??T??:??:??*Z' THEN substr("created_at", 1, 10) || ' ' || substr("created_at", 12, length("created_at") - 12)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -6)), 1, 16)
      || substr("created_at", 17, length("created_at") - 22)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -5, 3) || ':' || substr("created_at", -2)), 1, 16)
      || substr("created_at", 17, length("created_at") - 21)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*' THEN substr("created_at", 1, 10) || ' ' || rtrim(substr("created_at", 12), 'Zz')
    WHEN "created_at" GLOB '????-??-??' THEN "created_at" || ' 00:00:00' END AS TEXT), 1, 10)) VIRTUAL, month TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "created_at" GLOB '????-??-??T??:??:??*Z' THEN substr("created_at", 1, 10) || ' ' || substr("created_at", 12, length("created_at") - 12)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -6)), 1, 16)
      || substr("created_at", 17, length("created_at") - 22)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -5, 3) || ':' || substr("created_at", -2)), 1, 16)
      || substr("created_at", 17, length("created_at") - 21)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*' THEN substr("created_at", 1, 10) || ' ' || rtrim(substr("created_at", 12), 'Zz')
    WHEN "created_at" GLOB '????-??-??' THEN "created_at" || ' 00:00:00' END AS TEXT), 1, 7)) VIRTUAL, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunity_deliverables" ("opportunity_id" TEXT, "id" TEXT, "title" TEXT, "description" TEXT, "due_date" TEXT, "completed_at" TEXT, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunity_assignments" ("opportunity_id" TEXT, "id" TEXT, "status" TEXT, "brand_payment_state" TEXT, "athlete_payment_state" TEXT, "accepted_at" TEXT, "declined_at" TEXT, "completed_at" TEXT, "created_at" TEXT, "updated_at" TEXT, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunity_attachments" ("opportunity_id" TEXT, "position" INTEGER, "url" TEXT, "filename" TEXT, "mime_type" TEXT, "file_size_bytes" INTEGER, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "content" ("id" TEXT, "source" TEXT, "media_type" TEXT, "filename" TEXT, "mime_type" TEXT, "file_size_bytes" INTEGER, "created_at" TEXT, "uploaded_by" TEXT, "host_id" TEXT, "host_username" TEXT, "host_name" TEXT, "opportunity_id" TEXT, "opportunity_title" TEXT, "opportunity_assignment_id" TEXT, "opportunity_assignment_status" TEXT, "deliverable_id" TEXT, "deliverable_title" TEXT, "deliverable_due_date" TEXT, "download_path" TEXT, day TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "created_at" GLOB '????-??-??T??:??:??*Z' THEN substr("created_at", 1, 10) || ' ' || substr("created_at", 12, length("created_at") - 12)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -6)), 1, 16)
      || substr("created_at", 17, length("created_at") - 22)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -5, 3) || ':' || substr("created_at", -2)), 1, 16)
      || substr("created_at", 17, length("created_at") - 21)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*' THEN substr("created_at", 1, 10) || ' ' || rtrim(substr("created_at", 12), 'Zz')
    WHEN "created_at" GLOB '????-??-??' THEN "created_at" || ' 00:00:00' END AS TEXT), 1, 10)) VIRTUAL, month TEXT GENERATED ALWAYS AS (substr(CAST(CASE
    WHEN "created_at" GLOB '????-??-??T??:??:??*Z' THEN substr("created_at", 1, 10) || ' ' || substr("created_at", 12, length("created_at") - 12)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -6)), 1, 16)
      || substr("created_at", 17, length("created_at") - 22)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr("created_at", 1, 10) || ' ' || substr("created_at", 12, 5) || substr("created_at", -5, 3) || ':' || substr("created_at", -2)), 1, 16)
      || substr("created_at", 17, length("created_at") - 21)
    WHEN "created_at" GLOB '????-??-??[Tt ]??:??*' THEN substr("created_at", 1, 10) || ' ' || rtrim(substr("created_at", 12), 'Zz')
    WHEN "created_at" GLOB '????-??-??' THEN "created_at" || ' 00:00:00' END AS TEXT), 1, 7)) VIRTUAL, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks_periods" ("period_start" TEXT, "period_end" TEXT, "group_by" TEXT, "host_id" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "product_views" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, "profile_views" INTEGER, "list_views" INTEGER, "opportunity_clicks" INTEGER, "unique_sessions" INTEGER, "unique_users" INTEGER, "orders" INTEGER, "revenue" REAL, "subtotal_revenue" REAL, "conversion_rate" REAL, "manual_orders" INTEGER, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks" ("period_start" TEXT, "group_by" TEXT, "host_id" TEXT, "date" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, "profile_views" INTEGER, "list_views" INTEGER, "unique_sessions" INTEGER, "orders" INTEGER, "revenue" REAL, "subtotal_revenue" REAL, "conversion_rate" REAL, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks_top_hosts" ("period_start" TEXT, "group_by" TEXT, "asked_host_id" TEXT, "position" INTEGER, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, "unique_sessions" INTEGER, "orders" INTEGER, "revenue" REAL, "subtotal_revenue" REAL, "conversion_rate" REAL, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks_top_products" ("period_start" TEXT, "group_by" TEXT, "host_id" TEXT, "position" INTEGER, "product_id" TEXT, "title" TEXT, "brand_name" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_hosts" ("position" INTEGER, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "clicks" INTEGER, "buy_now_clicks" INTEGER, "orders" INTEGER, "sales" REAL, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "gifts" (synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY, "id", "status", "host_id", "host_username", "host_first_name", "host_last_name", "host_profile_photo", "product_id", "product_title", "store_order_id", "store_order_number", "created_at", "feedback_rating", "feedback_text");
CREATE TABLE "codes" (synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY, "id", "code", "host_id", "host_username", "host_first_name", "host_last_name", "host_profile_photo", "percentage", "is_live", "is_synced", "created_at");
CREATE TABLE "surveys" (synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY, "id", "title", "status", "response_count", "created_at");
CREATE TABLE "survey_results" ("survey_id" TEXT, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY, "response_count");
CREATE VIEW "sales_by_month" AS SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders, CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount, CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount, CAST(commission_amount AS REAL) AS commission_amount, CAST(is_partial AS INTEGER) AS is_partial, CAST(net_through AS REAL) AS net_through, CAST(net_before AS REAL) AS net_before FROM (
WITH covered AS MATERIALIZED (
    SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM sync_runs JOIN run_coverage USING (run_id) WHERE resource = 'orders'),
  reads AS MATERIALIZED (
    SELECT * FROM covered WHERE outcome = 'done'),
    days AS MATERIALIZED (
      SELECT *, substr(day, 1, 7) AS month, CAST(substr(day, 9) AS INTEGER) AS nth FROM sales_by_day),
    ends AS MATERIALIZED (
      SELECT month, strftime('%Y-%m', month || '-01', '-1 month') AS before, CASE
        WHEN month < substr(unread, 1, 7) THEN 31
        WHEN month = substr(unread, 1, 7) THEN nullif(substr(unread, 9) - 1, 0) END AS through
      FROM (SELECT month, date(coalesce((SELECT max(to_at) FROM covered
      WHERE from_at <= month || '-01T00:00:00.000Z' AND to_at >= month || '-01T00:00:00.000Z'), (SELECT max(to_at) FROM (SELECT to_at FROM coverage WHERE resource = 'orders' UNION ALL SELECT to_at FROM covered))), '+0.001 seconds') AS unread FROM (SELECT DISTINCT month FROM days))),
    months AS MATERIALIZED (
      SELECT month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders, sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount, round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount, round(total(commission_amount), 6) AS commission_amount, before, through,
        CASE WHEN through > 0 THEN round(total(CASE WHEN nth <= through THEN net_amount END), 6) END AS net_through
      FROM days LEFT JOIN ends USING (month) GROUP BY month, currency)
  SELECT month, currency, orders, cancelled_orders, orders_without_total, gross_amount, refunded_amount, net_amount, commission_amount,
    CASE WHEN month IS NOT NULL THEN (SELECT finished_at FROM reads WHERE from_at <= month || '-01' || 'T00:00:00.000Z'
    AND to_at >= date(date(month || '-01', '+1 month'), '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1) IS NULL END AS is_partial, net_through,
    CASE WHEN through > 0 AND EXISTS (SELECT 1 FROM reads
        WHERE from_at <= before || '-01T00:00:00.000Z' AND to_at >= m.month || '-01T00:00:00.000Z')
      THEN (SELECT CASE WHEN count(*) > 0 THEN round(total(CASE WHEN d.nth <= m.through THEN d.net_amount END), 6) END
      FROM days AS d WHERE d.month = m.before AND d.currency IS m.currency) END AS net_before
  FROM months AS m ORDER BY month, currency);
CREATE VIEW "sales_by_day" AS SELECT CAST(day AS TEXT) AS day, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders, CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount, CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount, CAST(commission_amount AS REAL) AS commission_amount FROM (
SELECT day, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders, sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount, round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount, round(total(commission_amount), 6) AS commission_amount FROM order_figures GROUP BY day, currency ORDER BY day, currency);
CREATE VIEW "restatements" AS SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(reported_at AS TEXT) AS reported_at, CAST(net_reported AS REAL) AS net_reported, CAST(net_now AS REAL) AS net_now, CAST(difference AS REAL) AS difference, CAST(orders AS INTEGER) AS orders FROM (
WITH covered AS MATERIALIZED (
    SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM sync_runs JOIN run_coverage USING (run_id) WHERE resource = 'orders'),
  reads AS MATERIALIZED (
    SELECT * FROM covered WHERE outcome = 'done')
    SELECT month, currency, (SELECT finished_at FROM reads WHERE from_at <= month || '-01' || 'T00:00:00.000Z'
    AND to_at >= date(date(month || '-01', '+1 month'), '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1) AS reported_at,
      0 + round(total(now) - total(difference), 6) AS net_reported, round(total(now), 6) AS net_now,
      round(total(difference), 6) AS difference, total(orders) AS orders
    FROM (SELECT substr(day, 1, 7) AS month, currency, net_amount AS now, NULL AS difference, 0 AS orders FROM sales_by_day
      UNION ALL SELECT month, currency, NULL, difference, 1 FROM restated_orders)
    GROUP BY month, currency HAVING reported_at IS NOT NULL ORDER BY month, currency);
CREATE VIEW "restated_orders" AS SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(reported_at AS TEXT) AS reported_at, CAST(order_id AS TEXT) AS order_id, CAST(order_number AS TEXT) AS order_number, CAST(order_date AS TEXT) AS order_date, CAST(net_reported AS REAL) AS net_reported, CAST(net_now AS REAL) AS net_now, CAST(difference AS REAL) AS difference, CAST(what AS TEXT) AS what, CAST(seen_at AS TEXT) AS seen_at, CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username, CAST(host_name AS TEXT) AS host_name FROM (
WITH covered AS MATERIALIZED (
    SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM sync_runs JOIN run_coverage USING (run_id) WHERE resource = 'orders'),
  reads AS MATERIALIZED (
    SELECT * FROM covered WHERE outcome = 'done'), forms AS MATERIALIZED (
    SELECT v.record_id, v.version_id, v.since_at, v.until_at, v.present,
      CASE WHEN json_type(v.json, '$.order_date') IN ('text') THEN json_extract(v.json, '$.order_date') END AS order_date,
      CASE WHEN json_type(v.json, '$.currency') IN ('text') THEN json_extract(v.json, '$.currency') END AS currency,
      CASE WHEN json_type(v.json, '$.total_amount') IN ('integer', 'real') THEN json_extract(v.json, '$.total_amount') END AS total_amount,
      CASE WHEN json_type(v.json, '$.refund_amount') IN ('integer', 'real') THEN json_extract(v.json, '$.refund_amount') END AS refund_amount,
      CASE WHEN json_type(v.json, '$.commission_amount') IN ('integer', 'real') THEN json_extract(v.json, '$.commission_amount') END AS commission_amount,
      CASE WHEN json_type(v.json, '$.is_cancelled') IN ('true', 'false') THEN json_extract(v.json, '$.is_cancelled') END AS is_cancelled,
      CASE WHEN json_type(v.json, '$.host.id') IN ('text') THEN json_extract(v.json, '$.host.id') END AS host_id,
      CASE WHEN json_type(v.json, '$.host.username') IN ('text') THEN json_extract(v.json, '$.host.username') END AS host_username,
      CASE WHEN json_type(v.json, '$.host.first_name') IN ('text') THEN json_extract(v.json, '$.host.first_name') END AS host_first_name,
      CASE WHEN json_type(v.json, '$.host.last_name') IN ('text') THEN json_extract(v.json, '$.host.last_name') END AS host_last_name
    FROM record_versions AS v JOIN orders AS o ON o.record_id = v.record_id),
  versions AS MATERIALIZED (
    SELECT record_id, version_id, since_at, until_at, present, substr(CAST(CASE
    WHEN order_date GLOB '????-??-??T??:??:??*Z' THEN substr(order_date, 1, 10) || ' ' || substr(order_date, 12, length(order_date) - 12)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr(order_date, 1, 10) || ' ' || substr(order_date, 12, 5) || substr(order_date, -6)), 1, 16)
      || substr(order_date, 17, length(order_date) - 22)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr(order_date, 1, 10) || ' ' || substr(order_date, 12, 5) || substr(order_date, -5, 3) || ':' || substr(order_date, -2)), 1, 16)
      || substr(order_date, 17, length(order_date) - 21)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*' THEN substr(order_date, 1, 10) || ' ' || rtrim(substr(order_date, 12), 'Zz')
    WHEN order_date GLOB '????-??-??' THEN order_date || ' 00:00:00' END AS TEXT), 1, 7) AS month, currency,
      host_id, host_username, coalesce(nullif(host_username, ''), nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), ''), substr(host_id, 1, 8)) AS host_name, CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders, CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders, CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total, CAST(CASE WHEN is_cancelled IS NOT 1 THEN total_amount END AS REAL) AS gross_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount, CAST(CASE WHEN is_cancelled IS 1 THEN NULL WHEN coalesce(refund_amount, 0) = 0 THEN total_amount
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6) END AS REAL) AS net_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN commission_amount END AS REAL) AS commission_amount FROM forms),
    now AS MATERIALIZED (
      SELECT record_id, coalesce(removed_at, synced_at) AS since_at, removed_at IS NULL AS present,
        month, currency, CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders, CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders, CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total, CAST(CASE WHEN is_cancelled IS NOT 1 THEN total_amount END AS REAL) AS gross_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount, CAST(CASE WHEN is_cancelled IS 1 THEN NULL WHEN coalesce(refund_amount, 0) = 0 THEN total_amount
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6) END AS REAL) AS net_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN commission_amount END AS REAL) AS commission_amount
      FROM orders WHERE coalesce(removed_at, synced_at) > (SELECT min(finished_at) FROM reads)),
    months AS MATERIALIZED (SELECT month, (SELECT finished_at FROM reads WHERE from_at <= month || '-01' || 'T00:00:00.000Z'
    AND to_at >= date(date(month || '-01', '+1 month'), '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1) AS reported_at
      FROM (SELECT month FROM now UNION SELECT month FROM versions)),
    pairs AS MATERIALIZED (
      SELECT record_id, month, reported_at, (SELECT max(v.version_id) FROM record_versions AS v
          WHERE v.record_id = p.record_id AND v.since_at <= p.reported_at AND v.until_at > p.reported_at) AS version_id
      FROM (SELECT n.record_id, m.month, m.reported_at FROM now AS n JOIN months AS m ON m.month = n.month
          WHERE n.since_at > m.reported_at
        UNION SELECT n.record_id, m.month, m.reported_at FROM versions AS v
          JOIN months AS m ON m.month = v.month AND v.since_at <= m.reported_at AND v.until_at > m.reported_at
          JOIN now AS n ON n.record_id = v.record_id AND n.since_at > m.reported_at) AS p),
    states AS MATERIALIZED (
      SELECT p.record_id, p.month, p.reported_at, n.since_at AS seen_at,
        v.present AND v.month = p.month AS was_in, v.currency AS old_currency, v.net_amount AS old,
        n.present AND n.month = p.month AS is_in, n.currency AS new_currency, n.net_amount AS new,
        CASE WHEN NOT n.present THEN 'withdrawn' WHEN n.cancelled_orders THEN 'cancelled'
          WHEN v.version_id IS NULL THEN 'late' WHEN NOT v.present THEN 'returned'
          WHEN v.cancelled_orders THEN 'reinstated' WHEN v.month IS NOT n.month THEN 'redated'
          WHEN v.currency IS NOT n.currency THEN 'currency'
          WHEN v.gross_amount IS n.gross_amount THEN 'refunded' ELSE 'amount' END AS what
      FROM pairs AS p JOIN now AS n ON n.record_id = p.record_id LEFT JOIN versions AS v ON v.version_id = p.version_id),
    restated AS (
      SELECT record_id, month, currency, reported_at, seen_at, what, round(total(old), 6) AS net_reported, round(total(new), 6) AS net_now
      FROM (SELECT record_id, month, old_currency AS currency, reported_at, seen_at, what, old, NULL AS new FROM states WHERE was_in
        UNION ALL SELECT record_id, month, new_currency, reported_at, seen_at, what, NULL, new FROM states WHERE is_in)
      GROUP BY record_id, month, currency)
  SELECT r.month, r.currency, r.reported_at, o.id AS order_id, o.order_number, o.order_date,
    r.net_reported, r.net_now, round(r.net_now - r.net_reported, 6) AS difference,
    r.what, r.seen_at, o.host_id, o.host_username, coalesce(nullif(o.host_username, ''), nullif(trim(coalesce(o.host_first_name, '') || ' ' || coalesce(o.host_last_name, '')), ''), substr(o.host_id, 1, 8)) AS host_name
  FROM restated AS r JOIN orders AS o ON o.record_id = r.record_id WHERE r.net_now <> r.net_reported
  ORDER BY r.month, r.currency, o.order_date, o.id);
CREATE VIEW "refunds_by_month" AS SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders, CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount, CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount, CAST(commission_amount AS REAL) AS commission_amount, CAST(refunded_orders AS INTEGER) AS refunded_orders, CAST(refund_rate AS REAL) AS refund_rate FROM (
SELECT *, round(refunded_amount / nullif(gross_amount, 0), 6) AS refund_rate
    FROM (SELECT month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders, sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount, round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount, round(total(commission_amount), 6) AS commission_amount, total(refunded_amount > 0) AS refunded_orders
      FROM order_figures GROUP BY month, currency) ORDER BY month, currency);
CREATE VIEW "late_refunds" AS SELECT CAST(order_id AS TEXT) AS order_id, CAST(order_number AS TEXT) AS order_number, CAST(order_date AS TEXT) AS order_date, CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(refunded_amount AS REAL) AS refunded_amount, CAST(days_at_least AS INTEGER) AS days_at_least, CAST(days_at_most AS INTEGER) AS days_at_most, CAST(last_seen_unchanged_at AS TEXT) AS last_seen_unchanged_at, CAST(seen_changed_at AS TEXT) AS seen_changed_at, CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username, CAST(host_name AS TEXT) AS host_name FROM (
SELECT f.id AS order_id, f.order_number, f.order_date, f.month, f.currency,
      round(CAST(coalesce(c.new, 0) AS REAL) - CAST(coalesce(c.old, 0) AS REAL), 6) AS refunded_amount,
      max(0, CAST(round((julianday(c.last_seen_unchanged_at) - julianday(f.ordered_at)) * 86400000) AS INTEGER) / 86400000) AS days_at_least,
      max(0, (CAST(round((julianday(c.seen_changed_at) - julianday(f.ordered_at)) * 86400000) AS INTEGER) + 86399999) / 86400000) AS days_at_most,
      c.last_seen_unchanged_at, c.seen_changed_at, f.host_id, f.host_username, f.host_name
    FROM changes AS c JOIN order_figures AS f ON f.id = c.key AND f.orders = 1
    WHERE c.resource = 'orders' AND c.field = 'refund_amount'
      AND CAST(coalesce(c.new, 0) AS REAL) <> CAST(coalesce(c.old, 0) AS REAL) ORDER BY c.change_id);
CREATE VIEW "hosts_by_month" AS SELECT CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username, CAST(host_name AS TEXT) AS host_name, CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders, CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount, CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount, CAST(commission_amount AS REAL) AS commission_amount, CAST(clicks AS INTEGER) AS clicks, CAST(conversion_rate AS REAL) AS conversion_rate, CAST(ranking_orders AS INTEGER) AS ranking_orders, CAST(ranking_revenue AS REAL) AS ranking_revenue FROM (
WITH rankings AS MATERIALIZED (
    SELECT substr(t.period_start, 1, 7) AS month, coalesce(t.host_id, '') AS host, sum(t.total_clicks) AS clicks,
      CASE WHEN count(*) = 1 THEN max(t.conversion_rate) END AS conversion_rate, sum(t.orders) AS ranking_orders,
      round(sum(t.revenue), 6) AS ranking_revenue
    FROM analytics_clicks_top_hosts AS t WHERE t.asked_host_id IS NULL AND t.group_by = (
      SELECT p.group_by FROM analytics_clicks_periods AS p WHERE p.period_start = t.period_start AND p.host_id IS NULL
      ORDER BY p.synced_at DESC, p.group_by LIMIT 1)
    GROUP BY 1, 2)
    SELECT m.host_id, m.host_username, m.host_name, m.month, m.currency, orders, cancelled_orders, orders_without_total, gross_amount, refunded_amount, net_amount, commission_amount,
      r.clicks, r.conversion_rate, r.ranking_orders, r.ranking_revenue
    FROM (SELECT host_id, host_username, host_name, month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders, sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount, round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount, round(total(commission_amount), 6) AS commission_amount, max(ordered_at) FROM order_figures
      GROUP BY month, host_id, currency) AS m
    LEFT JOIN rankings AS r ON r.month = m.month AND r.host = coalesce(m.host_id, '')
    ORDER BY m.month, m.host_id, m.currency);
CREATE VIEW "hosts" AS SELECT CAST(id AS TEXT) AS id, CAST(username AS TEXT) AS username, CAST(host_name AS TEXT) AS host_name, CAST(on_roster AS INTEGER) AS on_roster, CAST(commission_rate AS REAL) AS commission_rate, CAST(campaigns_status AS TEXT) AS campaigns_status, CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders, CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(net_by_currency AS TEXT) AS net_by_currency, CAST(commission_by_currency AS TEXT) AS commission_by_currency, CAST(clicks AS INTEGER) AS clicks, CAST(buy_now_clicks AS INTEGER) AS buy_now_clicks, CAST(ranking_orders AS INTEGER) AS ranking_orders, CAST(ranking_sales AS REAL) AS ranking_sales, CAST(recommended_products AS INTEGER) AS recommended_products FROM (
WITH ids AS (
      SELECT host_id AS id, nullif(host_username, '') AS username, nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), '') AS name FROM roster WHERE removed_at IS NULL
      UNION SELECT host_id AS id, nullif(host_username, '') AS username, nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), '') AS name FROM orders WHERE removed_at IS NULL
      UNION SELECT host_id AS id, nullif(host_username, '') AS username, nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), '') AS name FROM recommendations WHERE removed_at IS NULL
      UNION SELECT host_id AS id, nullif(host_username, '') AS username, nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), '') AS name FROM analytics_hosts WHERE removed_at IS NULL
    ),
    names AS (SELECT id, max(username) AS username, coalesce(max(username), max(name), substr(id, 1, 8)) AS host_name
      FROM ids GROUP BY id),
    sums AS (SELECT host_id, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders, sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount, round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount, round(total(commission_amount), 6) AS commission_amount FROM order_figures GROUP BY host_id, currency),
    sales AS MATERIALIZED (
      SELECT coalesce(host_id, '') AS host, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
        sum(orders_without_total) AS orders_without_total,
        json_group_object(coalesce(currency, '?'), net_amount) AS net_by_currency,
        json_group_object(coalesce(currency, '?'), commission_amount) AS commission_by_currency
      FROM sums GROUP BY host_id
    ),
    ranking AS MATERIALIZED (
      SELECT coalesce(host_id, '') AS host, sum(clicks) AS clicks, sum(buy_now_clicks) AS buy_now_clicks,
        sum(orders) AS orders, sum(sales) AS sales
      FROM analytics_hosts WHERE removed_at IS NULL GROUP BY host_id
    ),
    members AS MATERIALIZED (
      SELECT host_id, max(commission_rate) AS commission_rate, max(campaigns_status) AS campaigns_status
      FROM roster WHERE removed_at IS NULL GROUP BY host_id
    ),
    listed AS MATERIALIZED (
      SELECT host_id, max(product_count) AS products FROM recommendations WHERE removed_at IS NULL GROUP BY host_id
    )
    SELECT n.id, n.username, n.host_name, m.host_id IS NOT NULL AS on_roster,
      m.commission_rate, m.campaigns_status,
      coalesce(s.orders, 0) AS orders, coalesce(s.cancelled_orders, 0) AS cancelled_orders,
      coalesce(s.orders_without_total, 0) AS orders_without_total,
      s.net_by_currency, s.commission_by_currency,
      r.clicks, r.buy_now_clicks,
      r.orders AS ranking_orders, round(r.sales, 6) AS ranking_sales,
      coalesce(l.products, 0) AS recommended_products
    FROM names AS n LEFT JOIN members AS m ON m.host_id = n.id LEFT JOIN sales AS s ON s.host = coalesce(n.id, '')
    LEFT JOIN ranking AS r ON r.host = coalesce(n.id, '') LEFT JOIN listed AS l ON l.host_id = n.id
    ORDER BY n.id);
CREATE VIEW "commission_by_host" AS SELECT CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username, CAST(host_name AS TEXT) AS host_name, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders, CAST(commission_amount AS REAL) AS commission_amount, CAST(taken_back AS REAL) AS taken_back FROM (
WITH forms AS MATERIALIZED (
    SELECT v.record_id, v.version_id, v.since_at, v.until_at, v.present,
      CASE WHEN json_type(v.json, '$.order_date') IN ('text') THEN json_extract(v.json, '$.order_date') END AS order_date,
      CASE WHEN json_type(v.json, '$.currency') IN ('text') THEN json_extract(v.json, '$.currency') END AS currency,
      CASE WHEN json_type(v.json, '$.total_amount') IN ('integer', 'real') THEN json_extract(v.json, '$.total_amount') END AS total_amount,
      CASE WHEN json_type(v.json, '$.refund_amount') IN ('integer', 'real') THEN json_extract(v.json, '$.refund_amount') END AS refund_amount,
      CASE WHEN json_type(v.json, '$.commission_amount') IN ('integer', 'real') THEN json_extract(v.json, '$.commission_amount') END AS commission_amount,
      CASE WHEN json_type(v.json, '$.is_cancelled') IN ('true', 'false') THEN json_extract(v.json, '$.is_cancelled') END AS is_cancelled,
      CASE WHEN json_type(v.json, '$.host.id') IN ('text') THEN json_extract(v.json, '$.host.id') END AS host_id,
      CASE WHEN json_type(v.json, '$.host.username') IN ('text') THEN json_extract(v.json, '$.host.username') END AS host_username,
      CASE WHEN json_type(v.json, '$.host.first_name') IN ('text') THEN json_extract(v.json, '$.host.first_name') END AS host_first_name,
      CASE WHEN json_type(v.json, '$.host.last_name') IN ('text') THEN json_extract(v.json, '$.host.last_name') END AS host_last_name
    FROM record_versions AS v JOIN orders AS o ON o.record_id = v.record_id),
  versions AS MATERIALIZED (
    SELECT record_id, version_id, since_at, until_at, present, substr(CAST(CASE
    WHEN order_date GLOB '????-??-??T??:??:??*Z' THEN substr(order_date, 1, 10) || ' ' || substr(order_date, 12, length(order_date) - 12)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr(order_date, 1, 10) || ' ' || substr(order_date, 12, 5) || substr(order_date, -6)), 1, 16)
      || substr(order_date, 17, length(order_date) - 22)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr(order_date, 1, 10) || ' ' || substr(order_date, 12, 5) || substr(order_date, -5, 3) || ':' || substr(order_date, -2)), 1, 16)
      || substr(order_date, 17, length(order_date) - 21)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*' THEN substr(order_date, 1, 10) || ' ' || rtrim(substr(order_date, 12), 'Zz')
    WHEN order_date GLOB '????-??-??' THEN order_date || ' 00:00:00' END AS TEXT), 1, 7) AS month, currency,
      host_id, host_username, coalesce(nullif(host_username, ''), nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), ''), substr(host_id, 1, 8)) AS host_name, CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders, CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders, CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total, CAST(CASE WHEN is_cancelled IS NOT 1 THEN total_amount END AS REAL) AS gross_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount, CAST(CASE WHEN is_cancelled IS 1 THEN NULL WHEN coalesce(refund_amount, 0) = 0 THEN total_amount
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6) END AS REAL) AS net_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN commission_amount END AS REAL) AS commission_amount FROM forms),
    most AS MATERIALIZED (SELECT record_id, host_id, host_username, host_name, currency, max(commission_amount) AS amount
      FROM versions WHERE present AND orders GROUP BY record_id, host_id, currency),
    all_of AS (
      SELECT host_id, host_username, host_name, currency, ordered_at, orders, commission_amount, NULL AS taken FROM order_figures
      UNION ALL SELECT m.host_id, m.host_username, m.host_name, m.currency, NULL, 0, NULL, max(0, m.amount - coalesce(
          (SELECT o.commission_amount FROM orders AS o WHERE o.record_id = m.record_id AND o.removed_at IS NULL
            AND o.is_cancelled IS NOT 1 AND o.host_id IS m.host_id AND o.currency IS m.currency), 0)) FROM most AS m)
    SELECT host_id, host_username, host_name, currency, orders, commission_amount, taken_back
    FROM (SELECT host_id, host_username, host_name, currency, total(orders) AS orders,
        round(total(commission_amount), 6) AS commission_amount, round(total(taken), 6) AS taken_back, max(ordered_at)
      FROM all_of GROUP BY host_id, currency)
    WHERE orders > 0 OR taken_back > 0 ORDER BY host_id, currency);
CREATE VIEW "roster_changes" AS SELECT CAST(seen_at AS TEXT) AS seen_at, CAST(what AS TEXT) AS what, CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username, CAST(host_name AS TEXT) AS host_name, CAST(old AS REAL) AS old, CAST(new AS REAL) AS new, CAST(last_seen_at AS TEXT) AS last_seen_at, CAST(relationship_id AS TEXT) AS relationship_id FROM (
SELECT c.seen_changed_at AS seen_at,
      CASE c.kind WHEN 'changed' THEN 'rate' WHEN 'removed' THEN 'left' ELSE 'joined' END AS what,
      r.host_id, r.host_username, coalesce(nullif(r.host_username, ''), nullif(trim(coalesce(r.host_first_name, '') || ' ' || coalesce(r.host_last_name, '')), ''), substr(r.host_id, 1, 8)) AS host_name, c.old AS old, c.new AS new,
      c.last_seen_unchanged_at AS last_seen_at, r.relationship_id
    FROM changes AS c JOIN roster AS r ON r.relationship_id = c.key
    WHERE c.resource = 'roster' AND (c.kind <> 'changed' OR c.field = 'commission_rate') ORDER BY c.change_id);
CREATE VIEW "content_by_host" AS SELECT CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username, CAST(host_name AS TEXT) AS host_name, CAST(files AS INTEGER) AS files, CAST(deliverables AS INTEGER) AS deliverables, CAST(uploads AS INTEGER) AS uploads, CAST(images AS INTEGER) AS images, CAST(videos AS INTEGER) AS videos, CAST(campaigns AS INTEGER) AS campaigns, CAST(bytes AS INTEGER) AS bytes, CAST(last_added_at AS TEXT) AS last_added_at FROM (
SELECT host_id, host_username, coalesce(nullif(host_username, ''), nullif(host_name, ''), substr(host_id, 1, 8)) AS host_name, count(*) AS files,
      total(source = 'deliverable') AS deliverables, total(source = 'upload') AS uploads,
      total(media_type = 'image') AS images, total(media_type = 'video') AS videos,
      count(DISTINCT opportunity_id) AS campaigns, total(file_size_bytes) AS bytes,
      max(created_at) AS last_added_at
    FROM content WHERE removed_at IS NULL GROUP BY host_id ORDER BY host_id);
CREATE VIEW "campaigns_owing" AS SELECT CAST(id AS TEXT) AS id, CAST(title AS TEXT) AS title, CAST(status AS TEXT) AS status, CAST(deadline AS TEXT) AS deadline, CAST(is_overdue AS INTEGER) AS is_overdue, CAST(deliverables_open AS INTEGER) AS deliverables_open, CAST(assignments_open AS INTEGER) AS assignments_open, CAST(payments_open AS INTEGER) AS payments_open, CAST(payouts_open AS INTEGER) AS payouts_open, CAST(flat_fee AS REAL) AS flat_fee FROM (
SELECT * FROM (
      SELECT o.id, o.title, o.status, o.deadline,
        coalesce(d.open > 0 AND coalesce(d.due, o.deadline) < (SELECT max(substr(started_at, 1, 10)) FROM sync_runs
          WHERE resource = 'opportunities' AND outcome = 'done'), 0) AS is_overdue,
        coalesce(d.open, 0) AS deliverables_open,
        total(a.status = 'ACTIVE') AS assignments_open,
        total(a.brand_payment_state NOT IN ('PAID', 'REFUNDED', 'NOT_INVOICED')
          OR (a.brand_payment_state = 'NOT_INVOICED' AND a.status = 'COMPLETED')) AS payments_open,
        total(a.athlete_payment_state NOT IN ('PAID', 'NOT_EARNED')) AS payouts_open,
        o.payment_flatFee AS flat_fee
      FROM opportunities AS o LEFT JOIN opportunity_assignments AS a ON a.opportunity_id = o.id
      LEFT JOIN (SELECT opportunity_id, count(*) AS open, min(due_date) AS due FROM opportunity_deliverables
        WHERE completed_at IS NULL GROUP BY opportunity_id) AS d
        ON d.opportunity_id = o.id AND o.status NOT IN ('DRAFT', 'READY', 'PROPOSED', 'DECLINED', 'ARCHIVED')
      WHERE o.removed_at IS NULL GROUP BY o.id)
    WHERE deliverables_open + assignments_open + payments_open + payouts_open > 0 ORDER BY id);
CREATE VIEW "orders_net" AS SELECT id, order_number, order_date, ordered_at, day, month, currency, gross_amount, refunded_amount, net_amount, commission_amount, is_cancelled, is_refunded, attribution, host_id, host_username, host_name, record_id FROM order_figures WHERE orders = 1;
CREATE VIEW "order_figures" AS SELECT id, order_number, order_date, CAST(CASE
    WHEN order_date GLOB '????-??-??T??:??:??*Z' THEN substr(order_date, 1, 10) || ' ' || substr(order_date, 12, length(order_date) - 12)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN substr(datetime(substr(order_date, 1, 10) || ' ' || substr(order_date, 12, 5) || substr(order_date, -6)), 1, 16)
      || substr(order_date, 17, length(order_date) - 22)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*[-+]????' THEN substr(datetime(substr(order_date, 1, 10) || ' ' || substr(order_date, 12, 5) || substr(order_date, -5, 3) || ':' || substr(order_date, -2)), 1, 16)
      || substr(order_date, 17, length(order_date) - 21)
    WHEN order_date GLOB '????-??-??[Tt ]??:??*' THEN substr(order_date, 1, 10) || ' ' || rtrim(substr(order_date, 12), 'Zz')
    WHEN order_date GLOB '????-??-??' THEN order_date || ' 00:00:00' END AS TEXT) AS ordered_at, day, month, currency, CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders, CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders, CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total, CAST(CASE WHEN is_cancelled IS NOT 1 THEN total_amount END AS REAL) AS gross_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount, CAST(CASE WHEN is_cancelled IS 1 THEN NULL WHEN coalesce(refund_amount, 0) = 0 THEN total_amount
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6) END AS REAL) AS net_amount, CAST(CASE WHEN is_cancelled IS NOT 1 THEN commission_amount END AS REAL) AS commission_amount,
      is_cancelled, is_refunded, attribution, host_id, host_username, CAST(coalesce(nullif(host_username, ''), nullif(trim(coalesce(host_first_name, '') || ' ' || coalesce(host_last_name, '')), ''), substr(host_id, 1, 8)) AS TEXT) AS host_name,
      product_id, product_title, synced_at, record_id
    FROM orders WHERE removed_at IS NULL;
CREATE INDEX "roster_by_relationship_id" ON "roster" ("relationship_id");
CREATE INDEX "roster_by_host_id" ON "roster" ("host_id");
CREATE INDEX "recommendations_by_host_id" ON "recommendations" ("host_id");
CREATE INDEX "recommendation_products_by_host_id" ON "recommendation_products" ("host_id");
CREATE INDEX "opportunities_by_id" ON "opportunities" ("id");
CREATE INDEX "opportunity_deliverables_by_opportunity_id" ON "opportunity_deliverables" ("opportunity_id");
CREATE INDEX "opportunity_assignments_by_opportunity_id" ON "opportunity_assignments" ("opportunity_id");
CREATE INDEX "opportunity_attachments_by_opportunity_id" ON "opportunity_attachments" ("opportunity_id");
CREATE INDEX "analytics_clicks_by_period_start" ON "analytics_clicks" ("period_start");
CREATE INDEX "analytics_clicks_top_hosts_by_period_start" ON "analytics_clicks_top_hosts" ("period_start");
CREATE INDEX "analytics_clicks_top_products_by_period_start" ON "analytics_clicks_top_products" ("period_start");
CREATE INDEX "analytics_hosts_by_host_id" ON "analytics_hosts" ("host_id");
CREATE INDEX "content_by_id" ON "content" ("id");
CREATE INDEX "content_by_created_at" ON "content" ("created_at");
CREATE INDEX "orders_by_id" ON "orders" ("id");
CREATE INDEX "orders_by_order_date" ON "orders" ("order_date");
CREATE INDEX "order_line_items_by_order_id" ON "order_line_items" ("order_id");
