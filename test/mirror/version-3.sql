-- A mirror as version 3 of its tables wrote it: the file's own statements, then two orders a day for 125 days.
PRAGMA application_id = 1651666532;
PRAGMA user_version = 3;
CREATE TABLE mirror_info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
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
CREATE INDEX records_dated ON records (resource, dated_at, flags, removed_at) WHERE dated_at IS NOT NULL;
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
CREATE TABLE coverage (
    resource TEXT NOT NULL,
    from_at TEXT,          -- null: from the beginning
    to_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    run_id INTEGER NOT NULL
  );
CREATE INDEX coverage_resource ON coverage (resource);
CREATE TABLE tripwires (
    resource TEXT NOT NULL,
    day TEXT NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (resource, day)
  ) WITHOUT ROWID;
CREATE TABLE checkpoints (
    resource TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    seen BLOB NOT NULL,
    updated_at TEXT NOT NULL
  ) WITHOUT ROWID;
CREATE TABLE removal_candidates (
    resource TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (resource, record_id)
  ) WITHOUT ROWID;
CREATE TABLE open_columns (
    table_name TEXT NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (table_name, name)
  ) WITHOUT ROWID;
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
CREATE TABLE content_parts (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    validator TEXT NOT NULL
  ) WITHOUT ROWID;
CREATE TABLE notices (subject TEXT PRIMARY KEY, first_at TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX records_undated ON records (resource, flags, removed_at) WHERE dated_at IS NULL;
CREATE INDEX records_flagged ON records (resource, dated_at, flags) WHERE flags > 0 AND removed_at IS NULL;
CREATE INDEX records_removed ON records (resource) WHERE removed_at IS NOT NULL;
CREATE TABLE "orders" ("id" TEXT, "external_order_id" TEXT, "order_number" TEXT, "order_date" TEXT, "currency" TEXT, "total_amount" REAL, "subtotal_amount" REAL, "refund_amount" REAL, "financial_status" TEXT, "fulfillment_status" TEXT, "is_cancelled" INTEGER, "is_refunded" INTEGER, "commission_rate" REAL, "commission_amount" REAL, "attribution" TEXT, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "product_id" TEXT, "product_title" TEXT, "product_cover_photo" TEXT, "gear_list_id" TEXT, "gear_list_title" TEXT, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "order_line_items" ("order_id" TEXT, "position" INTEGER, "title" TEXT, "variant_title" TEXT, "sku" TEXT, "quantity" INTEGER, "price" REAL, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "roster" ("relationship_id" TEXT, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "host_title" TEXT, "host_intro" TEXT, "host_discipline" TEXT, "host_specialty" TEXT, "host_location" TEXT, "host_socials" TEXT, "status" TEXT, "commission_rate" REAL, "joined_at" TEXT, "activated_at" TEXT, "campaigns_status" TEXT, "campaigns_invited" INTEGER, "campaigns_active" INTEGER, "campaigns_completed" INTEGER, "campaigns_declined" INTEGER, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "recommendations" ("host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "host_title" TEXT, "host_intro" TEXT, "host_discipline" TEXT, "host_specialty" TEXT, "host_location" TEXT, "host_socials" TEXT, "host_motto" TEXT, "product_count" INTEGER, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "recommendation_products" ("host_id" TEXT, "id" TEXT, "title" TEXT, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunities" ("id" TEXT, "title" TEXT, "description" TEXT, "project_details" TEXT, "status" TEXT, "listing_type" TEXT, "deadline" TEXT, "application_deadline" TEXT, "target_url" TEXT, "payment_flatFee" REAL, "payment_commission" REAL, "payment_bonuses" TEXT, "payment_terms" TEXT, "payment_totalPotential" REAL, "commission_rate" REAL, "content_types" TEXT, "category" TEXT, "assignment_counts" TEXT, "created_at" TEXT, "updated_at" TEXT, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunity_deliverables" ("opportunity_id" TEXT, "id" TEXT, "title" TEXT, "description" TEXT, "due_date" TEXT, "completed_at" TEXT, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunity_assignments" ("opportunity_id" TEXT, "id" TEXT, "status" TEXT, "brand_payment_state" TEXT, "athlete_payment_state" TEXT, "accepted_at" TEXT, "declined_at" TEXT, "completed_at" TEXT, "created_at" TEXT, "updated_at" TEXT, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "opportunity_attachments" ("opportunity_id" TEXT, "position" INTEGER, "url" TEXT, "filename" TEXT, "mime_type" TEXT, "file_size_bytes" INTEGER, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "content" ("id" TEXT, "source" TEXT, "media_type" TEXT, "filename" TEXT, "mime_type" TEXT, "file_size_bytes" INTEGER, "created_at" TEXT, "uploaded_by" TEXT, "host_id" TEXT, "host_username" TEXT, "host_name" TEXT, "opportunity_id" TEXT, "opportunity_title" TEXT, "opportunity_assignment_id" TEXT, "opportunity_assignment_status" TEXT, "deliverable_id" TEXT, "deliverable_title" TEXT, "deliverable_due_date" TEXT, "download_path" TEXT, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks_periods" ("period_start" TEXT, "period_end" TEXT, "group_by" TEXT, "host_id" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "product_views" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, "profile_views" INTEGER, "list_views" INTEGER, "opportunity_clicks" INTEGER, "unique_sessions" INTEGER, "unique_users" INTEGER, "orders" INTEGER, "revenue" REAL, "subtotal_revenue" REAL, "conversion_rate" REAL, "manual_orders" INTEGER, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks" ("period_start" TEXT, "group_by" TEXT, "host_id" TEXT, "date" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, "profile_views" INTEGER, "list_views" INTEGER, "unique_sessions" INTEGER, "orders" INTEGER, "revenue" REAL, "subtotal_revenue" REAL, "conversion_rate" REAL, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks_top_hosts" ("period_start" TEXT, "group_by" TEXT, "asked_host_id" TEXT, "position" INTEGER, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, "unique_sessions" INTEGER, "orders" INTEGER, "revenue" REAL, "subtotal_revenue" REAL, "conversion_rate" REAL, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_clicks_top_products" ("period_start" TEXT, "group_by" TEXT, "host_id" TEXT, "position" INTEGER, "product_id" TEXT, "title" TEXT, "brand_name" TEXT, "total_clicks" INTEGER, "product_clicks" INTEGER, "buy_now_clicks" INTEGER, "unique_buy_now_clicks" INTEGER, synced_at TEXT NOT NULL, row_id INTEGER PRIMARY KEY);
CREATE TABLE "analytics_hosts" ("position" INTEGER, "host_id" TEXT, "host_username" TEXT, "host_first_name" TEXT, "host_last_name" TEXT, "host_profile_photo" TEXT, "clicks" INTEGER, "buy_now_clicks" INTEGER, "orders" INTEGER, "sales" REAL, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "gifts" (synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "codes" (synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "surveys" (synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE TABLE "survey_results" ("survey_id" TEXT, synced_at TEXT NOT NULL, removed_at TEXT, record_id INTEGER PRIMARY KEY);
CREATE VIEW "orders_net" AS SELECT id, order_number, order_date, substr(order_date, 1, 7) AS month, currency,
        total_amount AS gross_amount, coalesce(refund_amount, 0) AS refunded_amount,
        CASE WHEN is_cancelled THEN 0 ELSE round(total_amount - coalesce(refund_amount, 0), 6) END AS net_amount,
        commission_amount, is_cancelled, is_refunded, attribution, host_id, host_username, record_id
      FROM orders WHERE removed_at IS NULL;
CREATE VIEW "refunds_by_month" AS SELECT month, currency, count(*) AS orders, sum(refunded_amount > 0) AS refunded_orders,
        round(sum(gross_amount), 6) AS gross_amount, round(sum(refunded_amount), 6) AS refunded_amount
      FROM orders_net GROUP BY month, currency;
CREATE VIEW "refunds_by_age" AS SELECT o.id AS order_id, o.order_date, o.currency,
        round(CAST(coalesce(c.new, 0) AS REAL) - CAST(coalesce(c.old, 0) AS REAL), 6) AS refunded_amount,
        max(0, CAST(julianday(c.last_seen_unchanged_at) - julianday(o.order_date) AS INTEGER)) AS days_at_least,
        CAST(julianday(c.seen_changed_at) - julianday(o.order_date) AS INTEGER) + 1 AS days_at_most,
        c.last_seen_unchanged_at, c.seen_changed_at
      FROM changes c JOIN orders o ON o.id = c.key
      WHERE c.resource = 'orders' AND c.field = 'refund_amount';
CREATE VIEW "commission_taken_back" AS WITH cuts AS (
        SELECT key, max(0, CAST(coalesce(old, 0) AS REAL) - CAST(coalesce(new, 0) AS REAL)) AS amount FROM changes
          WHERE resource = 'orders' AND field = 'commission_amount'
        UNION ALL
        SELECT c.key, coalesce(o.commission_amount, 0) FROM changes c JOIN orders o ON o.id = c.key
          WHERE c.resource = 'orders'
            AND ((c.kind = 'removed' AND o.removed_at IS NOT NULL) OR (c.field = 'is_cancelled' AND c.new = 'true' AND o.is_cancelled))
      )
      SELECT o.host_id, max(o.host_username) AS host_username, o.currency, round(sum(cuts.amount), 6) AS amount, count(*) AS changes
      FROM cuts JOIN orders o ON o.id = cuts.key WHERE cuts.amount > 0 GROUP BY o.host_id, o.currency;
CREATE VIEW "hosts" AS WITH ids AS (
        SELECT host_id AS id, host_username AS username FROM roster WHERE removed_at IS NULL
        UNION SELECT host_id, host_username FROM orders WHERE removed_at IS NULL AND host_id IS NOT NULL
        UNION SELECT host_id, host_username FROM recommendations WHERE removed_at IS NULL
        UNION SELECT host_id, host_username FROM analytics_hosts WHERE removed_at IS NULL AND host_id IS NOT NULL
      ),
      sums AS (
        SELECT host_id, currency, count(*) AS orders, sum(net_amount) AS net,
          sum(CASE WHEN is_cancelled THEN 0 ELSE commission_amount END) AS commission
        FROM orders_net WHERE host_id IS NOT NULL GROUP BY host_id, currency
      ),
      sales AS (
        SELECT host_id, sum(orders) AS orders, json_group_object(coalesce(currency, '?'), round(net, 2)) AS net_by_currency,
          json_group_object(coalesce(currency, '?'), round(commission, 2)) AS commission_by_currency
        FROM sums GROUP BY host_id
      )
      SELECT ids.id, max(ids.username) AS username, max(r.host_id IS NOT NULL) AS on_roster,
        max(r.commission_rate) AS commission_rate, max(r.campaigns_status) AS campaigns_status,
        coalesce(max(s.orders), 0) AS orders, max(s.net_by_currency) AS net_by_currency,
        max(s.commission_by_currency) AS commission_by_currency,
        max(a.clicks) AS clicks, max(a.buy_now_clicks) AS buy_now_clicks,
        coalesce(max(p.product_count), 0) AS recommended_products
      FROM ids
      LEFT JOIN roster r ON r.host_id = ids.id AND r.removed_at IS NULL
      LEFT JOIN sales s ON s.host_id = ids.id
      LEFT JOIN analytics_hosts a ON a.host_id = ids.id AND a.removed_at IS NULL
      LEFT JOIN recommendations p ON p.host_id = ids.id AND p.removed_at IS NULL
      WHERE ids.id IS NOT NULL GROUP BY ids.id;
CREATE VIEW "campaign_progress" AS SELECT o.id, o.title, o.status, o.deadline,
        (SELECT count(*) FROM opportunity_deliverables d WHERE d.opportunity_id = o.id) AS deliverables,
        (SELECT count(completed_at) FROM opportunity_deliverables d WHERE d.opportunity_id = o.id) AS deliverables_done,
        count(a.id) AS assignments,
        coalesce(sum(a.status = 'ACTIVE'), 0) AS assignments_active,
        coalesce(sum(a.status = 'COMPLETED'), 0) AS assignments_completed,
        coalesce(sum(a.brand_payment_state = 'PAID'), 0) AS paid_by_brand,
        coalesce(sum(a.athlete_payment_state = 'PAID'), 0) AS paid_to_hosts
      FROM opportunities o LEFT JOIN opportunity_assignments a ON a.opportunity_id = o.id
      WHERE o.removed_at IS NULL GROUP BY o.id;
CREATE VIEW "analytics_hosts_daily" AS SELECT date, since, host_id, host_username, clicks, buy_now_clicks, orders, sales FROM (
        SELECT s.date, (SELECT max(d.date) FROM analytics_hosts_days d WHERE d.date < s.date) AS since, s.host_id, s.host_username,
          s.clicks - coalesce(lag(s.clicks) OVER w, 0) AS clicks,
          s.buy_now_clicks - coalesce(lag(s.buy_now_clicks) OVER w, 0) AS buy_now_clicks,
          s.orders - coalesce(lag(s.orders) OVER w, 0) AS orders,
          round(s.sales - coalesce(lag(s.sales) OVER w, 0), 6) AS sales
        FROM analytics_hosts_snapshots s WINDOW w AS (PARTITION BY s.host_id ORDER BY s.date)
      ) WHERE since IS NOT NULL;
CREATE VIEW "codes_current" AS SELECT * FROM codes WHERE removed_at IS NULL;
CREATE VIEW "gifts_current" AS SELECT * FROM gifts WHERE removed_at IS NULL;
CREATE INDEX "orders_by_id" ON "orders" ("id");
CREATE INDEX "orders_by_order_date" ON "orders" ("order_date");
CREATE INDEX "order_line_items_by_order_id" ON "order_line_items" ("order_id");

INSERT INTO mirror_info VALUES ('brand_id', 'b-1'), ('brand_name', 'Brand'), ('figures:orders', '{"askedAt":1795262400000,"figures":[]}'), ('unusable-count:orders:refunded', '1');

INSERT INTO sync_runs VALUES (1, 'orders', '2026-11-21T12:00:00.000Z', '2026-11-21T12:00:01.000Z', NULL, '2026-11-21T12:00:00.000Z', 9, 0, 250, 250, 0, 0, 1, 'done', NULL);

-- The newest at noon, the others twelve hours apart.
WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 249),
  dated (n, at) AS (SELECT n, 1795262400000 - n * 43200000 FROM n)
INSERT INTO records (resource, key, json, dated_at, flags, since_at)
SELECT 'orders', 'o' || n,
  json_object('id', 'o' || n, 'order_date', strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000, 'unixepoch'), 'currency', 'EUR',
    'total_amount', 10, 'subtotal_amount', 8, 'refund_amount', 0, 'is_cancelled', json('false'), 'is_refunded', json('false'),
    'host', json_object('id', 'h1', 'username', 'ada'), 'line_items', json_array()),
  at, 0, '2026-11-21T12:00:00.200Z'
FROM dated;

INSERT INTO orders (id, order_date, currency, total_amount, subtotal_amount, refund_amount, is_cancelled, is_refunded,
  host_id, host_username, synced_at, record_id)
SELECT key, json ->> 'order_date', 'EUR', 10, 8, 0, 0, 0, 'h1', 'ada', since_at, record_id FROM records;

-- One was refunded while this mirror looked on, one was withdrawn.
INSERT INTO changes (resource, key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at, run_id)
VALUES ('orders', 'o7', 'changed', 'refund_amount', '1', '0', '2026-11-20T12:00:00.000Z', '2026-11-21T12:00:00.200Z', 1);
INSERT INTO record_versions (record_id, json, since_at, until_at, present, run_id)
SELECT record_id, json_set(json, '$.refund_amount', 1), '2026-11-20T12:00:00.200Z', since_at, 1, 1 FROM records WHERE key = 'o7';
UPDATE records SET removed_at = '2026-11-21T12:00:00.300Z' WHERE key = 'o99';
UPDATE orders SET removed_at = '2026-11-21T12:00:00.300Z' WHERE id = 'o99';

INSERT INTO tripwires
SELECT 'orders', substr(order_date, 1, 10), '[' || count(*) || ',' || (10 * count(*)) || ',' || (8 * count(*)) || ']'
FROM orders WHERE removed_at IS NULL AND order_date < '2026-11-21' GROUP BY 2;

INSERT INTO coverage VALUES ('orders', NULL, '2026-11-21T12:00:00.000Z', '2026-11-21T12:00:00.200Z', 1);
