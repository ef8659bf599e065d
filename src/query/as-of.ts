import { UsageError } from "../errors.js";
import { formatInstant } from "../lib/times.js";
import { firstRead, type Mirror, quote } from "../mirror/index.js";
import { readAsOf } from "../records/index.js";
import type { TableShape } from "../resources/shape.js";
import { typedTables } from "./names.js";
import type { ReadableTable } from "./tables.js";
import { selectOf, views } from "./views/index.js";

/** The mirror's own tables below views, and since when each row exists. */
const ownRows: Readonly<Record<string, string>> = {
  changes: "seen_changed_at",
  sync_runs: "coalesce(finished_at, started_at)",
  coverage: "read_at",
  record_versions: "until_at",
};

/** @throws UsageError if the mirror keeps no earlier form of a table or view */
export function checkAsOf({ name, shape }: ReadableTable): void {
  if (shape ? shape.resource.history : views.some((view) => view.name === name)) return;
  throw new UsageError(`The mirror keeps no history of \`${name}\`, so there is no \`--as-of\`.`, {
    hint: "leave `--as-of` out",
  });
}

/**
 * Lays tables, views and the sources of a condition as of a time over the mirror's own, for this connection: first the
 * tables, then the views on them. Call it inside `withSnapshot`. Returns the resources that the mirror read first later
 * than that, and when, and the tables of which it keeps no history: rows read later are left out.
 */
export function layAsOf(
  mirror: Mirror,
  tables: readonly ReadableTable[],
  where: string | undefined,
  at: number,
) {
  const { db } = mirror;
  const time = `'${formatInstant(at)}'`;
  const names = standOn([...tables.map(({ name }) => name), ...sourcesOf(where ?? "")]);
  const shapes = tablesBelow(names);
  const kept = shapes.filter(({ resource }) => resource.history);
  const unkept = shapes.filter(({ resource }) => !resource.history).map(({ name }) => name);
  if (kept.length > 0) readAsOf(mirror, kept, at);
  for (const name of [...unkept, ...Object.keys(ownRows).filter((own) => names.has(own))])
    db.exec(`CREATE TEMP VIEW ${quote(name)} AS ${rowsOf(name, time)}`);
  for (const view of views)
    if (names.has(view.name)) db.exec(`CREATE TEMP VIEW ${quote(view.name)} AS ${selectOf(view)}`);
  return {
    unread: [...new Set(kept.map(({ resource }) => resource.name))].flatMap((resource) => {
      const firstReadAt = firstRead(mirror, resource);
      return firstReadAt !== null && firstReadAt > formatInstant(at) ? [{ resource, firstReadAt }] : [];
    }),
    unkept: unkept.filter((name) => name !== ranking),
  };
}

/** The table of which a snapshot per day is kept. */
const ranking = "analytics_hosts";

/** Returns the rows of a table without a history: the newest snapshot of the ranking, else the rows there were by then. */
function rowsOf(name: string, time: string): string {
  const since = ownRows[name] ?? "synced_at";
  if (name !== ranking) return `SELECT * FROM main.${quote(name)} WHERE ${since} <= ${time}`;
  const named = (column: string) =>
    `(SELECT a.${column} FROM main.analytics_hosts AS a WHERE a.host_id = s.host_id LIMIT 1) AS ${column}`;
  return `SELECT s.host_id, s.host_username, ${named("host_first_name")}, ${named("host_last_name")},
      s.clicks, s.buy_now_clicks, s.orders, s.sales, NULL AS removed_at
    FROM main.analytics_hosts_snapshots AS s WHERE s.clicks IS NOT NULL AND s.date = (
      SELECT max(d.date) FROM main.analytics_hosts_snapshots AS d WHERE d.host_id IS s.host_id AND d.synced_at <= ${time})`;
}

/** Returns the API's tables among these tables and views, and all that they are made of. */
export function tablesBelow(names: Iterable<string>): TableShape[] {
  const all = standOn(names);
  return typedTables().filter(({ name }) => all.has(name));
}

/** Returns these tables and views with all that they are made of. */
function standOn(names: Iterable<string>): Set<string> {
  const all = new Set(names);
  for (const name of all)
    for (const source of sourcesOf(views.find((view) => view.name === name)?.sql ?? "")) all.add(source);
  return all;
}

/** Returns the names behind each `FROM` and `JOIN` of a statement. */
export function sourcesOf(sql: string): string[] {
  const found = [...sql.matchAll(/\b(?:FROM|JOIN)\s+"?(\w+)/gi)];
  return [...new Set(found.map(([, name = ""]) => name.toLowerCase()))];
}
