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
          WHERE from_at <= before || '-01T00:00:00.000Z' AND to_at >= sums.month || '-01T00:00:00.000Z'
        )
        THEN (
          SELECT CASE
            WHEN count(*) > 0
              THEN round(total(CASE WHEN days.nth <= sums.through THEN days.net_amount END), 6)
          END
          FROM (SELECT 1 LIMIT 1)
          JOIN numbered_days AS days
          WHERE days.month = sums.before AND days.currency IS sums.currency
        )
    END AS net_before
  FROM monthly_sums AS sums
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
      SELECT versions.record_id, versions.version_id, versions.since_at, versions.until_at,
        versions.present, versions.month,
        CASE
          WHEN json_type(versions.json, '$.currency') IN ('text')
            THEN json_extract(versions.json, '$.currency')
        END AS currency,
        CASE
          json_type(versions.json, '$.total_amount')
          WHEN 'integer' THEN json_extract(versions.json, '$.total_amount')
          WHEN 'real' THEN json_extract(versions.json, '$.total_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(versions.json, '$.total_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(versions.json, '$.total_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(versions.json, '$.total_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(versions.json, '$.total_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(versions.json, '$.total_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(versions.json, '$.total_amount') AS REAL)
                END
            END
        END AS total_amount,
        CASE
          json_type(versions.json, '$.refund_amount')
          WHEN 'integer' THEN json_extract(versions.json, '$.refund_amount')
          WHEN 'real' THEN json_extract(versions.json, '$.refund_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(versions.json, '$.refund_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(versions.json, '$.refund_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(versions.json, '$.refund_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(versions.json, '$.refund_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(versions.json, '$.refund_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(versions.json, '$.refund_amount') AS REAL)
                END
            END
        END AS refund_amount,
        CASE
          json_type(versions.json, '$.commission_amount')
          WHEN 'integer' THEN json_extract(versions.json, '$.commission_amount')
          WHEN 'real' THEN json_extract(versions.json, '$.commission_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(versions.json, '$.commission_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(versions.json, '$.commission_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(
                        json_extract(versions.json, '$.commission_amount')
                      ) IN ('integer', 'real')
                        THEN CAST(json_extract(versions.json, '$.commission_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(versions.json, '$.commission_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(versions.json, '$.commission_amount') AS REAL)
                END
            END
        END AS commission_amount,
        CASE
          WHEN json_type(versions.json, '$.is_cancelled') IN ('true', 'false')
            THEN json_extract(versions.json, '$.is_cancelled')
        END AS is_cancelled,
        CASE
          WHEN json_type(versions.json, '$.host.id') IN ('text') THEN json_extract(versions.json, '$.host.id')
        END AS host_id
      FROM record_versions AS versions
      WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.record_id = versions.record_id)
        OR EXISTS (
          SELECT 1 FROM orders_removed AS removed WHERE removed.record_id = versions.record_id
        ) LIMIT -1
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
    latest_versions AS (
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
      FROM (SELECT month FROM latest_versions UNION SELECT month FROM order_versions) LIMIT -1
    ),
    changed_months AS (
      SELECT record_id, month, reported_at,
        (
          SELECT max(versions.version_id)
          FROM record_versions AS versions
          WHERE versions.record_id = changed.record_id
            AND versions.since_at <= changed.reported_at
            AND versions.until_at > changed.reported_at
        ) AS version_id
      FROM (
        SELECT latest.record_id, months.month, months.reported_at
        FROM latest_versions AS latest
        JOIN reported_months AS months ON months.month = latest.month
        WHERE latest.since_at > months.reported_at
        UNION
        SELECT latest.record_id, months.month, months.reported_at
        FROM order_versions AS earlier
        JOIN reported_months AS months ON months.month = earlier.month
          AND earlier.since_at <= months.reported_at
          AND earlier.until_at > months.reported_at
        JOIN latest_versions AS latest ON latest.record_id = earlier.record_id
          AND latest.since_at > months.reported_at
      ) AS changed LIMIT -1
    ),
    old_and_new_states AS (
      SELECT changed.record_id, changed.month, changed.reported_at, latest.since_at AS seen_at,
        earlier.present AND earlier.month = changed.month AS was_in, earlier.currency AS old_currency,
        earlier.net_amount AS old, latest.present AND latest.month = changed.month AS is_in,
        latest.currency AS new_currency, latest.net_amount AS new,
        CASE
          WHEN NOT latest.present THEN 'withdrawn'
          WHEN latest.cancelled_orders THEN 'cancelled'
          WHEN earlier.version_id IS NULL THEN 'late'
          WHEN NOT earlier.present THEN 'returned'
          WHEN earlier.cancelled_orders THEN 'reinstated'
          WHEN earlier.month IS NOT latest.month THEN 'redated'
          WHEN earlier.currency IS NOT latest.currency THEN 'currency'
          WHEN earlier.gross_amount IS latest.gross_amount THEN 'refunded'
          ELSE 'amount'
        END AS what
      FROM changed_months AS changed
      JOIN latest_versions AS latest ON latest.record_id = changed.record_id
      LEFT JOIN order_versions AS earlier ON earlier.version_id = changed.version_id LIMIT -1
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
  SELECT nets.month, nets.currency, nets.reported_at, latest.id AS order_id, latest.order_number,
    latest.order_date, nets.net_reported, nets.net_now,
    round(nets.net_now - nets.net_reported, 6) AS difference, nets.what, nets.seen_at,
    latest.host_id AS host_id,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = latest.host_id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(names.username, ''), names.name)
          FROM host_names AS names
          WHERE names.host_id = latest.host_id
          ORDER BY names.read_at DESC LIMIT 1
        ),
        substr(latest.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label
  FROM restated_nets AS nets
  JOIN latest_versions AS latest ON latest.record_id = nets.record_id
  WHERE nets.net_now <> nets.net_reported
  ORDER BY nets.month, nets.currency, latest.order_date_utc, latest.id
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
  SELECT figures.id AS order_id, figures.order_number, figures.order_date, figures.month, figures.currency,
    round(
      coalesce(
        CASE
          WHEN CASE
            WHEN changes.new NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(changes.new)
              THEN abs(
                CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
        END,
        0
      ) - coalesce(
        CASE
          WHEN CASE
            WHEN changes.old NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(changes.old)
              THEN abs(
                CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
        END,
        0
      ),
      6
    ) AS refunded_amount,
    max(
      0,
      CAST(
        round(
          (julianday(changes.last_seen_unchanged_at) - julianday(figures.ordered_at)) * 86400000
        ) AS INTEGER
      ) / 86400000
    ) AS days_at_least,
    max(
      0,
      (
        CAST(
          round((julianday(changes.seen_changed_at) - julianday(figures.ordered_at)) * 86400000) AS INTEGER
        ) + 86399999
      ) / 86400000
    ) AS days_at_most,
    changes.last_seen_unchanged_at, changes.seen_changed_at, figures.host_id, figures.host_username,
    figures.host_label
  FROM changes
  JOIN order_figures AS figures ON figures.id = changes.key AND figures.orders = 1
  WHERE changes.resource = 'orders'
    AND changes.field = 'refund_amount'
    AND coalesce(
      CASE
        WHEN CASE
          WHEN changes.new NOT GLOB '*[^-+.0-9eE]*'
            AND json_valid(changes.new)
            THEN abs(
              CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
            ) <= 1.7976931348623157e308
        END
          THEN CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
      END,
      0
    ) <> coalesce(
      CASE
        WHEN CASE
          WHEN changes.old NOT GLOB '*[^-+.0-9eE]*'
            AND json_valid(changes.old)
            THEN abs(
              CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
            ) <= 1.7976931348623157e308
        END
          THEN CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
      END,
      0
    )
  ORDER BY changes.change_id
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
      SELECT substr(entries.period_start, 1, 7) AS month, coalesce(entries.host_id, '') AS host,
        sum(entries.total_clicks) AS clicks,
        CASE WHEN count(*) = 1 THEN max(entries.conversion_rate) END AS conversion_rate,
        sum(entries.orders) AS ranking_orders, round(sum(entries.revenue), 6) AS ranking_revenue
      FROM analytics_clicks_top_hosts AS entries
      WHERE entries.asked_host_id IS NULL
        AND entries.group_by = (
          SELECT periods.group_by
          FROM analytics_clicks_periods AS periods
          WHERE periods.period_start = entries.period_start AND periods.host_id IS NULL
          ORDER BY periods.synced_at DESC, periods.group_by LIMIT 1
        )
      GROUP BY 1, 2 LIMIT -1
    )
  SELECT sales.host_id AS host_id,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = sales.host_id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(names.username, ''), names.name)
          FROM host_names AS names
          WHERE names.host_id = sales.host_id
          ORDER BY names.read_at DESC LIMIT 1
        ),
        substr(sales.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    sales.month, sales.currency, orders, cancelled_orders, orders_without_total, gross_amount,
    refunded_amount, net_amount, commission_amount, rankings.clicks, rankings.conversion_rate,
    rankings.ranking_orders, rankings.ranking_revenue
  FROM (
    SELECT host_id, month, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
      sum(orders_without_total) AS orders_without_total, round(total(gross_amount), 6) AS gross_amount,
      round(total(refunded_amount), 6) AS refunded_amount, round(total(net_amount), 6) AS net_amount,
      round(total(commission_amount), 6) AS commission_amount
    FROM order_figures
    GROUP BY month, host_id, currency
  ) AS sales
  LEFT JOIN monthly_rankings AS rankings ON rankings.month = sales.month
    AND rankings.host = coalesce(sales.host_id, '')
  ORDER BY sales.month, sales.host_id, sales.currency
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
  SELECT ids.id,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = ids.id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS host_username,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = ids.id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(names.username, ''), names.name)
          FROM host_names AS names
          WHERE names.host_id = ids.id
          ORDER BY names.read_at DESC LIMIT 1
        ),
        substr(ids.id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    members.host_id IS NOT NULL AS on_roster, members.commission_rate, members.campaigns_status,
    coalesce(sales_by_host.orders, 0) AS orders,
    coalesce(sales_by_host.cancelled_orders, 0) AS cancelled_orders,
    coalesce(sales_by_host.orders_without_total, 0) AS orders_without_total, sales_by_host.net_by_currency,
    sales_by_host.commission_by_currency, ranking.clicks, ranking.buy_now_clicks,
    ranking.orders AS ranking_orders, round(ranking.sales, 6) AS ranking_sales,
    coalesce(recommended.products, 0) AS recommended_products
  FROM host_ids AS ids
  LEFT JOIN roster_members AS members ON members.host_id = ids.id
  LEFT JOIN sales_by_host ON sales_by_host.host = coalesce(ids.id, '')
  LEFT JOIN all_time_ranking AS ranking ON ranking.host = coalesce(ids.id, '')
  LEFT JOIN recommended_products AS recommended ON recommended.host_id = ids.id
  ORDER BY ids.id
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
      SELECT versions.record_id, versions.version_id, versions.since_at, versions.until_at,
        versions.present, versions.month,
        CASE
          WHEN json_type(versions.json, '$.currency') IN ('text')
            THEN json_extract(versions.json, '$.currency')
        END AS currency,
        CASE
          json_type(versions.json, '$.total_amount')
          WHEN 'integer' THEN json_extract(versions.json, '$.total_amount')
          WHEN 'real' THEN json_extract(versions.json, '$.total_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(versions.json, '$.total_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(versions.json, '$.total_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(versions.json, '$.total_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(versions.json, '$.total_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(versions.json, '$.total_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(versions.json, '$.total_amount') AS REAL)
                END
            END
        END AS total_amount,
        CASE
          json_type(versions.json, '$.refund_amount')
          WHEN 'integer' THEN json_extract(versions.json, '$.refund_amount')
          WHEN 'real' THEN json_extract(versions.json, '$.refund_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(versions.json, '$.refund_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(versions.json, '$.refund_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(json_extract(versions.json, '$.refund_amount')) IN ('integer', 'real')
                        THEN CAST(json_extract(versions.json, '$.refund_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(versions.json, '$.refund_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(versions.json, '$.refund_amount') AS REAL)
                END
            END
        END AS refund_amount,
        CASE
          json_type(versions.json, '$.commission_amount')
          WHEN 'integer' THEN json_extract(versions.json, '$.commission_amount')
          WHEN 'real' THEN json_extract(versions.json, '$.commission_amount')
          WHEN 'text'
            THEN CASE
              WHEN CASE
                WHEN json_extract(versions.json, '$.commission_amount') NOT GLOB '*[^-+.0-9eE]*'
                  AND json_valid(json_extract(versions.json, '$.commission_amount'))
                  THEN abs(
                    CASE
                      WHEN json_type(
                        json_extract(versions.json, '$.commission_amount')
                      ) IN ('integer', 'real')
                        THEN CAST(json_extract(versions.json, '$.commission_amount') AS REAL)
                    END
                  ) <= 1.7976931348623157e308
              END
                THEN CASE
                  WHEN json_type(json_extract(versions.json, '$.commission_amount')) IN ('integer', 'real')
                    THEN CAST(json_extract(versions.json, '$.commission_amount') AS REAL)
                END
            END
        END AS commission_amount,
        CASE
          WHEN json_type(versions.json, '$.is_cancelled') IN ('true', 'false')
            THEN json_extract(versions.json, '$.is_cancelled')
        END AS is_cancelled,
        CASE
          WHEN json_type(versions.json, '$.host.id') IN ('text') THEN json_extract(versions.json, '$.host.id')
        END AS host_id
      FROM record_versions AS versions
      WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.record_id = versions.record_id)
        OR EXISTS (
          SELECT 1 FROM orders_removed AS removed WHERE removed.record_id = versions.record_id
        ) LIMIT -1
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
      SELECT highest.host_id, highest.currency, 0, NULL,
        max(
          0,
          highest.amount - coalesce(
            (
              SELECT o.commission_amount
              FROM orders AS o
              WHERE o.record_id = highest.record_id
                AND o.is_cancelled IS NOT 1
                AND o.host_id IS highest.host_id
                AND o.currency IS highest.currency
            ),
            0
          )
        )
      FROM highest_commissions AS highest
    )
  SELECT commissions.host_id AS host_id,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = commissions.host_id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(names.username, ''), names.name)
          FROM host_names AS names
          WHERE names.host_id = commissions.host_id
          ORDER BY names.read_at DESC LIMIT 1
        ),
        substr(commissions.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    currency, orders, commission_amount, taken_back
  FROM (
    SELECT host_id, currency, total(orders) AS orders,
      round(total(commission_amount), 6) AS commission_amount, round(total(taken), 6) AS taken_back
    FROM commission_parts
    GROUP BY host_id, currency
  ) AS commissions
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
  SELECT changes.seen_changed_at AS seen_at,
    CASE changes.kind WHEN 'changed' THEN 'rate' WHEN 'removed' THEN 'left' ELSE 'joined' END AS what,
    members.host_id AS host_id,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = members.host_id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(names.username, ''), names.name)
          FROM host_names AS names
          WHERE names.host_id = members.host_id
          ORDER BY names.read_at DESC LIMIT 1
        ),
        substr(members.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    CASE
      WHEN CASE
        WHEN changes.old NOT GLOB '*[^-+.0-9eE]*'
          AND json_valid(changes.old)
          THEN abs(
            CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
          ) <= 1.7976931348623157e308
      END
        THEN CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
    END AS old,
    CASE
      WHEN CASE
        WHEN changes.new NOT GLOB '*[^-+.0-9eE]*'
          AND json_valid(changes.new)
          THEN abs(
            CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
          ) <= 1.7976931348623157e308
      END
        THEN CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
    END AS new,
    changes.last_seen_unchanged_at AS last_seen_at, members.relationship_id
  FROM changes
  JOIN (
    SELECT relationship_id, host_id FROM roster UNION ALL SELECT relationship_id, host_id FROM roster_removed
  ) AS members ON members.relationship_id = changes.key
  WHERE changes.resource = 'roster'
    AND (
      changes.kind <> 'changed'
      OR (
        changes.field = 'commission_rate'
        AND CASE
          WHEN CASE
            WHEN changes.old NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(changes.old)
              THEN abs(
                CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(changes.old) IN ('integer', 'real') THEN CAST(changes.old AS REAL) END
        END IS NOT CASE
          WHEN CASE
            WHEN changes.new NOT GLOB '*[^-+.0-9eE]*'
              AND json_valid(changes.new)
              THEN abs(
                CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
              ) <= 1.7976931348623157e308
          END
            THEN CASE WHEN json_type(changes.new) IN ('integer', 'real') THEN CAST(changes.new AS REAL) END
        END
      )
    )
  ORDER BY changes.change_id
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
  SELECT content.host_id AS host_id,
    (
      SELECT names.username
      FROM host_names AS names
      WHERE names.host_id = content.host_id
      ORDER BY names.read_at DESC LIMIT 1
    ) AS host_username,
    CAST(
      coalesce(
        (
          SELECT coalesce(nullif(names.username, ''), names.name)
          FROM host_names AS names
          WHERE names.host_id = content.host_id
          ORDER BY names.read_at DESC LIMIT 1
        ),
        substr(content.host_id, 1, 8)
      ) AS TEXT
    ) AS host_label,
    count(*) AS files, total(source = 'deliverable') AS deliverables, total(source = 'upload') AS uploads,
    total(media_type = 'image') AS images, total(media_type = 'video') AS videos,
    count(DISTINCT opportunity_id) AS campaigns, total(file_size_bytes) AS bytes, created_at AS last_added_at,
    max(created_at_utc)
  FROM content
  GROUP BY content.host_id
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
    SELECT opportunities.id, opportunities.title, opportunities.status, opportunities.deadline,
      coalesce(
        deliverables.open > 0
        AND coalesce(deliverables.due, opportunities.deadline) < (
          SELECT max(substr(started_at, 1, 10))
          FROM sync_runs
          WHERE resource = 'opportunities' AND outcome = 'done'
        ),
        0
      ) AS is_overdue,
      coalesce(deliverables.open, 0) AS deliverables_open,
      total(assignments.status = 'ACTIVE') AS assignments_open,
      total(
        assignments.brand_payment_state NOT IN ('PAID', 'REFUNDED', 'NOT_INVOICED')
        OR (assignments.brand_payment_state = 'NOT_INVOICED' AND assignments.status = 'COMPLETED')
      ) AS payments_open,
      total(assignments.athlete_payment_state NOT IN ('PAID', 'NOT_EARNED')) AS payouts_open,
      opportunities.payment_flatFee AS flat_fee
    FROM opportunities
    LEFT JOIN opportunity_assignments AS assignments ON assignments.opportunity_id = opportunities.id
    LEFT JOIN (
      SELECT opportunity_id, count(*) AS open, min(due_date) AS due
      FROM opportunity_deliverables
      WHERE completed_at IS NULL
      GROUP BY opportunity_id
    ) AS deliverables ON deliverables.opportunity_id = opportunities.id
      AND opportunities.status NOT IN ('DRAFT', 'READY', 'PROPOSED', 'DECLINED', 'ARCHIVED')
    GROUP BY opportunities.id
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
    SELECT names.username
    FROM host_names AS names
    WHERE names.host_id = o.host_id
    ORDER BY names.read_at DESC LIMIT 1
  ) AS host_username,
  CAST(
    coalesce(
      (
        SELECT coalesce(nullif(names.username, ''), names.name)
        FROM host_names AS names
        WHERE names.host_id = o.host_id
        ORDER BY names.read_at DESC LIMIT 1
      ),
      substr(o.host_id, 1, 8)
    ) AS TEXT
  ) AS host_label,
  product_id, product_title, synced_at, record_id
FROM orders AS o;
