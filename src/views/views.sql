-- Generated from all-views.ts by `npm run docs`: the views of a new mirror. The statements in the mirror differ from
-- these only in white space.

-- one row per month (UTC) and currency; for the current month, `net_through` ends on the last fully read day, and
-- `net_before` ends on the same day of the previous month
CREATE VIEW "sales_by_month" AS
SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders,
  CAST(cancelled_orders AS INTEGER) AS cancelled_orders,
  CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount,
  CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount,
  CAST(commission_amount AS REAL) AS commission_amount, CAST(is_partial AS INTEGER) AS is_partial,
  CAST(net_through AS REAL) AS net_through, CAST(net_before AS REAL) AS net_before
FROM (
  WITH
    order_coverage AS (
      SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
      FROM sync_runs
      JOIN run_coverage USING (run_id)
      WHERE resource = 'orders' LIMIT -1
    ),
    order_reads AS (SELECT * FROM order_coverage WHERE outcome = 'done' LIMIT -1),
    numbered_days AS (
      SELECT *, substr(day, 1, 7) AS month, CAST(substr(day, 9) AS INTEGER) AS nth FROM sales_by_day LIMIT -1
    ),
    month_ends AS (
      SELECT month, strftime('%Y-%m', month || '-01', '-1 month') AS before,
        CASE
          WHEN month < substr(unread, 1, 7) THEN 31
          WHEN month = substr(unread, 1, 7) THEN nullif(substr(unread, 9) - 1, 0)
        END AS through
      FROM (
        SELECT month,
          date(
            coalesce(
              (
                SELECT max(to_at)
                FROM order_coverage
                WHERE from_at <= month || '-01T00:00:00.000Z' AND to_at >= month || '-01T00:00:00.000Z'
              ),
              (
                SELECT max(to_at)
                FROM (
                  SELECT to_at
                  FROM coverage
                  WHERE resource = 'orders'
                  UNION ALL
                  SELECT to_at
                  FROM order_coverage
                )
              )
            ),
            '+0.001 seconds'
          ) AS unread
        FROM (SELECT DISTINCT month FROM numbered_days)
      ) LIMIT -1
    ),
    monthly_sums AS (
      SELECT month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
        sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount,
        round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount,
        round(total(commission_amount), 6) AS commission_amount, before, through,
        CASE
          WHEN through IS NOT NULL THEN round(total(CASE WHEN nth <= through THEN net_amount END), 6)
        END AS net_through
      FROM numbered_days
      LEFT JOIN month_ends USING (month)
      GROUP BY month, currency LIMIT -1
    )
  SELECT month, currency, orders, cancelled_orders, orders_without_total, gross_amount, refunded_amount,
    net_amount, commission_amount,
    CASE
      WHEN month IS NOT NULL
        THEN (
          SELECT finished_at
          FROM order_reads
          WHERE from_at <= month || '-01' || 'T00:00:00.000Z'
            AND to_at >= date(date(month || '-01', '+1 month'), '-1 day') || 'T23:59:59.999Z'
          ORDER BY run_id LIMIT 1
        ) IS NULL
    END AS is_partial,
    net_through,
    CASE
      WHEN through IS NOT NULL
        AND EXISTS (
          SELECT 1
          FROM order_reads
          WHERE from_at <= before || '-01T00:00:00.000Z' AND to_at >= m.month || '-01T00:00:00.000Z'
        )
        THEN (
          SELECT CASE
            WHEN count(*) > 0 THEN round(total(CASE WHEN d.nth <= m.through THEN d.net_amount END), 6)
          END
          FROM (SELECT 1 LIMIT 1)
          JOIN numbered_days AS d
          WHERE d.month = m.before AND d.currency IS m.currency
        )
    END AS net_before
  FROM monthly_sums AS m
  ORDER BY month, currency
);

-- one row per day (UTC) and currency with orders
CREATE VIEW "sales_by_day" AS
SELECT CAST(day AS TEXT) AS day, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders,
  CAST(cancelled_orders AS INTEGER) AS cancelled_orders,
  CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount,
  CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount,
  CAST(commission_amount AS REAL) AS commission_amount
FROM (
  SELECT day, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
    sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount,
    round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount,
    round(total(commission_amount), 6) AS commission_amount
  FROM order_figures
  GROUP BY day, currency
  ORDER BY day, currency
);

-- one row per closed month and currency, with the net amount as reported and the current net amount; `restated_orders`
-- lists the changed orders; `export sales_by_month --as-of` with the time in `reported_at` returns all figures as of
-- that time
CREATE VIEW "restatements" AS
SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency,
  CAST(reported_at AS TEXT) AS reported_at, CAST(net_reported AS REAL) AS net_reported,
  CAST(net_now AS REAL) AS net_now, CAST(difference AS REAL) AS difference, CAST(orders AS INTEGER) AS orders
FROM (
  WITH
    order_coverage AS (
      SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
      FROM sync_runs
      JOIN run_coverage USING (run_id)
      WHERE resource = 'orders' LIMIT -1
    ),
    order_reads AS (SELECT * FROM order_coverage WHERE outcome = 'done' LIMIT -1)
  SELECT month, currency,
    (
      SELECT finished_at
      FROM order_reads
      WHERE from_at <= month || '-01' || 'T00:00:00.000Z'
        AND to_at >= date(date(month || '-01', '+1 month'), '-1 day') || 'T23:59:59.999Z'
      ORDER BY run_id LIMIT 1
    ) AS reported_at,
    0 + round(total(net) - total(difference), 6) AS net_reported, round(total(net), 6) AS net_now,
    round(total(difference), 6) AS difference, total(orders) AS orders
  FROM (
    SELECT substr(day, 1, 7) AS month, currency, net_amount AS net, NULL AS difference, 0 AS orders
    FROM sales_by_day
    UNION ALL
    SELECT month, currency, NULL, difference, 1
    FROM restated_orders
  )
  GROUP BY month, currency
  HAVING reported_at IS NOT NULL
  ORDER BY month, currency
);

-- one row per order whose net has changed since its month was reported; an order whose month or currency changed has
-- two rows: one with the old month and currency, and one with the new ones
CREATE VIEW "restated_orders" AS
SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency,
  CAST(reported_at AS TEXT) AS reported_at, CAST(order_id AS TEXT) AS order_id,
  CAST(order_number AS TEXT) AS order_number, CAST(order_date AS TEXT) AS order_date,
  CAST(net_reported AS REAL) AS net_reported, CAST(net_now AS REAL) AS net_now,
  CAST(difference AS REAL) AS difference, CAST(what AS TEXT) AS what, CAST(seen_at AS TEXT) AS seen_at,
  CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username,
  CAST(host_label AS TEXT) AS host_label
FROM (
  WITH
    order_coverage AS (
      SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
      FROM sync_runs
      JOIN run_coverage USING (run_id)
      WHERE resource = 'orders' LIMIT -1
    ),
    order_reads AS (SELECT * FROM order_coverage WHERE outcome = 'done' LIMIT -1),
    stored_versions AS (
      SELECT v.record_id, v.version_id, v.since_at, v.until_at, v.present, v.month,
        CASE
          WHEN json_type(v.json, '$.currency') IN ('text') THEN json_extract(v.json, '$.currency')
        END AS currency,
        CASE
          json_type(v.json, '$.total_amount')
          WHEN 'integer' THEN json_extract(v.json, '$.total_amount')
          WHEN 'real' THEN json_extract(v.json, '$.total_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(v.json, '$.total_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(v.json, '$.total_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(v.json, '$.total_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(v.json, '$.total_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(v.json, '$.total_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(v.json, '$.total_amount') AS REAL)
                END
            END
        END AS total_amount,
        CASE
          json_type(v.json, '$.refund_amount')
          WHEN 'integer' THEN json_extract(v.json, '$.refund_amount')
          WHEN 'real' THEN json_extract(v.json, '$.refund_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(v.json, '$.refund_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(v.json, '$.refund_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(v.json, '$.refund_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(v.json, '$.refund_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(v.json, '$.refund_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(v.json, '$.refund_amount') AS REAL)
                END
            END
        END AS refund_amount,
        CASE
          json_type(v.json, '$.commission_amount')
          WHEN 'integer' THEN json_extract(v.json, '$.commission_amount')
          WHEN 'real' THEN json_extract(v.json, '$.commission_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(v.json, '$.commission_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(v.json, '$.commission_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(v.json, '$.commission_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(v.json, '$.commission_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(v.json, '$.commission_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(v.json, '$.commission_amount') AS REAL)
                END
            END
        END AS commission_amount,
        CASE
          WHEN json_type(v.json, '$.is_cancelled') IN ('true', 'false')
            THEN json_extract(v.json, '$.is_cancelled')
        END AS is_cancelled,
        CASE
          WHEN json_type(v.json, '$.host.id') IN ('text') THEN json_extract(v.json, '$.host.id')
        END AS host_id
      FROM record_versions AS v
      WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.record_id = v.record_id)
        OR EXISTS (SELECT 1 FROM orders_removed AS o WHERE o.record_id = v.record_id) LIMIT -1
    ),
    order_versions AS (
      SELECT record_id, version_id, since_at, until_at, present, month, currency, host_id,
        CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders,
        CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders,
        CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total,
        CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(total_amount, 0) END AS REAL) AS gross_amount,
        CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount,
        CAST(
          CASE
            WHEN is_cancelled IS 1 THEN NULL
            WHEN coalesce(refund_amount, 0) = 0 THEN coalesce(total_amount, 0)
            ELSE round(coalesce(total_amount, 0) - refund_amount, 6)
          END AS REAL
        ) AS net_amount,
        CAST(
          CASE WHEN is_cancelled IS NOT 1 THEN coalesce(commission_amount, 0) END AS REAL
        ) AS commission_amount
      FROM stored_versions LIMIT -1
    ),
    current_versions AS (
      SELECT *, CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders,
        CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders,
        CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total,
        CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(total_amount, 0) END AS REAL) AS gross_amount,
        CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount,
        CAST(
          CASE
            WHEN is_cancelled IS 1 THEN NULL
            WHEN coalesce(refund_amount, 0) = 0 THEN coalesce(total_amount, 0)
            ELSE round(coalesce(total_amount, 0) - refund_amount, 6)
          END AS REAL
        ) AS net_amount,
        CAST(
          CASE WHEN is_cancelled IS NOT 1 THEN coalesce(commission_amount, 0) END AS REAL
        ) AS commission_amount
      FROM (
        SELECT record_id, id, order_number, order_date, order_date_utc, month, currency, is_cancelled,
          total_amount, refund_amount, commission_amount, host_id, synced_at AS since_at, 1 AS present
        FROM orders
        UNION ALL
        SELECT record_id, id, order_number, order_date, order_date_utc, month, currency, is_cancelled,
          total_amount, refund_amount, commission_amount, host_id, removed_at, 0
        FROM orders_removed
      )
      WHERE since_at > (SELECT min(finished_at) FROM order_reads) LIMIT -1
    ),
    reported_months AS (
      SELECT month,
        (
          SELECT finished_at
          FROM order_reads
          WHERE from_at <= month || '-01' || 'T00:00:00.000Z'
            AND to_at >= date(date(month || '-01', '+1 month'), '-1 day') || 'T23:59:59.999Z'
          ORDER BY run_id LIMIT 1
        ) AS reported_at
      FROM (SELECT month FROM current_versions UNION SELECT month FROM order_versions) LIMIT -1
    ),
    changed_months AS (
      SELECT record_id, month, reported_at,
        (
          SELECT max(v.version_id)
          FROM record_versions AS v
          WHERE v.record_id = p.record_id AND v.since_at <= p.reported_at AND v.until_at > p.reported_at
        ) AS version_id
      FROM (
        SELECT n.record_id, m.month, m.reported_at
        FROM current_versions AS n
        JOIN reported_months AS m ON m.month = n.month
        WHERE n.since_at > m.reported_at
        UNION
        SELECT n.record_id, m.month, m.reported_at
        FROM order_versions AS v
        JOIN reported_months AS m ON m.month = v.month
          AND v.since_at <= m.reported_at
          AND v.until_at > m.reported_at
        JOIN current_versions AS n ON n.record_id = v.record_id AND n.since_at > m.reported_at
      ) AS p LIMIT -1
    ),
    old_and_new_states AS (
      SELECT p.record_id, p.month, p.reported_at, n.since_at AS seen_at,
        v.present AND v.month = p.month AS was_in, v.currency AS old_currency, v.net_amount AS old,
        n.present AND n.month = p.month AS is_in, n.currency AS new_currency, n.net_amount AS new,
        CASE
          WHEN NOT n.present THEN 'withdrawn'
          WHEN n.cancelled_orders THEN 'cancelled'
          WHEN v.version_id IS NULL THEN 'late'
          WHEN NOT v.present THEN 'returned'
          WHEN v.cancelled_orders THEN 'reinstated'
          WHEN v.month IS NOT n.month THEN 'redated'
          WHEN v.currency IS NOT n.currency THEN 'currency'
          WHEN v.gross_amount IS n.gross_amount THEN 'refunded'
          ELSE 'amount'
        END AS what
      FROM changed_months AS p
      JOIN current_versions AS n ON n.record_id = p.record_id
      LEFT JOIN order_versions AS v ON v.version_id = p.version_id LIMIT -1
    ),
    restated_nets AS (
      SELECT record_id, month, currency, reported_at, seen_at, what, round(total(old), 6) AS net_reported,
        round(total(new), 6) AS net_now
      FROM (
        SELECT record_id, month, old_currency AS currency, reported_at, seen_at, what, old, NULL AS new
        FROM old_and_new_states
        WHERE was_in
        UNION ALL
        SELECT record_id, month, new_currency, reported_at, seen_at, what, NULL, new
        FROM old_and_new_states
        WHERE is_in
      )
      GROUP BY record_id, month, currency
    )
  SELECT r.month, r.currency, r.reported_at, o.id AS order_id, o.order_number, o.order_date, r.net_reported,
    r.net_now, round(r.net_now - r.net_reported, 6) AS difference, r.what, r.seen_at, o.host_id AS host_id,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = o.host_id ORDER BY n.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(n.username, ''), n.name)
          FROM host_names AS n
          WHERE n.host_id = o.host_id
          ORDER BY n.read_at DESC LIMIT 1
        ),
        substr(o.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label
  FROM restated_nets AS r
  JOIN current_versions AS o ON o.record_id = r.record_id
  WHERE r.net_now <> r.net_reported
  ORDER BY r.month, r.currency, o.order_date_utc, o.id
);

-- one row per order month (UTC) and currency, with all refunds to date for the orders placed in that month
CREATE VIEW "refunds_by_month" AS
SELECT CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency, CAST(orders AS INTEGER) AS orders,
  CAST(cancelled_orders AS INTEGER) AS cancelled_orders,
  CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount,
  CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount,
  CAST(commission_amount AS REAL) AS commission_amount, CAST(refunded_orders AS INTEGER) AS refunded_orders,
  CAST(refund_rate AS REAL) AS refund_rate
FROM (
  SELECT *, round(refunded_amount / gross_amount, 6) AS refund_rate
  FROM (
    SELECT month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
      sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount,
      round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount,
      round(total(commission_amount), 6) AS commission_amount, total(refunded_amount > 0) AS refunded_orders
    FROM order_figures
    GROUP BY month, currency
  )
  ORDER BY month, currency
);

-- one row per refund that was found after its order was first read (excluding removed and cancelled orders); the API
-- does not provide refund dates, so the view contains a lower and an upper bound for the time from order to refund
CREATE VIEW "late_refunds" AS
SELECT CAST(order_id AS TEXT) AS order_id, CAST(order_number AS TEXT) AS order_number,
  CAST(order_date AS TEXT) AS order_date, CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency,
  CAST(refunded_amount AS REAL) AS refunded_amount, CAST(days_at_least AS INTEGER) AS days_at_least,
  CAST(days_at_most AS INTEGER) AS days_at_most,
  CAST(last_seen_unchanged_at AS TEXT) AS last_seen_unchanged_at,
  CAST(seen_changed_at AS TEXT) AS seen_changed_at, CAST(host_id AS TEXT) AS host_id,
  CAST(host_username AS TEXT) AS host_username, CAST(host_label AS TEXT) AS host_label
FROM (
  SELECT f.id AS order_id, f.order_number, f.order_date, f.month, f.currency,
    round(
      coalesce(
        CASE
          WHEN CASE
            WHEN c.new NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(c.new)
              THEN abs(
                CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
        END,
        0
      ) - coalesce(
        CASE
          WHEN CASE
            WHEN c.old NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(c.old)
              THEN abs(
                CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
        END,
        0
      ),
      6
    ) AS refunded_amount,
    max(
      0,
      CAST(
        round((julianday(c.last_seen_unchanged_at) - julianday(f.ordered_at)) * 86400000) AS INTEGER
      ) / 86400000
    ) AS days_at_least,
    max(
      0,
      (
        CAST(round((julianday(c.seen_changed_at) - julianday(f.ordered_at)) * 86400000) AS INTEGER) + 86399999
      ) / 86400000
    ) AS days_at_most,
    c.last_seen_unchanged_at, c.seen_changed_at, f.host_id, f.host_username, f.host_label
  FROM changes AS c
  JOIN order_figures AS f ON f.id = c.key AND f.orders = 1
  WHERE c.resource = 'orders'
    AND c.field = 'refund_amount'
    AND coalesce(
      CASE
        WHEN CASE
          WHEN c.new NOT GLOB '*[^-+.0-9eE]*'
            AND json_valid(c.new)
            THEN abs(
              CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
            ) <= 1.7976931348623157e308
        END
          THEN CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
      END,
      0
    ) <> coalesce(
      CASE
        WHEN CASE
          WHEN c.old NOT GLOB '*[^-+.0-9eE]*'
            AND json_valid(c.old)
            THEN abs(
              CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
            ) <= 1.7976931348623157e308
        END
          THEN CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
      END,
      0
    )
  ORDER BY c.change_id
);

-- one row per host, month (UTC) and currency with orders; orders without a host share one row; the figures from the
-- API's monthly ranking cover all currencies and are repeated in every row for the host
CREATE VIEW "hosts_by_month" AS
SELECT CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username,
  CAST(host_label AS TEXT) AS host_label, CAST(month AS TEXT) AS month, CAST(currency AS TEXT) AS currency,
  CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders,
  CAST(orders_without_total AS INTEGER) AS orders_without_total, CAST(gross_amount AS REAL) AS gross_amount,
  CAST(refunded_amount AS REAL) AS refunded_amount, CAST(net_amount AS REAL) AS net_amount,
  CAST(commission_amount AS REAL) AS commission_amount, CAST(clicks AS INTEGER) AS clicks,
  CAST(conversion_rate AS REAL) AS conversion_rate, CAST(ranking_orders AS INTEGER) AS ranking_orders,
  CAST(ranking_revenue AS REAL) AS ranking_revenue
FROM (
  WITH
    monthly_rankings AS (
      SELECT substr(t.period_start, 1, 7) AS month, coalesce(t.host_id, '') AS host,
        sum(t.total_clicks) AS clicks,
        CASE WHEN count(*) = 1 THEN max(t.conversion_rate) END AS conversion_rate,
        sum(t.orders) AS ranking_orders, round(sum(t.revenue), 6) AS ranking_revenue
      FROM analytics_clicks_top_hosts AS t
      WHERE t.asked_host_id IS NULL
        AND t.group_by = (
          SELECT p.group_by
          FROM analytics_clicks_periods AS p
          WHERE p.period_start = t.period_start AND p.host_id IS NULL
          ORDER BY p.synced_at DESC, p.group_by LIMIT 1
        )
      GROUP BY 1, 2 LIMIT -1
    )
  SELECT m.host_id AS host_id,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = m.host_id ORDER BY n.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(n.username, ''), n.name)
          FROM host_names AS n
          WHERE n.host_id = m.host_id
          ORDER BY n.read_at DESC LIMIT 1
        ),
        substr(m.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    m.month, m.currency, orders, cancelled_orders, orders_without_total, gross_amount, refunded_amount,
    net_amount, commission_amount, r.clicks, r.conversion_rate, r.ranking_orders, r.ranking_revenue
  FROM (
    SELECT host_id, month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
      sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount,
      round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount,
      round(total(commission_amount), 6) AS commission_amount
    FROM order_figures
    GROUP BY month, host_id, currency
  ) AS m
  LEFT JOIN monthly_rankings AS r ON r.month = m.month AND r.host = coalesce(m.host_id, '')
  ORDER BY m.month, m.host_id, m.currency
);

-- one row per host, with roster data, orders, net and commission by currency, products, and the API's all-time ranking;
-- orders without a host share one row
CREATE VIEW "hosts" AS
SELECT CAST(id AS TEXT) AS id, CAST(host_username AS TEXT) AS host_username,
  CAST(host_label AS TEXT) AS host_label, CAST(on_roster AS INTEGER) AS on_roster,
  CAST(commission_rate AS REAL) AS commission_rate, CAST(campaigns_status AS TEXT) AS campaigns_status,
  CAST(orders AS INTEGER) AS orders, CAST(cancelled_orders AS INTEGER) AS cancelled_orders,
  CAST(orders_without_total AS INTEGER) AS orders_without_total,
  CAST(net_by_currency AS TEXT) AS net_by_currency,
  CAST(commission_by_currency AS TEXT) AS commission_by_currency, CAST(clicks AS INTEGER) AS clicks,
  CAST(buy_now_clicks AS INTEGER) AS buy_now_clicks, CAST(ranking_orders AS INTEGER) AS ranking_orders,
  CAST(ranking_sales AS REAL) AS ranking_sales, CAST(recommended_products AS INTEGER) AS recommended_products,
  CAST(username AS TEXT) AS username
FROM (
  WITH
    host_ids AS (
      SELECT host_id AS id
      FROM roster
      UNION
      SELECT host_id AS id
      FROM orders
      UNION
      SELECT host_id AS id
      FROM recommendations
      UNION
      SELECT host_id AS id
      FROM analytics_hosts
    ),
    sales_by_currency AS (
      SELECT host_id, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
        sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount,
        round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount,
        round(total(commission_amount), 6) AS commission_amount
      FROM order_figures
      GROUP BY host_id, currency
    ),
    sales_by_host AS (
      SELECT coalesce(host_id, '') AS host, sum(orders) AS orders,
        sum(cancelled_orders) AS cancelled_orders, sum(orders_without_total) AS orders_without_total,
        json_group_object(coalesce(currency, '?'), net_amount) AS net_by_currency,
        json_group_object(coalesce(currency, '?'), commission_amount) AS commission_by_currency
      FROM sales_by_currency
      GROUP BY host_id LIMIT -1
    ),
    all_time_ranking AS (
      SELECT coalesce(host_id, '') AS host, sum(clicks) AS clicks, sum(buy_now_clicks) AS buy_now_clicks,
        sum(orders) AS orders, sum(sales) AS sales
      FROM analytics_hosts
      GROUP BY host_id LIMIT -1
    ),
    roster_members AS (
      SELECT host_id, max(commission_rate) AS commission_rate, max(campaigns_status) AS campaigns_status
      FROM roster
      GROUP BY host_id LIMIT -1
    ),
    recommended_products AS (
      SELECT host_id, max(product_count) AS products FROM recommendations GROUP BY host_id LIMIT -1
    )
  SELECT n.id,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = n.id ORDER BY n.read_at DESC LIMIT 1
    ) AS host_username,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = n.id ORDER BY n.read_at DESC LIMIT 1
    ) AS username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(n.username, ''), n.name)
          FROM host_names AS n
          WHERE n.host_id = n.id
          ORDER BY n.read_at DESC LIMIT 1
        ),
        substr(n.id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    m.host_id IS NOT NULL AS on_roster, m.commission_rate, m.campaigns_status,
    coalesce(s.orders, 0) AS orders, coalesce(s.cancelled_orders, 0) AS cancelled_orders,
    coalesce(s.orders_without_total, 0) AS orders_without_total, s.net_by_currency, s.commission_by_currency,
    r.clicks, r.buy_now_clicks, r.orders AS ranking_orders, round(r.sales, 6) AS ranking_sales,
    coalesce(p.products, 0) AS recommended_products
  FROM host_ids AS n
  LEFT JOIN roster_members AS m ON m.host_id = n.id
  LEFT JOIN sales_by_host AS s ON s.host = coalesce(n.id, '')
  LEFT JOIN all_time_ranking AS r ON r.host = coalesce(n.id, '')
  LEFT JOIN recommended_products AS p ON p.host_id = n.id
  ORDER BY n.id
);

-- one row per host and currency, with the commission earned on orders that are neither removed nor cancelled, and the
-- commission clawed back (the highest commission seen for each order minus the current one); the API does not report
-- payments
CREATE VIEW "commission_by_host" AS
SELECT CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username,
  CAST(host_label AS TEXT) AS host_label, CAST(currency AS TEXT) AS currency,
  CAST(orders AS INTEGER) AS orders, CAST(commission_amount AS REAL) AS commission_amount,
  CAST(taken_back AS REAL) AS taken_back
FROM (
  WITH
    stored_versions AS (
      SELECT v.record_id, v.version_id, v.since_at, v.until_at, v.present, v.month,
        CASE
          WHEN json_type(v.json, '$.currency') IN ('text') THEN json_extract(v.json, '$.currency')
        END AS currency,
        CASE
          json_type(v.json, '$.total_amount')
          WHEN 'integer' THEN json_extract(v.json, '$.total_amount')
          WHEN 'real' THEN json_extract(v.json, '$.total_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(v.json, '$.total_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(v.json, '$.total_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(v.json, '$.total_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(v.json, '$.total_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(v.json, '$.total_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(v.json, '$.total_amount') AS REAL)
                END
            END
        END AS total_amount,
        CASE
          json_type(v.json, '$.refund_amount')
          WHEN 'integer' THEN json_extract(v.json, '$.refund_amount')
          WHEN 'real' THEN json_extract(v.json, '$.refund_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(v.json, '$.refund_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(v.json, '$.refund_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(v.json, '$.refund_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(v.json, '$.refund_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(v.json, '$.refund_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(v.json, '$.refund_amount') AS REAL)
                END
            END
        END AS refund_amount,
        CASE
          json_type(v.json, '$.commission_amount')
          WHEN 'integer' THEN json_extract(v.json, '$.commission_amount')
          WHEN 'real' THEN json_extract(v.json, '$.commission_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(v.json, '$.commission_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(v.json, '$.commission_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(v.json, '$.commission_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(v.json, '$.commission_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(v.json, '$.commission_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(v.json, '$.commission_amount') AS REAL)
                END
            END
        END AS commission_amount,
        CASE
          WHEN json_type(v.json, '$.is_cancelled') IN ('true', 'false')
            THEN json_extract(v.json, '$.is_cancelled')
        END AS is_cancelled,
        CASE
          WHEN json_type(v.json, '$.host.id') IN ('text') THEN json_extract(v.json, '$.host.id')
        END AS host_id
      FROM record_versions AS v
      WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.record_id = v.record_id)
        OR EXISTS (SELECT 1 FROM orders_removed AS o WHERE o.record_id = v.record_id) LIMIT -1
    ),
    order_versions AS (
      SELECT record_id, version_id, since_at, until_at, present, month, currency, host_id,
        CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders,
        CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders,
        CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total,
        CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(total_amount, 0) END AS REAL) AS gross_amount,
        CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount,
        CAST(
          CASE
            WHEN is_cancelled IS 1 THEN NULL
            WHEN coalesce(refund_amount, 0) = 0 THEN coalesce(total_amount, 0)
            ELSE round(coalesce(total_amount, 0) - refund_amount, 6)
          END AS REAL
        ) AS net_amount,
        CAST(
          CASE WHEN is_cancelled IS NOT 1 THEN coalesce(commission_amount, 0) END AS REAL
        ) AS commission_amount
      FROM stored_versions LIMIT -1
    ),
    highest_commissions AS (
      SELECT record_id, host_id, currency, max(commission_amount) AS amount
      FROM order_versions
      WHERE orders
      GROUP BY record_id, host_id, currency LIMIT -1
    ),
    commission_parts AS (
      SELECT host_id, currency, orders, commission_amount, NULL AS taken
      FROM order_figures
      UNION ALL
      SELECT m.host_id, m.currency, 0, NULL,
        max(
          0,
          m.amount - coalesce(
            (
              SELECT o.commission_amount
              FROM orders AS o
              WHERE o.record_id = m.record_id
                AND o.is_cancelled IS NOT 1
                AND o.host_id IS m.host_id
                AND o.currency IS m.currency
            ),
            0
          )
        )
      FROM highest_commissions AS m
    )
  SELECT c.host_id AS host_id,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = c.host_id ORDER BY n.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(n.username, ''), n.name)
          FROM host_names AS n
          WHERE n.host_id = c.host_id
          ORDER BY n.read_at DESC LIMIT 1
        ),
        substr(c.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    currency, orders, commission_amount, taken_back
  FROM (
    SELECT host_id, currency, total(orders) AS orders,
      round(total(commission_amount), 6) AS commission_amount, round(total(taken), 6) AS taken_back
    FROM commission_parts
    GROUP BY host_id, currency
  ) AS c
  WHERE orders > 0 OR taken_back > 0
  ORDER BY host_id, currency
);

-- one row per roster change that a sync detected: a host joined or left, or a host's rate changed; hosts found by the
-- first sync do not count as changes (`roster` contains the dates on which they joined)
CREATE VIEW "roster_changes" AS
SELECT CAST(seen_at AS TEXT) AS seen_at, CAST(what AS TEXT) AS what, CAST(host_id AS TEXT) AS host_id,
  CAST(host_username AS TEXT) AS host_username, CAST(host_label AS TEXT) AS host_label,
  CAST(old AS REAL) AS old, CAST(new AS REAL) AS new, CAST(last_seen_at AS TEXT) AS last_seen_at,
  CAST(relationship_id AS TEXT) AS relationship_id
FROM (
  SELECT c.seen_changed_at AS seen_at,
    CASE c.kind WHEN 'changed' THEN 'rate' WHEN 'removed' THEN 'left' ELSE 'joined' END AS what,
    r.host_id AS host_id,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = r.host_id ORDER BY n.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(n.username, ''), n.name)
          FROM host_names AS n
          WHERE n.host_id = r.host_id
          ORDER BY n.read_at DESC LIMIT 1
        ),
        substr(r.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    CASE
      WHEN CASE
        WHEN c.old NOT GLOB '*[^-+.0-9eE]*'
          AND json_valid(c.old)
          THEN abs(
            CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
          ) <= 1.7976931348623157e308
      END
        THEN CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
    END AS old,
    CASE
      WHEN CASE
        WHEN c.new NOT GLOB '*[^-+.0-9eE]*'
          AND json_valid(c.new)
          THEN abs(
            CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
          ) <= 1.7976931348623157e308
      END
        THEN CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
    END AS new,
    c.last_seen_unchanged_at AS last_seen_at, r.relationship_id
  FROM changes AS c
  JOIN (
    SELECT relationship_id, host_id FROM roster UNION ALL SELECT relationship_id, host_id FROM roster_removed
  ) AS r ON r.relationship_id = c.key
  WHERE c.resource = 'roster'
    AND (
      c.kind <> 'changed'
      OR (
        c.field = 'commission_rate'
        AND CASE
          WHEN CASE
            WHEN c.old NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(c.old)
              THEN abs(
                CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(c.old) IN ('integer', 'real') THEN CAST(c.old AS REAL) END
        END IS NOT CASE
          WHEN CASE
            WHEN c.new NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(c.new)
              THEN abs(
                CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(c.new) IN ('integer', 'real') THEN CAST(c.new AS REAL) END
        END
      )
    )
  ORDER BY c.change_id
);

-- one row per host with files in the library; files without a host share one row
CREATE VIEW "content_by_host" AS
SELECT CAST(host_id AS TEXT) AS host_id, CAST(host_username AS TEXT) AS host_username,
  CAST(host_label AS TEXT) AS host_label, CAST(files AS INTEGER) AS files,
  CAST(deliverables AS INTEGER) AS deliverables, CAST(uploads AS INTEGER) AS uploads,
  CAST(images AS INTEGER) AS images, CAST(videos AS INTEGER) AS videos,
  CAST(campaigns AS INTEGER) AS campaigns, CAST(bytes AS INTEGER) AS bytes,
  CAST(last_added_at AS TEXT) AS last_added_at
FROM (
  SELECT c.host_id AS host_id,
    (
      SELECT n.username FROM host_names AS n WHERE n.host_id = c.host_id ORDER BY n.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(n.username, ''), n.name)
          FROM host_names AS n
          WHERE n.host_id = c.host_id
          ORDER BY n.read_at DESC LIMIT 1
        ),
        substr(c.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    count(*) AS files, total(source = 'deliverable') AS deliverables, total(source = 'upload') AS uploads,
    total(media_type = 'image') AS images, total(media_type = 'video') AS videos,
    count(DISTINCT opportunity_id) AS campaigns, total(file_size_bytes) AS bytes, created_at AS last_added_at,
    max(created_at_utc)
  FROM content AS c
  GROUP BY c.host_id
  ORDER BY host_id
);

-- one row per campaign that has open deliverables, open assignments, payments that the brand has not made, or payments
-- that hosts have earned but not received
CREATE VIEW "campaigns_owing" AS
SELECT CAST(id AS TEXT) AS id, CAST(title AS TEXT) AS title, CAST(status AS TEXT) AS status,
  CAST(deadline AS TEXT) AS deadline, CAST(is_overdue AS INTEGER) AS is_overdue,
  CAST(deliverables_open AS INTEGER) AS deliverables_open,
  CAST(assignments_open AS INTEGER) AS assignments_open, CAST(payments_open AS INTEGER) AS payments_open,
  CAST(payouts_open AS INTEGER) AS payouts_open, CAST(flat_fee AS REAL) AS flat_fee
FROM (
  SELECT *
  FROM (
    SELECT o.id, o.title, o.status, o.deadline,
      coalesce(
        d.open > 0
        AND coalesce(d.due, o.deadline) < (
          SELECT max(substr(started_at, 1, 10))
          FROM sync_runs
          WHERE resource = 'opportunities' AND outcome = 'done'
        ),
        0
      ) AS is_overdue,
      coalesce(d.open, 0) AS deliverables_open, total(a.status = 'ACTIVE') AS assignments_open,
      total(
        a.brand_payment_state NOT IN ('PAID', 'REFUNDED', 'NOT_INVOICED')
        OR (a.brand_payment_state = 'NOT_INVOICED' AND a.status = 'COMPLETED')
      ) AS payments_open,
      total(a.athlete_payment_state NOT IN ('PAID', 'NOT_EARNED')) AS payouts_open,
      o.payment_flatFee AS flat_fee
    FROM opportunities AS o
    LEFT JOIN opportunity_assignments AS a ON a.opportunity_id = o.id
    LEFT JOIN (
      SELECT opportunity_id, count(*) AS open, min(due_date) AS due
      FROM opportunity_deliverables
      WHERE completed_at IS NULL
      GROUP BY opportunity_id
    ) AS d ON d.opportunity_id = o.id
      AND o.status NOT IN ('DRAFT', 'READY', 'PROPOSED', 'DECLINED', 'ARCHIVED')
    GROUP BY o.id
  )
  WHERE deliverables_open + assignments_open + payments_open + payouts_open > 0
  ORDER BY id
);

-- one row per order that is neither removed nor cancelled, with its net after refunds; null amounts count as 0
CREATE VIEW "orders_net" AS
SELECT id, order_number, order_date, ordered_at, day, month, currency, gross_amount, refunded_amount,
  net_amount, commission_amount, is_cancelled, is_refunded, attribution, host_id, host_username, host_label,
  record_id
FROM order_figures
WHERE orders = 1;

-- one row per order that the API still returns, with its contribution to each total; a cancelled order is included only
-- in `cancelled_orders`; the other order views sum these rows
CREATE VIEW "order_figures" AS
SELECT id, order_number, order_date, order_date_utc AS ordered_at, day, month, currency,
  CAST(is_cancelled IS NOT 1 AS INTEGER) AS orders, CAST(is_cancelled IS 1 AS INTEGER) AS cancelled_orders,
  CAST(is_cancelled IS NOT 1 AND total_amount IS NULL AS INTEGER) AS orders_without_total,
  CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(total_amount, 0) END AS REAL) AS gross_amount,
  CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END AS REAL) AS refunded_amount,
  CAST(
    CASE
      WHEN is_cancelled IS 1 THEN NULL
      WHEN coalesce(refund_amount, 0) = 0 THEN coalesce(total_amount, 0)
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6)
    END AS REAL
  ) AS net_amount,
  CAST(CASE WHEN is_cancelled IS NOT 1 THEN coalesce(commission_amount, 0) END AS REAL) AS commission_amount,
  is_cancelled, is_refunded, attribution, o.host_id AS host_id,
  (
    SELECT n.username FROM host_names AS n WHERE n.host_id = o.host_id ORDER BY n.read_at DESC LIMIT 1
  ) AS host_username,
  CAST(
    coalesce(
      (
        SELECT coalesce(nullif(n.username, ''), n.name)
        FROM host_names AS n
        WHERE n.host_id = o.host_id
        ORDER BY n.read_at DESC LIMIT 1
      ),
      substr(o.host_id, 1, 8)
    ) AS TEXT
  ) AS host_label,
  product_id, product_title, synced_at, record_id
FROM orders AS o;
