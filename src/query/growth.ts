import { dayMs, formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";

const monthMs = 30 * dayMs;
/** A shorter history than this says nothing about a month. */
const leastMs = 7 * dayMs;

/**
 * How fast a mirror grows, by the last month's runs: each resource's first read is none of it.
 * @param size of the file, in bytes
 * @param now milliseconds since 1970
 * @returns bytes a month; null where that is not known yet
 */
export function readGrowth({ db }: Mirror, size: number, now: number): number | null {
  const first =
    "SELECT resource, min(run_id) AS run_id, started_at FROM sync_runs WHERE outcome = 'done' GROUP BY resource";
  const [begun, rows] = db
    .prepare<[string], [string | null, number | null]>(
      `SELECT min(f.started_at), sum(r.rows_new + r.rows_changed) FILTER (WHERE r.run_id > f.run_id AND r.started_at >= ?)
       FROM (${first}) AS f LEFT JOIN sync_runs AS r ON r.resource = f.resource`,
    )
    .raw()
    .get(formatInstant(now - monthMs)) ?? [null, null];
  const records = db.prepare("SELECT count(*) FROM records").pluck().get() as number;
  const span = begun === null ? 0 : Math.min(monthMs, now - Date.parse(begun));
  if (span < leastMs || records === 0) return null;
  return ((rows ?? 0) * size * monthMs) / (records * span);
}
