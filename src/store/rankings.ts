import { amountsEqual, numberFromText } from "../util/amounts.js";
import type { Json } from "../util/json-value.js";
import type { Mirror } from "./database.js";
import { createRedactor } from "./redaction-rules.js";
import { valueAt } from "./values.js";

const figureNames = ["clicks", "buy_now_clicks", "orders", "sales"] as const;
const none = { clicks: null, buy_now_clicks: null, orders: null, sales: null };
const zero = { clicks: 0, buy_now_clicks: 0, orders: 0, sales: 0 };

/** One host's all-time figures on a day; null: it has left. Rows without a host are added up under null. */
interface HostFigures extends Record<(typeof figureNames)[number], number | null> {
  host_id: string | null;
  host_username: string | null;
}

/**
 * Stores a day's ranking: a row per host whose figures moved since the day before, and one without figures per host
 * that left. A second snapshot of a day replaces the first.
 */
export function saveRanking(mirror: Mirror, date: string, readAt: string, rows: readonly Json[]): void {
  const { db } = mirror;
  const door = createRedactor(mirror);
  const last = db.prepare<[string | null, string], HostFigures>(
    `SELECT host_id, host_username, clicks, buy_now_clicks, orders, sales FROM analytics_hosts_snapshots
     WHERE host_id IS ? AND date < ? ORDER BY date DESC LIMIT 1`,
  );
  const insert = db.prepare(
    `INSERT INTO analytics_hosts_snapshots
     VALUES (@date, @host_id, @host_username, @clicks, @buy_now_clicks, @orders, @sales, @readAt)`,
  );
  const known = db
    .prepare<[], string | null>("SELECT DISTINCT host_id FROM analytics_hosts_snapshots")
    .pluck();
  db.prepare("DELETE FROM analytics_hosts_snapshots WHERE date = ?").run(date);
  db.prepare("INSERT OR REPLACE INTO analytics_hosts_days VALUES (?, ?)").run(date, readAt);
  const ranked = sumByHost(rows.map((row) => door(row, "analytics-hosts")));
  for (const id of new Set([...known.all(), ...ranked.keys()])) {
    const before = last.get(id, date) ?? { host_id: id, host_username: null, ...none };
    const now = ranked.get(id) ?? { ...before, ...none };
    if (figureNames.some((figure) => !sameFigure(before[figure], now[figure])))
      insert.run({ ...now, date, readAt });
  }
}

function sameFigure(a: number | null, b: number | null): boolean {
  return a === null || b === null ? a === b : amountsEqual(a, b);
}

/** Returns the host of a ranking's row; null if it has none. */
export function rankedHostId(value: Json): string | null {
  const id = valueAt(value, ["host", "id"]);
  return typeof id === "string" ? id : null;
}

function sumByHost(rows: readonly Json[]): Map<string | null, HostFigures> {
  const byHost = new Map<string | null, HostFigures>();
  for (const row of rows) {
    const id = rankedHostId(row);
    const username = valueAt(row, ["host", "username"]);
    const named = { host_id: id, host_username: typeof username === "string" ? username : null };
    const sum: HostFigures = byHost.get(id) ?? { ...named, ...zero };
    for (const figure of figureNames) {
      const sent = valueAt(row, [figure]);
      const value = typeof sent === "string" ? numberFromText(sent) : sent;
      if (typeof value === "number") sum[figure] = (sum[figure] ?? 0) + value;
    }
    byHost.set(id, sum);
  }
  return byHost;
}
