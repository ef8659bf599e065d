import type { Mirror } from "../mirror/index.js";

/** A host in the records or their history. */
export interface KnownHost {
  id: string;
  /** The handles that it ever had, the newest first. */
  handles: string[];
  /** The newest name; null if no record has one. */
  name: string | null;
}

/** Returns every host that the records and their history name. */
export function readHosts(mirror: Mirror): KnownHost[] {
  // Objects named `host` have an `id`; others refer to a host by `host_id`.
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
  const hosts = new Map<string, KnownHost>();
  for (const { id, handle, name } of rows) {
    const host = hosts.get(id) ?? { id, handles: [], name: null };
    hosts.set(id, host);
    if (handle !== null && !host.handles.includes(handle)) host.handles.push(handle);
    host.name ??= name;
  }
  return [...hosts.values()];
}
