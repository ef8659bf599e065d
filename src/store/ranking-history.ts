import { amountsEqual, numberFromText } from "../util/amounts.js";
import { type Json, valueAt } from "../util/json-value.js";
import type { Mirror } from "./database.js";
import { createRedactor } from "./redaction-rules.js";

const figureNames = ["clicks", "buy_now_clicks", "orders", "sales"] as const;
const nullFigures = { clicks: null, buy_now_clicks: null, orders: null, sales: null };
const zeroFigures = { clicks: 0, buy_now_clicks: 0, orders: 0, sales: 0 };

/**
 * A host's all-time totals on a given day, or nulls if the host has left the ranking. Entries without a host are
 * combined.
 */
interface HostFigures extends Record<(typeof figureNames)[number], number | null> {
  host_id: string | null;
  host_username: string | null;
}

/**
 * Stores a day's ranking: a row for each host whose totals have changed since the previous ranking, with nulls for
 * hosts that have left the ranking. Replaces any earlier ranking from the same day.
 * @param date a day such as `2026-10-31`
 * @param readAt the time of the request (ISO 8601)
 */
export function saveRanking(mirror: Mirror, date: string, readAt: string, entries: readonly Json[]): void {
  const { db } = mirror;
  const redact = createRedactor(mirror);
  const findPrevious = db.prepare<[string | null, string], HostFigures>(
    `SELECT host_id, host_username, clicks, buy_now_clicks, orders, sales FROM analytics_hosts_snapshots
     WHERE host_id IS ? AND date < ? ORDER BY date DESC LIMIT 1`,
  );
  const insert = db.prepare(
    `INSERT INTO analytics_hosts_snapshots
     VALUES (@date, @host_id, @host_username, @clicks, @buy_now_clicks, @orders, @sales, @readAt)`,
  );
  const listHosts = db
    .prepare<[], string | null>("SELECT DISTINCT host_id FROM analytics_hosts_snapshots")
    .pluck();
  db.prepare("DELETE FROM analytics_hosts_snapshots WHERE date = ?").run(date);
  db.prepare("INSERT OR REPLACE INTO analytics_hosts_days VALUES (?, ?)").run(date, readAt);
  const ranked = sumByHost(entries.map((entry) => redact(entry, "analytics-hosts")));
  for (const id of new Set([...listHosts.all(), ...ranked.keys()])) {
    const previous = findPrevious.get(id, date) ?? { host_id: id, host_username: null, ...nullFigures };
    const current = ranked.get(id) ?? { ...previous, ...nullFigures };
    if (figureNames.some((figure) => !isSameFigure(previous[figure], current[figure])))
      insert.run({ ...current, date, readAt });
  }
}

function isSameFigure(a: number | null, b: number | null): boolean {
  return a === null || b === null ? a === b : amountsEqual(a, b);
}

/** Returns the host's ID in a ranking entry, or null if there is none. */
export function rankedHostId(entry: Json): string | null {
  const id = valueAt(entry, ["host", "id"]);
  return typeof id === "string" ? id : null;
}

function sumByHost(entries: readonly Json[]): Map<string | null, HostFigures> {
  const byHost = new Map<string | null, HostFigures>();
  for (const entry of entries) {
    const id = rankedHostId(entry);
    const username = valueAt(entry, ["host", "username"]);
    const host = { host_id: id, host_username: typeof username === "string" ? username : null };
    const sums: HostFigures = byHost.get(id) ?? { ...host, ...zeroFigures };
    for (const figure of figureNames) {
      const sent = valueAt(entry, [figure]);
      const value = typeof sent === "string" ? numberFromText(sent) : sent;
      if (typeof value === "number") sums[figure] = (sums[figure] ?? 0) + value;
    }
    byHost.set(id, sums);
  }
  return byHost;
}
