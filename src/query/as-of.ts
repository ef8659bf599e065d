import { UsageError } from "../errors.js";
import type { TableShape } from "../resources/table-shape.js";
import { createHistoricalTables } from "../store/as-of-tables.js";
import type { Mirror } from "../store/database.js";
import { firstRead } from "../store/runs.js";
import { quote, recordStates, tableName } from "../store/table-sql.js";
import { views } from "../store/views/all-views.js";
import { formatInstant } from "../util/times.js";
import { type ReadableTable, typedTables } from "./readable-tables.js";
import { createTempViews, type StatementReads, storedTables } from "./statement-reads.js";

/** The mirror's own tables below views, and since when each row exists. */
const systemRowTimes: Readonly<Record<string, string>> = {
  changes: "seen_changed_at",
  sync_runs: "coalesce(finished_at, started_at)",
  coverage: "read_at",
  record_versions: "until_at",
  host_names: "read_at",
};

/** @throws UsageError if the mirror keeps no earlier form of a table or view */
export function checkTableHistory({ name, shape }: ReadableTable): void {
  if (shape ? shape.resource.history : views.some((view) => view.name === name)) return;
  throw noHistoryError(name);
}

/**
 * Checks that everything a statement reads can be read as of a time.
 * @param reads undefined if SQLite cannot tell what the statement reads
 * @throws UsageError for tables without a history, and for names such as `main.orders`, which mean the present table
 */
export function checkStatementHistory(reads: StatementReads | undefined): StatementReads {
  if (!reads)
    throw new UsageError("`--as-of` does not work with this statement.", {
      hint: "leave out `main.`, `INDEXED BY` and `EXPLAIN`",
    });
  const [qualified] = reads.qualified;
  if (qualified !== undefined)
    throw new UsageError(`\`main.${qualified}\` is always the present table, also with \`--as-of\`.`, {
      hint: `write \`${qualified}\``,
    });
  const hasHistory = new Set([
    ...typedTables()
      .filter(({ resource }) => resource.history)
      .flatMap((shape) => recordStates.map((part) => tableName(shape, part))),
    ...views.map(({ name }) => name),
    "changes",
    "sync_runs",
  ]);
  const without = reads.names.find((name) => !hasHistory.has(name));
  if (without !== undefined) throw noHistoryError(without);
  return reads;
}

function noHistoryError(name: string): UsageError {
  return new UsageError(`The mirror keeps no history of \`${name}\`, so there is no \`--as-of\`.`, {
    hint: "leave `--as-of` out",
  });
}

/**
 * Creates temporary tables and views with the state of a time, which hide the present ones from this connection: for
 * these tables and views, and all that the views read. Call it inside `withReadTransaction`. Returns the resources that were
 * first read after that time, and when, and the tables without a history: of those, rows read later are left out.
 */
export function createAsOfTables(mirror: Mirror, names: readonly string[], at: number) {
  const { db } = mirror;
  const time = `'${formatInstant(at)}'`;
  const stored = new Set(names.flatMap((name) => storedTables(db, name)));
  const shapes = typedTables().filter((shape) =>
    recordStates.some((part) => stored.has(tableName(shape, part))),
  );
  const kept = shapes.filter(({ resource }) => resource.history);
  const unkept = shapes.filter(({ resource }) => !resource.history).map(({ name }) => name);
  if (kept.length > 0) createHistoricalTables(mirror, kept, at);
  const unkeptTables = unkept.flatMap((name) => recordStates.map((part) => tableName({ name }, part)));
  for (const name of [...unkeptTables, ...Object.keys(systemRowTimes).filter((own) => stored.has(own))])
    db.exec(`CREATE TEMP VIEW ${quote(name)} AS ${pastRowsSql(name, time)}`);
  createTempViews(db, () => true);
  return {
    unread: [...new Set(kept.map(({ resource }) => resource.name))].flatMap((resource) => {
      const firstReadAt = firstRead(mirror, resource);
      return firstReadAt !== null && firstReadAt > formatInstant(at) ? [{ resource, firstReadAt }] : [];
    }),
    unkept: unkept.filter((name) => name !== rankingTable),
  };
}

/** The table of which a snapshot per day is kept. */
const rankingTable = "analytics_hosts";

/** Returns the rows of a table without a history: the newest snapshot of the ranking, else the rows there were by then. */
function pastRowsSql(name: string, time: string): string {
  const since = systemRowTimes[name] ?? "synced_at";
  if (name !== rankingTable) return `SELECT * FROM main.${quote(name)} WHERE ${since} <= ${time}`;
  const named = (column: string) =>
    `(SELECT a.${column} FROM main.analytics_hosts AS a WHERE a.host_id = s.host_id LIMIT 1) AS ${column}`;
  return `SELECT s.host_id, s.host_username, ${named("host_first_name")}, ${named("host_last_name")},
      s.clicks, s.buy_now_clicks, s.orders, s.sales
    FROM main.analytics_hosts_snapshots AS s WHERE s.clicks IS NOT NULL AND s.date = (
      SELECT max(d.date) FROM main.analytics_hosts_snapshots AS d WHERE d.host_id IS s.host_id AND d.synced_at <= ${time})`;
}

/** Returns the API's tables that a table or view reads. */
export function findTypedTables({ db }: Mirror, name: string): TableShape[] {
  const stored = storedTables(db, name);
  return typedTables().filter((shape) =>
    recordStates.some((part) => stored.includes(tableName(shape, part))),
  );
}
