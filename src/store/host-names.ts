import { isObject, type JsonObject } from "../util/json-value.js";
import type { Mirror } from "./database.js";
import { omitsHostNames, readRedactionRules } from "./redaction-rules.js";

/** A host that is mentioned in current records or in earlier versions of records. */
export interface NamedHost {
  id: string;
  /** All handles that the host has used, newest first. */
  handles: string[];
  /** The newest name, or null if no record contains one. */
  name: string | null;
}

export function readHosts(mirror: Mirror): NamedHost[] {
  // A host is an object named `host` with an `id`, or any object with a `host_id`.
  const select = `WITH objects AS (
      SELECT value, iif(key = 'host', '', 'host_') AS prefix, since_at, is_current
      FROM (SELECT json, since_at, 1 AS is_current FROM records
          UNION ALL SELECT json, since_at, 0 FROM record_versions) AS stored, json_tree(stored.json)
      WHERE type = 'object'),
    hosts AS (
      SELECT value ->> (prefix || 'id') || '' AS id, value ->> (prefix || 'username') AS handle,
        coalesce(value ->> (prefix || 'name'),
          nullif(trim(concat_ws(' ', value ->> (prefix || 'first_name'), value ->> (prefix || 'last_name'))), '')) AS name,
        is_current, since_at
      FROM objects)
    SELECT id, handle, name FROM hosts WHERE id IS NOT NULL
    GROUP BY id, handle, name ORDER BY max(is_current) DESC, max(since_at) DESC`;
  const rows = mirror.db
    .prepare<[], { id: string; handle: string | null; name: string | null }>(select)
    .all();
  const hosts = new Map<string, NamedHost>();
  for (const { id, handle, name } of rows) {
    const host = hosts.get(id) ?? { id, handles: [], name: null };
    hosts.set(id, host);
    if (handle !== null && !host.handles.includes(handle)) host.handles.push(handle);
    host.name ??= name;
  }
  return [...hosts.values()];
}

/** A host's handle and name in one record. */
interface HostNames {
  username: string | null;
  /** The host's first and last name, or the display name if the record is a content item. */
  name: string | null;
}

interface StoredName extends HostNames {
  read_at: string;
}

/**
 * Opens the table `host_names` for writing. Views use each host's newest names, because older records contain
 * outdated names. `--as-of` uses the earlier rows.
 */
export function openHostNames(mirror: Mirror) {
  const selectNewest =
    "SELECT username, name, read_at FROM host_names WHERE host_id = ? ORDER BY read_at DESC LIMIT 1";
  const known = new Map<string, StoredName | undefined>();
  const usesDisplayNames = !omitsHostNames(readRedactionRules(mirror));

  function add(id: string, { username, name }: HostNames, readAt: string): void {
    if (!known.has(id)) known.set(id, mirror.selectRow<StoredName>(selectNewest, id));
    const before = known.get(id);
    const now = { username, name: name ?? before?.name ?? null };
    if (before && before.username === now.username && before.name === now.name) return;
    // All records in a response have the same read time and are sorted newest first, so the names in the first record
    // are kept.
    if (before && readAt <= before.read_at) return;
    mirror.run("INSERT INTO host_names VALUES (?, ?, ?, ?)", id, readAt, now.username, now.name);
    known.set(id, { ...now, read_at: readAt });
  }

  return {
    add,
    /**
     * Adds the host mentioned in a new or changed record.
     * @param readAt the time at which the record was read (ISO 8601)
     */
    addFrom({ host }: JsonObject, readAt: string): void {
      if (!isObject(host) || typeof host.id !== "string") return;
      const { first_name, last_name, name, username } = host;
      const fullName = [first_name, last_name].filter(isText).join(" ").trim();
      const displayName = usesDisplayNames && isText(name) ? name : "";
      const names = { username: isText(username) ? username : null, name: fullName || displayName || null };
      add(host.id, names, readAt);
    },
  };
}

/** Rebuilds the table from all records and their earlier versions. Must be called in a transaction. */
export function rebuildHostNames(mirror: Mirror): void {
  const { db } = mirror;
  db.exec("DELETE FROM host_names");
  const text = (member: string) =>
    `CASE json_type(json, '$.host.${member}') WHEN 'text' THEN json_extract(json, '$.host.${member}') END`;
  const displayName = omitsHostNames(readRedactionRules(mirror)) ? "NULL" : `nullif(${text("name")}, '')`;
  // Adds each combination of names with the first and last time it was read.
  const select = db.prepare<[], HostNames & { id: string; first: string; last: string }>(
    `SELECT id, username, name, min(since_at) AS first, max(since_at) AS last FROM (
       SELECT ${text("id")} AS id, ${text("username")} AS username, since_at,
         coalesce(nullif(trim(coalesce(${text("first_name")}, '') || ' ' || coalesce(${text("last_name")}, '')), ''),
           ${displayName}) AS name
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
