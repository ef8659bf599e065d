import { forgetInfo, type Mirror, readInfo, statement, writeInfo } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import type { Json, Resource } from "../resources/types.js";
import { diffRecords, type FieldChange } from "./diff.js";
import { type KeptOut, openDoor } from "./door.js";
import { rebuildTables } from "./reprojection.js";

/** How many records held something that is kept out, or did so before, by resource. */
export type Held = Record<string, number>;

const all: readonly Resource[] = [...resources, ...details];

/**
 * Keeps these out of a mirror from now on, and takes them out of all that is stored: records and their versions pass
 * through the door, changes follow from the versions, and tables from the records.
 * @param also is called in the same transaction
 */
export function keepOut(mirror: Mirror, { omit, forgotten }: KeptOut, also = (_: Held) => {}): Held {
  const held: Held = {};
  mirror.transaction(() => {
    writeInfo(mirror, "omit", JSON.stringify(omit));
    writeInfo(mirror, "forgotten", JSON.stringify(forgotten));
    writeInfo(mirror, "to_scrub", "1");
    for (const id of findHeld(mirror)) {
      const { name } = rewrite(mirror, id);
      held[name] = (held[name] ?? 0) + 1;
    }
    rebuildTables(
      mirror,
      all.filter(({ name }) => name in held),
    );
    mirror.db.exec(
      `UPDATE analytics_hosts_snapshots AS s SET host_username = NULL WHERE NOT EXISTS (
         SELECT 1 FROM analytics_hosts AS h WHERE h.host_id = s.host_id AND h.host_username IS NOT NULL)`,
    );
    also(held);
  });
  scrub(mirror);
  return held;
}

/**
 * Writes the file anew if something was taken out of it: until then its free pages and its log hold it.
 * @returns false if a program that reads the mirror keeps its log from being emptied
 */
export function scrub(mirror: Mirror): boolean {
  if (readInfo(mirror, "to_scrub") === null) return true;
  mirror.db.exec("VACUUM");
  const [{ busy }] = mirror.db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
  if (busy === 0) mirror.transaction(() => forgetInfo(mirror, "to_scrub"));
  return busy === 0;
}

/** Returns the ids of the records of which something is stored, now or before, that the door keeps out. */
export function findHeld(mirror: Mirror): number[] {
  const doors = new Map(all.map(({ name }) => [name, openDoor(mirror, name)]));
  mirror.db.function("kept", (name: string, text: string | null) => {
    return text && JSON.stringify(doors.get(name)?.(JSON.parse(text)));
  });
  const select = mirror.db.prepare<[], number>(
    `SELECT record_id FROM records AS r WHERE kept(resource, json) <> json OR kept(resource, list_json) <> list_json
       OR EXISTS (SELECT 1 FROM record_versions AS v WHERE v.record_id = r.record_id AND kept(r.resource, v.json) <> v.json)`,
  );
  return select.pluck().all();
}

type State = { json: string; at: string };

/** Passes a record, its versions and its changes through the door. @returns its resource */
function rewrite(mirror: Mirror, id: number): Resource {
  const update = "UPDATE records SET json = kept(resource, json), list_json = kept(resource, list_json)";
  statement(mirror, `${update} WHERE record_id = ?`).run(id);
  const versions = "UPDATE record_versions AS v SET json = kept(r.resource, v.json) FROM records AS r";
  statement(mirror, `${versions} WHERE v.record_id = ? AND r.record_id = v.record_id`).run(id);
  const record = statement(mirror, "SELECT resource, key FROM records WHERE record_id = ?").get(id) as {
    resource: string;
    key: string;
  };
  const states = statement(
    mirror,
    `SELECT json, until_at AS at FROM (SELECT version_id, json, until_at FROM record_versions WHERE record_id = @id
       UNION ALL SELECT 1e18, json, '' FROM records WHERE record_id = @id ORDER BY 1)`,
  ).all({ id }) as State[];
  const resource = all.find(({ name }) => name === record.resource);
  if (!resource) throw new Error(`no such resource: ${record.resource}`);
  rewriteChanges(mirror, resource, record.key, states);
  return resource;
}

/** Takes the values of a record's changes from its states; a change of nothing but what is kept out is removed. */
function rewriteChanges(mirror: Mirror, resource: Resource, key: string, states: readonly State[]): void {
  const changes = new Map<string, FieldChange>();
  for (const [index, { json, at }] of states.slice(0, -1).entries()) {
    const after = JSON.parse(states[index + 1]?.json ?? json) as Json;
    for (const change of diffRecords(JSON.parse(json), after, resource))
      changes.set(`${at} ${change.field}`, change);
  }
  const select = `SELECT change_id AS id, seen_changed_at || ' ' || field AS place FROM changes
    WHERE resource = ? AND key = ? AND kind = 'changed'`;
  const stored = statement(mirror, select).all(resource.name, key) as { id: number; place: string }[];
  const update = statement(mirror, "UPDATE changes SET old = ?, new = ? WHERE change_id = ?");
  for (const { id, place } of stored)
    update.run(changes.get(place)?.old ?? null, changes.get(place)?.new ?? null, id);
  const remove =
    "DELETE FROM changes WHERE resource = ? AND key = ? AND kind = 'changed' AND old IS NULL AND new IS NULL";
  statement(mirror, remove).run(resource.name, key);
}
