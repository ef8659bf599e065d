import { forgetInfo, type Mirror, readInfo, statement, writeInfo } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import type { Json } from "../resources/types.js";
import { diffRecords } from "./diff.js";
import { rebuildTables } from "./reprojection.js";
import { isObject } from "./values.js";

/** Returns what a mirror does not keep: members by the end of their path, and hosts, but for their ids. */
export function readKeptOut(mirror: Mirror) {
  const read = (name: string) => JSON.parse(readInfo(mirror, name) ?? "[]") as string[];
  return { omit: read("omit"), forgotten: read("forgotten") };
}

/** Returns the one function that drops members of a resource's records: those omitted, and those of forgotten hosts. */
export function openDoor(mirror: Mirror): (value: Json, resource: string) => Json {
  const { omit, forgotten } = readKeptOut(mirror);
  const rules = omit.map((rule) => rule.split(":").reverse());
  const hosts = new Set(forgotten);
  if (rules.length + hosts.size === 0) return (value) => value;

  function pass(value: Json, resource: string, path = ""): Json {
    if (Array.isArray(value)) return value.map((item) => pass(item, resource, path));
    if (!isObject(value)) return value;
    const isOut = (member: string) =>
      (hosts.has(String(value.id)) && member !== "id") ||
      (hosts.has(String(value.host_id)) && /^host_(?!id$)/.test(member)) ||
      rules.some(([end, of = resource]) => of === resource && `${path}.${member}`.endsWith(`.${end}`));
    const kept = Object.entries(value).filter(([member]) => !isOut(member));
    return Object.fromEntries(kept.map(([name, inner]) => [name, pass(inner, resource, `${path}.${name}`)]));
  }
  return pass;
}

/**
 * Keeps these hosts out from now on, beside those that are, and these members: passes all that is stored through the door,
 * and writes the file anew, because its free pages and its log still hold what was taken out. `to_scrub` stays if a program
 * that reads the mirror keeps its log from being emptied.
 * @returns the records that were rewritten
 */
export function keepOut(mirror: Mirror, hosts: readonly string[], omit?: readonly string[]) {
  const known = readKeptOut(mirror);
  const held = mirror.transaction(() => {
    writeInfo(mirror, "omit", JSON.stringify(omit ?? known.omit));
    writeInfo(mirror, "forgotten", JSON.stringify([...new Set([...known.forgotten, ...hosts])]));
    writeInfo(mirror, "to_scrub", "1");
    const records = findHeld(mirror);
    for (const record of records) for (const sql of rewriting) statement(mirror, sql).run(record);
    rebuildTables(mirror, [...resources, ...details]);
    mirror.db.exec(snapshots);
    return records;
  });
  mirror.db.exec("VACUUM");
  const [{ busy }] = mirror.db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
  if (busy === 0) mirror.transaction(() => forgetInfo(mirror, "to_scrub"));
  return held;
}

const rewriting = [
  // A change can be of an object that holds what was dropped, or of a part of it.
  `DELETE FROM changes WHERE resource = @resource AND key = @key AND kind = 'changed' AND EXISTS (
     SELECT 1 FROM (SELECT json FROM records WHERE record_id = @id
       UNION ALL SELECT json FROM record_versions WHERE record_id = @id) AS s, json_each(dropped(@resource, s.json)) AS d
     WHERE instr(d.value, field) = 1 OR instr(field, d.value) = 1)`,
  "UPDATE records SET json = kept(resource, json), list_json = kept(resource, list_json) WHERE record_id = @id",
  "UPDATE record_versions SET json = kept(@resource, json) WHERE record_id = @id",
];

const snapshots = `UPDATE analytics_hosts_snapshots SET host_username =
  kept('analytics-hosts', json_object('host', json_object('id', host_id, 'username', host_username)))
    ->> '$.host.username'`;

/** Returns the records that hold what the door keeps out, now or before. In SQL, `kept` is what passes it. */
export function findHeld(mirror: Mirror) {
  const door = openDoor(mirror);
  const pass = (name: string, json: string) => door(JSON.parse(json), name);
  mirror.db.function("kept", (name, json) => json && JSON.stringify(pass(name, json)));
  mirror.db.function("dropped", (name, json) => {
    const changes = diffRecords(JSON.parse(json), pass(name, json));
    return JSON.stringify(changes.map(({ field }) => field));
  });
  const select = `SELECT record_id AS id, resource, key FROM records AS r
    WHERE kept(resource, json) <> json OR kept(resource, list_json) <> list_json OR EXISTS (
      SELECT 1 FROM record_versions AS v WHERE v.record_id = r.record_id AND kept(r.resource, v.json) <> v.json)`;
  return mirror.db.prepare<[], { id: number; resource: string; key: string }>(select).all();
}

/** Returns the id of each host of the records and of their history: by each handle that only it has, or had, and by its id. */
export function readHosts(mirror: Mirror): Map<string, string> {
  const select = `WITH hosts AS (
      SELECT DISTINCT value ->> 'id' || '' AS id, value ->> 'username' AS username
      FROM (SELECT json FROM records UNION ALL SELECT json FROM record_versions) AS stored, json_tree(stored.json)
      WHERE key = 'host' AND iif(type = 'object', value ->> 'id', NULL) IS NOT NULL)
    SELECT username, max(id) FROM hosts GROUP BY username HAVING count(DISTINCT id) = 1 AND username IS NOT NULL
    UNION ALL SELECT DISTINCT id, id FROM hosts`;
  return new Map(mirror.db.prepare<[], [string, string]>(select).raw().all());
}
