import { UsageError } from "../errors.js";
import { syncingResource } from "../resources/registry.js";
import type { TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { loadColumns } from "../store/discovered-columns.js";
import { createTables, Projection } from "../store/projection.js";
import { parseRecord, type VersionRow } from "../store/records.js";
import { loadFirstReadEnd } from "../store/runs.js";
import { columnNames, quote, recordIdSql, recordStates, rowIdColumn, tableName } from "../store/table-sql.js";
import { formatInstant } from "../util/timestamps.js";
import { views } from "../views/all-views.js";
import { allTableShapes, shapesReadBy, tablesReadBy } from "./readable-tables.js";
import { createTempViews, type StatementReads } from "./statement-reads.js";

/** For each system table that views use, an SQL expression for the time at which a row was added. */
const systemRowTimeSql: Readonly<Record<string, string>> = {
  changes: "seen_changed_at",
  sync_runs: "coalesce(finished_at, started_at)",
  coverage: "read_at",
  record_versions: "until_at",
  host_names: "read_at",
};

const rankingTable = "analytics_hosts";

/** Throws a UsageError if the mirror keeps no history of one of the tables or views. */
export function checkHistory(names: readonly string[]): void {
  const withHistory = new Set([
    ...allTableShapes
      .filter(({ resource }) => resource.keepsHistory)
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
 * Returns the names of the tables and views that a statement reads, after checking that all of them have a history.
 * @param reads undefined if the statement could not be analyzed
 * @throws UsageError if a table has no history or is qualified with its schema, as in `main.orders`
 */
export function requireReadsWithHistory(reads: StatementReads | undefined): readonly string[] {
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

/**
 * Throws a UsageError if a table or view has no data for the requested time, because the first sync of its records
 * ended after that time.
 * @param asOf the requested time (ISO 8601)
 */
function checkFirstRead(mirror: Mirror, names: readonly string[], asOf: string): void {
  for (const name of names) {
    const resources = new Set(shapesReadBy(name).map(({ resource }) => syncingResource(resource).name));
    // System tables, and views that select from them, depend on all resources.
    const sources = resources.size > 0 ? [...resources] : [null];
    const [first] = sources.flatMap((source) => loadFirstReadEnd(mirror, source) ?? []).sort();
    if (first !== undefined && first > asOf)
      throw new UsageError(`The mirror has no data for \`${name}\` as of ${asOf}.`, {
        hint: `the first available time is ${first}`,
      });
  }
}

/** Describes the data that the mirror cannot reconstruct for an earlier time. */
export interface AsOfLimits {
  notYetRead: { resourceName: string; firstReadAt: string }[];
  /** Tables without a history. Rows that have changed since the requested time are missing from them. */
  withoutHistory: string[];
  /** True if the host ranking at the requested time was replaced later on the same day. */
  isRankingReplaced: boolean;
}

/**
 * Creates temporary tables and views that contain the data as of an earlier time. On this connection, the temporary
 * objects shadow the tables and views in `names`, and the tables from which these views select. Must be called inside
 * `withReadTransaction`.
 * @param asOfMs milliseconds since the Unix epoch
 * @throws UsageError if a table or view has no data as of that time
 */
export function createAsOfTables(mirror: Mirror, names: readonly string[], asOfMs: number): AsOfLimits {
  const { db } = mirror;
  const asOf = formatInstant(asOfMs);
  checkFirstRead(mirror, names, asOf);
  const stored = new Set(names.flatMap(tablesReadBy));
  const shapes = allTableShapes.filter((shape) =>
    recordStates.some((state) => stored.has(tableName(shape, state))),
  );
  const withHistory = shapes.filter(({ resource }) => resource.keepsHistory);
  const withoutHistory = shapes.filter(({ resource }) => !resource.keepsHistory).map(({ name }) => name);
  if (withHistory.length > 0) createHistoricalTables(mirror, withHistory, asOf);

  const filtered = [...withoutHistory, ...Object.keys(systemRowTimeSql).filter((name) => stored.has(name))];
  for (const table of filtered)
    db.exec(`CREATE TEMP VIEW ${quote(table)} AS ${earlierRowsSql(table, `'${asOf}'`)}`);
  createTempViews(db, () => true);

  const resourceNames = new Set(
    shapes
      .filter(({ name, resource }) => resource.keepsHistory || name === rankingTable)
      .map(({ resource }) => resource.name),
  );
  return {
    notYetRead: [...resourceNames].flatMap((resourceName) => {
      const firstReadAt = loadFirstReadEnd(mirror, resourceName);
      return firstReadAt !== null && firstReadAt > asOf ? [{ resourceName, firstReadAt }] : [];
    }),
    withoutHistory: withoutHistory.filter((name) => name !== rankingTable),
    isRankingReplaced: withoutHistory.includes(rankingTable) && isRankingReplaced(mirror, asOf),
  };
}

/**
 * True if the host ranking was read both before and after `asOf` on the same day. The ranking history contains only the
 * last ranking of each day, so the earlier one is lost.
 * @param asOf an ISO 8601 time
 */
function isRankingReplaced(mirror: Mirror, asOf: string): boolean {
  const find = `SELECT 1 FROM main.analytics_hosts_days AS days WHERE days.date = @day AND days.synced_at > @asOf
      AND EXISTS (SELECT 1 FROM main.sync_runs WHERE resource = 'analytics-hosts' AND rows_read > 0
        AND finished_at BETWEEN @day AND @asOf)`;
  return mirror.selectValue(find, { day: asOf.slice(0, 10), asOf }) === 1;
}

/**
 * Returns a SELECT statement for the rows that were added before a given time and have not changed since. For the
 * ranking, the statement selects each host's last snapshot before that time.
 * @param asOfSql an SQL literal
 */
function earlierRowsSql(name: string, asOfSql: string): string {
  const rowTimeSql = systemRowTimeSql[name] ?? "synced_at";
  if (name !== rankingTable) return `SELECT * FROM main.${quote(name)} WHERE ${rowTimeSql} <= ${asOfSql}`;
  const fromPresentRow = (column: string) =>
    `(SELECT ranking.${column} FROM main.analytics_hosts AS ranking
      WHERE ranking.host_id = snapshots.host_id LIMIT 1) AS ${column}`;
  return `SELECT snapshots.host_id, snapshots.host_username,
      ${fromPresentRow("host_first_name")}, ${fromPresentRow("host_last_name")},
      snapshots.clicks, snapshots.buy_now_clicks, snapshots.orders, snapshots.sales
    FROM main.analytics_hosts_snapshots AS snapshots WHERE snapshots.clicks IS NOT NULL AND snapshots.date = (
      SELECT max(earlier.date) FROM main.analytics_hosts_snapshots AS earlier
      WHERE earlier.host_id IS snapshots.host_id AND earlier.synced_at <= ${asOfSql})`;
}

/** Creates temporary typed tables with the records as they were at a given time (ISO 8601). */
function createHistoricalTables(mirror: Mirror, shapes: readonly TableShape[], asOf: string): void {
  // Limit the page caches of the temporary database and the mirror to 4 MB each.
  mirror.db.pragma("temp.cache_size = -4000");
  mirror.db.pragma("main.cache_size = -4000");
  const names = new Set(shapes.map(({ resource }) => resource.name));
  createRecordsView(mirror, [...names], asOf);
  for (const name of names)
    createTypedTables(
      mirror,
      name,
      shapes.filter(({ resource }) => resource.name === name),
    );
}

/**
 * Creates a `past` table, and a `records` view on it with the versions that were current at the given time. A version
 * is current from its `since_at` until the next version's `since_at`. A removal counts as a version. A null
 * `version_id` stands for the record's current version. If versions overlap because a clock was set back, the version
 * that was stored last is used.
 */
function createRecordsView({ db }: Mirror, resourceNames: readonly string[], asOf: string): void {
  const namesSql = `(${resourceNames.map((name) => `'${name}'`).join(", ")})`;
  db.exec(
    `CREATE TEMP TABLE past (record_id INTEGER PRIMARY KEY, version_id INTEGER, since_at TEXT, removed_at TEXT);
     INSERT INTO past SELECT record_id, NULL, since_at, removed_at
       FROM main.records WHERE +resource IN ${namesSql} AND since_at <= '${asOf}';
     INSERT OR IGNORE INTO past SELECT versions.record_id, versions.version_id, versions.since_at,
         iif(versions.present, NULL, versions.since_at)
       FROM main.record_versions AS versions CROSS JOIN main.records AS r ON r.record_id = versions.record_id
       WHERE r.resource IN ${namesSql} AND versions.since_at <= '${asOf}' AND versions.until_at > '${asOf}'
       ORDER BY versions.version_id DESC;
     CREATE TEMP VIEW records AS
       SELECT past.record_id, past.version_id, r.resource, r.key, coalesce(versions.json, r.json) AS json,
         r.parameters, past.since_at, past.removed_at
       FROM past CROSS JOIN main.records AS r ON r.record_id = past.record_id
       LEFT JOIN main.record_versions AS versions ON versions.version_id = past.version_id`,
  );
}

function createTypedTables(mirror: Mirror, resourceName: string, shapes: readonly TableShape[]): void {
  createTables(mirror, shapes, "temp");
  const projection = new Projection(mirror, shapes, "temp");
  for (const shape of shapes) copyCurrentVersions(mirror, shape);
  const earlier = mirror.selectValues<number>(
    "SELECT record_id FROM temp.records WHERE version_id IS NOT NULL AND resource = ?",
    resourceName,
  );
  for (const id of earlier) {
    const row = mirror.selectRow<VersionRow>("SELECT * FROM temp.records WHERE record_id = ?", id);
    if (row) projection.write(parseRecord(mirror, row), { isNew: true });
  }
}

/**
 * Copies the rows whose records have not changed since the requested time. Copying rows is faster than building them
 * from the records.
 */
function copyCurrentVersions(mirror: Mirror, shape: TableShape): void {
  const columns = loadColumns(mirror, shape);
  const recordId = recordIdSql(shape, `t.${rowIdColumn(shape)}`);
  for (const state of recordStates) {
    const names = columnNames(shape, columns, state).map(quote);
    const table = quote(tableName(shape, state));
    mirror.db.exec(
      `INSERT INTO temp.${table} (${names.join(", ")}) SELECT ${names.map((name) => `t.${name}`).join(", ")}
       FROM main.${table} AS t CROSS JOIN temp.past AS past ON past.record_id = ${recordId} WHERE past.version_id IS NULL`,
    );
  }
}
