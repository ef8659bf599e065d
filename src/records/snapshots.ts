import type { Mirror } from "../mirror/mirror.js";

/** One host's all-time figures on a day; several rows without a host are added up under null. */
export interface HostFigures {
  host_id: string | null;
  host_username: string | null;
  clicks: number;
  buy_now_clicks: number;
  orders: number;
  sales: number;
}

/**
 * Keeps a day's ranking: only hosts whose figures moved since the day before take a row, so a quiet night costs
 * nothing. A second snapshot of the same day replaces the first.
 */
export function keepSnapshot(
  mirror: Mirror,
  date: string,
  readAt: string,
  figures: readonly HostFigures[],
): void {
  const { db } = mirror;
  const last = db.prepare(
    `SELECT clicks, buy_now_clicks, orders, sales FROM analytics_hosts_snapshots
     WHERE host_id IS ? AND date < ? ORDER BY date DESC LIMIT 1`,
  );
  const insert = db.prepare(
    `INSERT INTO analytics_hosts_snapshots VALUES (@date, @host_id, @host_username, @clicks, @buy_now_clicks, @orders, @sales, @readAt)`,
  );
  db.prepare("DELETE FROM analytics_hosts_snapshots WHERE date = ?").run(date);
  db.prepare("INSERT OR REPLACE INTO analytics_hosts_days VALUES (?, ?)").run(date, readAt);
  for (const row of figures) {
    const before = last.get(row.host_id, date) as Omit<HostFigures, "host_id" | "host_username"> | undefined;
    const same =
      before &&
      before.clicks === row.clicks &&
      before.buy_now_clicks === row.buy_now_clicks &&
      before.orders === row.orders &&
      before.sales === row.sales;
    if (!same) insert.run({ ...row, date, readAt });
  }
}
