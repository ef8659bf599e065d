import type { Mirror } from "../mirror/index.js";
import type { ApiRecord } from "../resources/types.js";
import { valueAt } from "./values.js";

/** One host's all-time figures on a day; several rows without a host are added up under null. */
interface HostFigures {
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
export function keepSnapshot(mirror: Mirror, date: string, readAt: string, rows: readonly ApiRecord[]): void {
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
  for (const row of figuresOf(rows)) {
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

/** The host of a ranking's row; null where it has none. */
export function hostIdOf({ value }: ApiRecord): string | null {
  const id = valueAt(value, ["host", "id"]);
  return typeof id === "string" ? id : null;
}

function figuresOf(rows: readonly ApiRecord[]): HostFigures[] {
  const byHost = new Map<string | null, HostFigures>();
  for (const row of rows) {
    const id = hostIdOf(row);
    const username = valueAt(row.value, ["host", "username"]);
    const none = { host_id: id, host_username: typeof username === "string" ? username : null };
    const sum = byHost.get(id) ?? { ...none, clicks: 0, buy_now_clicks: 0, orders: 0, sales: 0 };
    for (const figure of ["clicks", "buy_now_clicks", "orders", "sales"] as const) {
      const value = valueAt(row.value, [figure]);
      if (typeof value === "number") sum[figure] += value;
    }
    byHost.set(id, sum);
  }
  return [...byHost.values()];
}
