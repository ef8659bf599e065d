import { UsageError } from "../errors.js";
import type { Mirror } from "../store/database.js";
import { createHistoricalTables } from "../store/historical-tables.js";
import { readFirstReadAt } from "../store/runs.js";
import { quote, recordStates, tableName } from "../store/table-sql.js";
import { formatInstant } from "../util/times.js";
import { views } from "../views/all-views.js";
import { storedTables, typedTables } from "./readable-tables.js";
import { createTempViews, type StatementReads } from "./statement-reads.js";

/** The system tables that views select from, each with an SQL expression for the time at which a row was added. */
const systemRowTimes: Readonly<Record<string, string>> = {
  changes: "seen_changed_at",
  sync_runs: "coalesce(finished_at, started_at)",
  coverage: "read_at",
  record_versions: "until_at",
  host_names: "read_at",
};

const rankingTable = "analytics_hosts";

/** Throws a UsageError if the mirror keeps no history of one of the given tables or views. */
export function checkHistory(names: readonly string[]): void {
  const withHistory = new Set([
    ...typedTables()
      .filter(({ resource }) => resource.history)
      .flatMap((shape) => recordStates.map((state) => tableName(shape, state))),
    ...views.map(({ name }) => name),
    "changes",
    "sync_runs",
  ]);
  const without = names.find((name) => !withHistory.has(name));
  if (without !== undefined)
    throw new UsageError(`The mirror keeps no history of \`${without}\`, which \`--as-of\` requires.`, {
      hint: "omit `--as-of`",
    });
}

/**
 * Returns the tables and views that a statement reads.
 * @param reads undefined if the statement could not be analyzed
 * @throws UsageError if a table has no history or is qualified with its schema, as in `main.orders`
 */
export function checkStatementHistory(reads: StatementReads | undefined): readonly string[] {
  if (!reads)
    throw new UsageError("`--as-of` does not work with this statement.", {
      hint: "remove `main.`, `INDEXED BY` and `EXPLAIN`",
    });
  const [qualified] = reads.qualified;
  if (qualified !== undefined)
    throw new UsageError(`\`main.${qualified}\` is always the current table, even with \`--as-of\`.`, {
      hint: `write \`${qualified}\``,
    });
  checkHistory(reads.names);
  return reads.names;
}

/** The data that the mirror cannot reconstruct for an earlier time. */
export interface AsOfLimits {
  notYetRead: { resource: string; firstReadAt: string }[];
  /** Tables without a history. Rows in these tables that have changed since the requested time are missing. */
  withoutHistory: string[];
}

/**
 * Creates temporary tables and views that contain the data as of an earlier time. On this connection, they shadow the
 * named tables and views, and the tables that those views select from. Must be called inside `withReadTransaction`.
 * @param at milliseconds since the Unix epoch
 */
export function createAsOfTables(mirror: Mirror, names: readonly string[], at: number): AsOfLimits {
  const { db } = mirror;
  const time = formatInstant(at);
  const stored = new Set(names.flatMap(storedTables));
  const shapes = typedTables().filter((shape) =>
    recordStates.some((state) => stored.has(tableName(shape, state))),
  );
  const withHistory = shapes.filter(({ resource }) => resource.history);
  const withoutHistory = shapes.filter(({ resource }) => !resource.history).map(({ name }) => name);
  if (withHistory.length > 0) createHistoricalTables(mirror, withHistory, at);

  const filtered = [
    ...withoutHistory.flatMap((name) => recordStates.map((state) => tableName({ name }, state))),
    ...Object.keys(systemRowTimes).filter((name) => stored.has(name)),
  ];
  for (const name of filtered)
    db.exec(`CREATE TEMP VIEW ${quote(name)} AS ${selectEarlierRows(name, `'${time}'`)}`);
  createTempViews(db, () => true);

  const resources = new Set(withHistory.map(({ resource }) => resource.name));
  return {
    notYetRead: [...resources].flatMap((resource) => {
      const firstReadAt = readFirstReadAt(mirror, resource);
      return firstReadAt !== null && firstReadAt > time ? [{ resource, firstReadAt }] : [];
    }),
    withoutHistory: withoutHistory.filter((name) => name !== rankingTable),
  };
}

/**
 * Returns a SELECT statement for the rows that were added before a given time and have not changed since. For the
 * ranking, the statement selects each host's last snapshot before that time.
 * @param time an SQL literal
 */
function selectEarlierRows(name: string, time: string): string {
  const since = systemRowTimes[name] ?? "synced_at";
  if (name !== rankingTable) return `SELECT * FROM main.${quote(name)} WHERE ${since} <= ${time}`;
  const fromPresentRow = (column: string) =>
    `(SELECT a.${column} FROM main.analytics_hosts AS a WHERE a.host_id = s.host_id LIMIT 1) AS ${column}`;
  return `SELECT s.host_id, s.host_username, ${fromPresentRow("host_first_name")}, ${fromPresentRow("host_last_name")},
      s.clicks, s.buy_now_clicks, s.orders, s.sales
    FROM main.analytics_hosts_snapshots AS s WHERE s.clicks IS NOT NULL AND s.date = (
      SELECT max(d.date) FROM main.analytics_hosts_snapshots AS d WHERE d.host_id IS s.host_id AND d.synced_at <= ${time})`;
}
