import type { Mirror } from "../mirror/index.js";
import type { Json } from "../resources/types.js";
import { valueAt } from "./values.js";

/** One host's all-time figures on a day; rows without a host are added up under null. */
interface HostFigures {
  host_id: string | null;
  host_username: string | null;
  clicks: number;
  buy_now_clicks: number;
  orders: number;
  sales: number;
}

/**
 * Stores a day's ranking: a row per host whose figures moved since the day before, and one without figures per host
 * that left. A second snapshot of a day replaces the first, unless there is a later day, which builds on it.
 */
export function keepSnapshot(mirror: Mirror, date: string, readAt: string, rows: readonly Json[]): void {
  const { db } = mirror;
  const isThere = db.prepare("SELECT 1 FROM analytics_hosts_days WHERE date = ?").get(date) !== undefined;
  if (isThere && db.prepare("SELECT 1 FROM analytics_hosts_days WHERE date > ?").get(date)) return;
  const last = db.prepare<[string | null, string], HostFigures | GoneHost>(
    `SELECT host_id, host_username, clicks, buy_now_clicks, orders, sales FROM analytics_hosts_snapshots
     WHERE host_id IS ? AND date < ? ORDER BY date DESC LIMIT 1`,
  );
  const insert = db.prepare(
    `INSERT INTO analytics_hosts_snapshots VALUES (@date, @host_id, @host_username, @clicks, @buy_now_clicks, @orders, @sales, @readAt)`,
  );
  db.prepare("DELETE FROM analytics_hosts_snapshots WHERE date = ?").run(date);
  db.prepare("INSERT OR REPLACE INTO analytics_hosts_days VALUES (?, ?)").run(date, readAt);
  const ranked = figuresOf(rows);
  for (const row of ranked.values()) {
    const before = last.get(row.host_id, date);
    const same =
      before &&
      before.clicks === row.clicks &&
      before.buy_now_clicks === row.buy_now_clicks &&
      before.orders === row.orders &&
      before.sales === row.sales;
    if (!same) insert.run({ ...row, date, readAt });
  }
  const known = db
    .prepare<[], string | null>("SELECT DISTINCT host_id FROM analytics_hosts_snapshots")
    .pluck();
  for (const id of known.all()) {
    const before = ranked.has(id) ? undefined : last.get(id, date);
    if (before && before.clicks !== null) insert.run({ ...before, ...none, date, readAt });
  }
}

const none = { clicks: null, buy_now_clicks: null, orders: null, sales: null };
type GoneHost = Pick<HostFigures, "host_id" | "host_username"> & typeof none;

/** Returns the host of a ranking's row; null if it has none. */
export function hostIdOf(value: Json): string | null {
  const id = valueAt(value, ["host", "id"]);
  return typeof id === "string" ? id : null;
}

function figuresOf(rows: readonly Json[]): Map<string | null, HostFigures> {
  const byHost = new Map<string | null, HostFigures>();
  for (const row of rows) {
    const id = hostIdOf(row);
    const username = valueAt(row, ["host", "username"]);
    const named = { host_id: id, host_username: typeof username === "string" ? username : null };
    const sum = byHost.get(id) ?? { ...named, clicks: 0, buy_now_clicks: 0, orders: 0, sales: 0 };
    for (const figure of ["clicks", "buy_now_clicks", "orders", "sales"] as const) {
      const value = valueAt(row, [figure]);
      if (typeof value === "number") sum[figure] += value;
    }
    byHost.set(id, sum);
  }
  return byHost;
}
