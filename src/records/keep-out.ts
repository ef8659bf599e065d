import { MirrorBusy } from "../errors.js";
import { emptyLog, type Mirror, readInfo, statement, writeInfo } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import { isObject, type Json } from "../resources/types.js";
import { diffRecords } from "./diff.js";
import { rebuildTables } from "./reprojection.js";

type Door = (value: Json, resource: string) => Json;

/** A mirror does not keep members, by the end of their path, and hosts, but for their ids. */
type KeptOut = Record<"omit" | "forgotten", readonly string[]>;

export function readKeptOut(mirror: Mirror): KeptOut {
  const read = (name: string): string[] => JSON.parse(readInfo(mirror, name) ?? "[]");
  return { omit: read("omit"), forgotten: read("forgotten") };
}

/** Returns the one function that drops members of a resource's records: those omitted, and those of forgotten hosts. */
export function openDoor(mirror: Mirror, { omit, forgotten } = readKeptOut(mirror)): Door {
  const rules = omit.map((rule) => rule.split(":").reverse());
  const hosts = new Set(forgotten);
  if (rules.length + hosts.size === 0) return (value) => value;

  function redact(value: Json, resource: string, path = ""): Json {
    if (Array.isArray(value)) return value.map((item) => redact(item, resource, path));
    if (!isObject(value)) return value;
    const isOut = (member: string) =>
      (hosts.has(String(value.id)) && member !== "id") ||
      (hosts.has(String(value.host_id)) && /^host_(?!id$)/.test(member)) ||
      rules.some(([end, of = resource]) => of === resource && `${path}.${member}`.endsWith(`.${end}`));
    const kept = Object.entries(value).filter(([member]) => !isOut(member));
    return Object.fromEntries(
      kept.map(([name, inner]) => [name, redact(inner, resource, `${path}.${name}`)]),
    );
  }
  return redact;
}

/**
 * Adds hosts to those that are kept out, replaces the list of omitted members, and rewrites all that is stored without
 * them. The file is written anew, because its free pages and its log still hold that data.
 * @returns how many records were rewritten, in all and by resource
 * @throws MirrorBusy if a program reads the log: the same call again scrubs the file
 */
export function keepOut(mirror: Mirror, hosts: readonly string[], omit?: readonly string[]) {
  const known = readKeptOut(mirror);
  const kept: KeptOut = { omit: omit ?? known.omit, forgotten: [...new Set([...known.forgotten, ...hosts])] };
  const rewritten = mirror.transaction(() => {
    const counts: Record<string, number> = {};
    const held = findHeld(mirror, kept);
    for (const record of held) {
      for (const sql of rewriting) statement(mirror, sql).run(record);
      counts[record.resource] = (counts[record.resource] ?? 0) + 1;
    }
    const all = [...resources, ...details];
    rebuildTables(
      mirror,
      all.filter(({ name }) => name in counts),
    );
    return { total: held.length, counts };
  });
  mirror.db.exec("VACUUM");
  const again = hosts.length > 0 ? `forget --host ${hosts[0]}` : "sync";
  if (!emptyLog(mirror))
    throw new MirrorBusy("A program that reads the mirror holds its log, in which is what was taken out.", {
      hint: `close that program, then run \`brandapi ${again}\``,
    });
  // Last: a run that is killed before has forgotten and omitted nothing, and is run again.
  mirror.transaction(() => {
    for (const [name, list] of Object.entries(kept)) writeInfo(mirror, name, JSON.stringify(list));
  });
  return rewritten;
}

const rewriting = [
  // A change can be of an object that holds what was dropped, or of a part of it.
  `DELETE FROM changes WHERE resource = @resource AND key = @key AND kind = 'changed' AND EXISTS (
     SELECT 1 FROM (SELECT json FROM records WHERE record_id = @id
       UNION ALL SELECT json FROM record_versions WHERE record_id = @id) AS s, json_each(redacted_fields(@resource, s.json)) AS d
     WHERE instr(d.value, field) = 1 OR instr(field, d.value) = 1)`,
  "UPDATE records SET json = redacted(resource, json), list_json = redacted(resource, list_json) WHERE record_id = @id",
  "UPDATE record_versions SET json = redacted(@resource, json) WHERE record_id = @id",
];

/** Returns the records that hold what is kept out, now or in their history. Gives the connection the SQL functions for that. */
export function findHeld(mirror: Mirror, kept = readKeptOut(mirror)) {
  const door = openDoor(mirror, kept);
  const redact = (resource: string, json: string) => door(JSON.parse(json), resource);
  mirror.db.function("redacted", (resource, json) => json && JSON.stringify(redact(resource, json)));
  mirror.db.function("redacted_fields", (resource, json) => {
    const changes = diffRecords(JSON.parse(json), redact(resource, json));
    return JSON.stringify(changes.map(({ field }) => field));
  });
  const select = `SELECT record_id AS id, resource, key FROM records AS r
    WHERE redacted(resource, json) <> json OR redacted(resource, list_json) <> list_json OR EXISTS (
      SELECT 1 FROM record_versions AS v
      WHERE v.record_id = r.record_id AND redacted(r.resource, v.json) <> v.json)`;
  return mirror.db.prepare<[], { id: number; resource: string; key: string }>(select).all();
}

/** Returns the hosts' ids by id and by handle, from the records and their history; no handle that two hosts have had. */
export function readHosts(mirror: Mirror): Map<string, string> {
  const select = `WITH hosts AS (
      SELECT DISTINCT value ->> 'id' || '' AS id, value ->> 'username' AS username
      FROM (SELECT json FROM records UNION ALL SELECT json FROM record_versions) AS stored, json_tree(stored.json)
      WHERE key = 'host' AND iif(type = 'object', value ->> 'id', NULL) IS NOT NULL)
    SELECT username, max(id) FROM hosts GROUP BY username HAVING count(*) = 1 AND username IS NOT NULL
    UNION ALL SELECT DISTINCT id, id FROM hosts`;
  return new Map(mirror.db.prepare<[], [string, string]>(select).raw().all());
}
