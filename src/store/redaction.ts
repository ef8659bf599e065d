import { details, resources } from "../resources/registry.js";
import { isObject, type Json } from "../util/json-value.js";
import { errorCode } from "../util/system-errors.js";
import { diffRecords } from "./change-log.js";
import { deleteInfo, type Mirror, readInfo, statement, truncateLog, writeInfo } from "./database.js";
import { rebuildHostNames } from "./host-names.js";
import { rebuildTables } from "./rebuild.js";

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

/** Returns what a mirror does not keep: members by the end of their path, and hosts, but for their ids. */
export function readRedactionRules(mirror: Mirror) {
  const read = (name: string): string[] => JSON.parse(readInfo(mirror, name) ?? "[]");
  return { omit: read("omit"), forgotten: read("forgotten") };
}

/** Returns the one function that drops members of a resource's records: those omitted, and those of forgotten hosts. */
export function createRedactor(mirror: Mirror): (value: Json, resource: string) => Json {
  const { omit, forgotten } = readRedactionRules(mirror);
  const rules = omit.map((rule) => rule.split(":").reverse());
  const hosts = new Set(forgotten);
  if (rules.length + hosts.size === 0) return (value) => value;

  function redact(value: Json, resource: string, path = ""): Json {
    if (Array.isArray(value)) return value.map((item) => redact(item, resource, path));
    if (!isObject(value)) return value;
    const isDropped = (member: string) =>
      (hosts.has(String(value.id)) && member !== "id") ||
      (hosts.has(String(value.host_id)) && /^host_(?!id$)/.test(member)) ||
      rules.some(([end, of = resource]) => of === resource && `${path}.${member}`.endsWith(`.${end}`));
    const kept = Object.entries(value).filter(([member]) => !isDropped(member));
    return Object.fromEntries(
      kept.map(([name, inner]) => [name, redact(inner, resource, `${path}.${name}`)]),
    );
  }
  return redact;
}

/**
 * Adds hosts to those that are kept out, replaces the list of omitted members, and takes both out of all that is stored.
 * Call `scrub` after it.
 * @returns how many records were rewritten, in all and by resource, and a sentence for each index and trigger that somebody
 * added and that was lost
 */
export function redactMirror(mirror: Mirror, hosts: readonly string[], omit?: readonly string[]) {
  const known = readRedactionRules(mirror);
  return mirror.transaction(() => {
    writeInfo(mirror, "omit", JSON.stringify(omit ?? known.omit));
    writeInfo(mirror, "forgotten", JSON.stringify([...new Set([...known.forgotten, ...hosts])]));
    const counts: Record<string, number> = {};
    const affected = findUnredacted(mirror);
    if (affected.length > 0) writeInfo(mirror, "to_scrub", "1");
    for (const record of affected) {
      for (const sql of redactRecord) statement(mirror, sql).run(record);
      counts[record.resource] = (counts[record.resource] ?? 0) + 1;
    }
    const changed = [...resources, ...details].filter(({ name }) => name in counts);
    const lost = rebuildTables(mirror, changed);
    mirror.db.exec(redactSnapshots);
    if (affected.length > 0) rebuildHostNames(mirror);
    return { total: affected.length, counts, lost };
  });
}

/**
 * Rewrites the file after data was taken out, because its free pages and its log still hold that data.
 * @returns false if the disk is full, or a program that reads the mirror holds its log: the next call tries again
 */
export function scrubFile(mirror: Mirror): boolean {
  if (readInfo(mirror, "to_scrub") === null) return true;
  try {
    mirror.db.exec("VACUUM");
  } catch (error) {
    if (errorCode(error) === "SQLITE_FULL") return false;
    throw error;
  }
  if (!truncateLog(mirror)) return false;
  mirror.transaction(() => deleteInfo(mirror, "to_scrub"));
  return true;
}

const redactRecord = [
  // A change can be of an object that holds what was dropped, or of a part of it.
  `DELETE FROM changes WHERE resource = @resource AND key = @key AND kind = 'changed' AND EXISTS (
     SELECT 1 FROM (SELECT json FROM records WHERE record_id = @id
       UNION ALL SELECT json FROM record_versions WHERE record_id = @id) AS s, json_each(redacted_fields(@resource, s.json)) AS d
     WHERE instr(d.value, field) = 1 OR instr(field, d.value) = 1)`,
  "UPDATE records SET json = redacted(resource, json), list_json = redacted(resource, list_json) WHERE record_id = @id",
  "UPDATE record_versions SET json = redacted(@resource, json) WHERE record_id = @id",
];

const redactSnapshots = `UPDATE analytics_hosts_snapshots SET host_username =
  redacted('analytics-hosts', json_object('host', json_object('id', host_id, 'username', host_username)))
    ->> '$.host.username'`;

/** Returns the records that hold what is kept out, now or in their history. Gives the connection the SQL functions for that. */
export function findUnredacted(mirror: Mirror) {
  const door = createRedactor(mirror);
  const redact = (resource: string, json: string) => door(JSON.parse(json), resource);
  mirror.db.function("redacted", (resource, json) => json && JSON.stringify(redact(resource, json)));
  mirror.db.function("redacted_fields", (resource, json) => {
    const changes = diffRecords(JSON.parse(json), redact(resource, json));
    return JSON.stringify(changes.map(({ field }) => field));
  });
  const { omit, forgotten } = readRedactionRules(mirror);
  if (omit.length + forgotten.length === 0) return [];
  const select = `SELECT record_id AS id, resource, key FROM records AS r
    WHERE redacted(resource, json) <> json OR redacted(resource, list_json) <> list_json OR EXISTS (
      SELECT 1 FROM record_versions AS v
      WHERE v.record_id = r.record_id AND redacted(r.resource, v.json) <> v.json)`;
  return mirror.db.prepare<[], { id: number; resource: string; key: string }>(select).all();
}
