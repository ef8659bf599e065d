import { type Json, valueAt } from "../util/json-value.js";
import { amountsEqual, parseJsonNumber } from "../util/numbers.js";
import { formatInstant } from "../util/timestamps.js";
import type { Mirror } from "./database.js";
import { createRedactor } from "./redaction-rules.js";

const totalNames = ["clicks", "buy_now_clicks", "orders", "sales"] as const;
type Totals = Record<(typeof totalNames)[number], number | null>;
const noTotals: Totals = { clicks: null, buy_now_clicks: null, orders: null, sales: null };
const zeroTotals: Totals = { clicks: 0, buy_now_clicks: 0, orders: 0, sales: 0 };

/** A host's all-time totals as of a given day. The totals are null if the host has left the ranking. */
interface HostTotals extends Totals {
  /** Null for the row that totals all entries without a host. */
  host_id: string | null;
  host_username: string | null;
}

/**
 * Stores a day's ranking, replacing any earlier ranking from the same day. Adds a row only for hosts whose totals have
 * changed since the previous ranking. If a host has left the ranking, its row contains nulls.
 * @param requestedAt in milliseconds since the Unix epoch
 */
export function saveRanking(mirror: Mirror, requestedAt: number, entries: readonly Json[]): void {
  const syncedAt = formatInstant(requestedAt);
  const date = syncedAt.slice(0, 10);
  const redact = createRedactor(mirror);
  const selectPrevious = `SELECT host_id, host_username, clicks, buy_now_clicks, orders, sales
    FROM analytics_hosts_snapshots WHERE host_id IS ? AND date < ? ORDER BY date DESC LIMIT 1`;
  const insert = `INSERT INTO analytics_hosts_snapshots
      (date, host_id, host_username, clicks, buy_now_clicks, orders, sales, synced_at)
    VALUES (@date, @host_id, @host_username, @clicks, @buy_now_clicks, @orders, @sales, @syncedAt)`;
  mirror.execute("DELETE FROM analytics_hosts_snapshots WHERE date = ?", date);
  mirror.execute(
    "INSERT OR REPLACE INTO analytics_hosts_days (date, synced_at) VALUES (?, ?)",
    date,
    syncedAt,
  );
  const storedIds = mirror.selectValues<string | null>(
    "SELECT DISTINCT host_id FROM analytics_hosts_snapshots",
  );
  const ranked = sumByHost(entries.map((entry) => redact(entry, "analytics-hosts")));
  for (const id of new Set([...storedIds, ...ranked.keys()])) {
    const previous = mirror.selectRow<HostTotals>(selectPrevious, id, date) ?? {
      host_id: id,
      host_username: null,
      ...noTotals,
    };
    const current = ranked.get(id) ?? { ...previous, ...noTotals };
    if (totalNames.some((name) => !isSameTotal(previous[name], current[name])))
      mirror.execute(insert, { ...current, date, syncedAt });
  }
}

function isSameTotal(a: number | null, b: number | null): boolean {
  return a === null || b === null ? a === b : amountsEqual(a, b);
}

export function findHostId(entry: Json): string | null {
  const id = valueAt(entry, ["host", "id"]);
  return typeof id === "string" ? id : null;
}

function sumByHost(entries: readonly Json[]): Map<string | null, HostTotals> {
  const byHost = new Map<string | null, HostTotals>();
  for (const entry of entries) {
    const id = findHostId(entry);
    const username = valueAt(entry, ["host", "username"]);
    const host = { host_id: id, host_username: typeof username === "string" ? username : null };
    const sums: HostTotals = byHost.get(id) ?? { ...host, ...zeroTotals };
    for (const name of totalNames) {
      const sent = valueAt(entry, [name]);
      const value = typeof sent === "string" ? parseJsonNumber(sent) : sent;
      if (typeof value === "number") sums[name] = (sums[name] ?? 0) + value;
    }
    byHost.set(id, sums);
  }
  return byHost;
}
