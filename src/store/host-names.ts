import { isObject, type JsonObject } from "../util/json-value.js";
import { type Mirror, statement } from "./database.js";

/** The names of a host in one record. */
interface HostNames {
  username: string | null;
  /** First and last name, or the display name. */
  name: string | null;
}

/** A row of the table `host_names`, as far as it is compared. */
interface StoredName extends HostNames {
  read_at: string;
}

/**
 * Opens the table `host_names`, which views take each host's handle and name from: those of the record that was read last.
 * The API's records of one host may differ, because old ones are not read again after a host has changed its handle. The
 * table keeps earlier names for `--as-of`.
 */
export function openHostNames(mirror: Mirror) {
  const newest = statement(
    mirror,
    "SELECT username, name, read_at FROM host_names WHERE host_id = ? ORDER BY read_at DESC LIMIT 1",
  );
  const insert = statement(mirror, "INSERT INTO host_names VALUES (?, ?, ?, ?)");
  const known = new Map<string, StoredName | undefined>();

  function add(id: string, { username, name }: HostNames, readAt: string): void {
    if (!known.has(id)) known.set(id, newest.get(id) as StoredName | undefined);
    const before = known.get(id);
    const now = { username, name: name ?? before?.name ?? null };
    if (before && before.username === now.username && before.name === now.name) return;
    // Of several records in one response, which are the newest first, the first one counts.
    if (before && readAt <= before.read_at) return;
    insert.run(id, readAt, now.username, now.name);
    known.set(id, { ...now, read_at: readAt });
  }

  return {
    add,
    /** Adds the host of a record that is new or has changed. @param readAt when it was read, ISO 8601 */
    addFrom({ host }: JsonObject, readAt: string): void {
      if (!isObject(host) || typeof host.id !== "string") return;
      const { first_name, last_name, name, username } = host;
      const full = [first_name, last_name].filter(isText).join(" ").trim();
      const either = full === "" && isText(name) ? name : full;
      add(host.id, { username: isText(username) ? username : null, name: either || null }, readAt);
    },
  };
}

/** Fills the table from all records and their earlier versions. Call it in a transaction. */
export function rebuildHostNames(mirror: Mirror): void {
  const { db } = mirror;
  db.exec("DELETE FROM host_names");
  const text = (member: string) =>
    `CASE json_type(json, '$.host.${member}') WHEN 'text' THEN json_extract(json, '$.host.${member}') END`;
  // Two rows per form of a host's names: when it was read first, and when last.
  const select = db.prepare<[], HostNames & { id: string; first: string; last: string }>(
    `SELECT id, username, name, min(since_at) AS first, max(since_at) AS last FROM (
       SELECT ${text("id")} AS id, ${text("username")} AS username, since_at,
         coalesce(nullif(trim(coalesce(${text("first_name")}, '') || ' ' || coalesce(${text("last_name")}, '')), ''),
           nullif(${text("name")}, '')) AS name
       FROM (SELECT json, since_at FROM records UNION ALL SELECT json, since_at FROM record_versions)
       WHERE json_type(json, '$.host') = 'object')
     WHERE id IS NOT NULL GROUP BY id, username, name`,
  );
  const readings = select.all().flatMap((row) => [row.first, row.last].map((readAt) => ({ row, readAt })));
  readings.sort((a, b) => (a.readAt < b.readAt ? -1 : a.readAt > b.readAt ? 1 : 0));
  const names = openHostNames(mirror);
  for (const { row, readAt } of readings) names.add(row.id, row, readAt);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
