import { date, integer, number, text, timestamp } from "../../resources/types.js";
import type { Definition } from "./view.js";

export const rosterChanges: Definition = {
  about:
    "one change of the roster that this mirror saw: who joined, who left, whose rate is another; those whom the first " +
    "sync found are no change, `roster` says when they joined",
  columns: [
    timestamp("seen_at", "when it was first seen"),
    text("what", "`joined`, `left` or `rate`"),
    text("host_id"),
    text("host_username"),
    number("old", "the commission rate before, percentage; null where somebody joined or left"),
    number("new", "the rate since then"),
    timestamp("last_seen_at", "when it was last seen as before: the change came between the two"),
    text("relationship_id"),
  ],
  date: "seen_at",
  example: `SELECT seen_at, what, host_username, old, new FROM roster_changes
WHERE seen_at >= date('now', 'start of month', '-1 month') ORDER BY seen_at`,
  sql: `SELECT c.seen_changed_at AS seen_at,
      CASE c.kind WHEN 'changed' THEN 'rate' WHEN 'removed' THEN 'left' ELSE 'joined' END AS what,
      r.host_id, r.host_username, c.old AS old, c.new AS new,
      c.last_seen_unchanged_at AS last_seen_at, r.relationship_id
    FROM changes AS c JOIN roster AS r ON r.relationship_id = c.key
    WHERE c.resource = 'roster' AND (c.kind <> 'changed' OR c.field = 'commission_rate') ORDER BY c.change_id`,
};

export const contentByHost: Definition = {
  about: "a host with files in the library; the files that are of no host are a row too",
  columns: [
    text("host_id"),
    text("host_username"),
    integer("files"),
    integer("deliverables", "files that a campaign asked for"),
    integer("uploads"),
    integer("images"),
    integer("videos"),
    integer("campaigns", "campaigns that the files belong to"),
    integer("bytes"),
    timestamp("last_added_at"),
  ],
  example:
    "SELECT host_username, files, images, videos, last_added_at FROM content_by_host ORDER BY files DESC LIMIT 10",
  sql: `SELECT host_id, host_username, count(*) AS files,
      total(source = 'deliverable') AS deliverables, total(source = 'upload') AS uploads,
      total(media_type = 'image') AS images, total(media_type = 'video') AS videos,
      count(DISTINCT opportunity_id) AS campaigns, total(file_size_bytes) AS bytes,
      max(created_at) AS last_added_at
    FROM content WHERE removed_at IS NULL GROUP BY host_id ORDER BY host_id`,
};

export const analyticsHostsDaily: Definition = {
  about:
    "clicks and sales of a host on a day: differences of the all-time totals between one snapshot and the one before " +
    "(`since`)",
  columns: [
    date("date"),
    date("since", "the day of the snapshot before"),
    text("host_id"),
    text("host_username"),
    integer("clicks"),
    integer("buy_now_clicks"),
    integer("orders"),
    number("sales"),
  ],
  date: "date",
  example: "SELECT date, sum(clicks), sum(sales) FROM analytics_hosts_daily GROUP BY date",
  sql: `SELECT date, since, host_id, host_username, clicks, buy_now_clicks, orders, sales FROM (
      SELECT s.date, (SELECT max(d.date) FROM analytics_hosts_days d WHERE d.date < s.date) AS since,
        s.host_id, s.host_username, s.clicks - coalesce(lag(s.clicks) OVER w, 0) AS clicks,
        s.buy_now_clicks - coalesce(lag(s.buy_now_clicks) OVER w, 0) AS buy_now_clicks,
        s.orders - coalesce(lag(s.orders) OVER w, 0) AS orders,
        round(s.sales - coalesce(lag(s.sales) OVER w, 0), 6) AS sales
      FROM analytics_hosts_snapshots s WHERE s.clicks IS NOT NULL WINDOW w AS (PARTITION BY s.host_id ORDER BY s.date)
    ) WHERE since IS NOT NULL`,
};
