import { isObject, type JsonObject } from "../util/json-value.js";
import type { Mirror } from "./database.js";
import { loadRedactionRules, omitsHostNames } from "./redaction-rules.js";

export interface NamedHost {
  id: string;
  handles: string[];
  name: string | null;
}

export function loadHosts(mirror: Mirror): NamedHost[] {
  // A host is an object named `host` that has an `id`, or any object that has a `host_id`.
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
  const rows = mirror.selectRows<{ id: string; handle: string | null; name: string | null }>(select);
  const hosts = new Map<string, NamedHost>();
  for (const { id, handle, name } of rows) {
    const host = hosts.get(id) ?? { id, handles: [], name: null };
    hosts.set(id, host);
    if (handle !== null && !host.handles.includes(handle)) host.handles.push(handle);
    host.name ??= name;
  }
  return [...hosts.values()];
}

interface StoredNames {
  username: string | null;
  name: string | null;
  read_at: string;
}

/**
 * Writes the `host_names` table. Views take each host's newest name from this table, because older records contain
 * outdated names. Earlier names are kept for `--as-of`. A name is the first and last name or, in a content item, the
 * display name.
 */
export class HostNames {
  readonly #newest = new Map<string, StoredNames | null>();
  readonly #usesDisplayNames: boolean;

  constructor(private readonly mirror: Mirror) {
    this.#usesDisplayNames = !omitsHostNames(loadRedactionRules(mirror));
  }

  /**
   * Adds the name of the host in a new or changed record.
   * @param at the time (ISO 8601) at which the record was read
   */
  addFrom({ host }: JsonObject, at: string): void {
    if (!isObject(host) || typeof host.id !== "string") return;
    const before = this.#loadNewest(host.id);
    const username = isText(host.username) ? host.username : null;
    const fullName = [host.first_name, host.last_name].filter(isText).join(" ").trim();
    const displayName = this.#usesDisplayNames && isText(host.name) ? host.name : "";
    const name = fullName || displayName || (before?.name ?? null);
    if (before && before.username === username && before.name === name) return;
    // The records in a response have the same read time and are sorted newest first, so the first name wins.
    if (before && at <= before.read_at) return;
    const insert = "INSERT INTO host_names (host_id, read_at, username, name) VALUES (?, ?, ?, ?)";
    this.mirror.execute(insert, host.id, at, username, name);
    this.#newest.set(host.id, { username, name, read_at: at });
  }

  #loadNewest(id: string): StoredNames | null {
    const select = "SELECT * FROM host_names WHERE host_id = ? ORDER BY read_at DESC LIMIT 1";
    const cached = this.#newest.get(id);
    if (cached !== undefined) return cached;
    const stored = this.mirror.selectRow<StoredNames>(select, id);
    this.#newest.set(id, stored);
    return stored;
  }
}

/** Rebuilds `host_names` from all current and earlier versions of records. */
export function rebuildHostNames(mirror: Mirror): void {
  mirror.execute("DELETE FROM host_names");
  // Remove the photo's URL before grouping, because its signature differs in every response.
  const rows = mirror.selectRows<{ host: string; first: string; last: string }>(
    `SELECT json_remove(json -> '$.host', '$.profile_photo') AS host, min(since_at) AS first, max(since_at) AS last
     FROM (SELECT json, since_at FROM records UNION ALL SELECT json, since_at FROM record_versions)
     WHERE json_type(json, '$.host') = 'object' GROUP BY 1`,
  );
  const readings = rows.flatMap(({ host, first, last }) => [first, last].map((at) => ({ host, at })));
  readings.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const names = new HostNames(mirror);
  for (const { host, at } of readings) names.addFrom({ host: JSON.parse(host) as JsonObject }, at);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
