import type { Mirror } from "../../mirror/index.js";
import { hostName } from "../views/figures.js";
import type { Days } from "./sales.js";

/** Clicks of some days and the orders that the API attributes to them. Unique counts do not add up over days. */
export interface Clicks {
  days: number;
  total_clicks: number;
  buy_now_clicks: number;
  orders: number;
}

/** A row of `campaigns_owing`. */
export interface Campaign {
  id: string;
  title: string | null;
  status: string | null;
  deadline: string | null;
  is_overdue: number;
  deliverables_open: number;
  assignments_open: number;
  payments_open: number;
  payouts_open: number;
}

/** Files that were added to the library, a row per host. */
export interface Delivered {
  host_id: string | null;
  host_name: string | null;
  files: number;
  images: number;
  videos: number;
  deliverables: number;
  newest_filename: string | null;
}

/** Returns null if the mirror holds none of these days. */
export function readClicks({ db }: Mirror, days: Days): Clicks | null {
  const clicks = db
    .prepare(
      `SELECT count(*) AS days, total(total_clicks) AS total_clicks, total(buy_now_clicks) AS buy_now_clicks,
         total(orders) AS orders
       FROM analytics_clicks WHERE group_by = 'day' AND host_id IS NULL AND date BETWEEN @since AND @until`,
    )
    .get(days) as Clicks;
  return clicks.days === 0 ? null : clicks;
}

/** Returns campaigns by their deadline: overdue ones first, those without a date last. */
export function readCampaigns({ db }: Mirror): Campaign[] {
  return db
    .prepare(
      `SELECT id, title, status, deadline, is_overdue, deliverables_open, assignments_open, payments_open, payouts_open
       FROM campaigns_owing ORDER BY is_overdue DESC, deadline IS NULL, deadline, title, id`,
    )
    .all() as Campaign[];
}

/** Returns hosts by the number of files that they delivered. */
export function readDelivered({ db }: Mirror, days: Days): Delivered[] {
  return db
    .prepare(
      `SELECT host_id, host_name, files, images, videos, deliverables, newest_filename FROM (
         SELECT host_id, ${hostName("host", "nullif(host_name, '')")} AS host_name, count(*) AS files, total(media_type = 'image') AS images,
           total(media_type = 'video') AS videos, total(source = 'deliverable') AS deliverables,
           filename AS newest_filename, max(created_at)
         FROM content WHERE removed_at IS NULL AND substr(created_at, 1, 10) BETWEEN @since AND @until GROUP BY host_id)
       ORDER BY files DESC, host_name, host_id`,
    )
    .all(days) as Delivered[];
}
