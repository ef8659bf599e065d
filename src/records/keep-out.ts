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
    for (const record of findHeld(mirror)) {
      rewrite(mirror, record);
      held[record.resource] = (held[record.resource] ?? 0) + 1;
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
 * Writes the file anew if something was taken out of it: until then its free pages and its log hold it. If a program
 * that reads the mirror keeps its log from being emptied, `to_scrub` stays.
 */
export function scrub(mirror: Mirror): void {
  if (readInfo(mirror, "to_scrub") === null) return;
  mirror.db.exec("VACUUM");
  const [{ busy }] = mirror.db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
  if (busy === 0) mirror.transaction(() => forgetInfo(mirror, "to_scrub"));
}

/** A record of which something is stored, now or before, that the door keeps out. */
interface HeldRecord {
  id: number;
  resource: string;
  key: string;
}

export function findHeld(mirror: Mirror): HeldRecord[] {
  const doors = new Map(all.map(({ name }) => [name, openDoor(mirror, name)]));
  mirror.db.function("kept", (name: string, text: string | null) => {
    return text && JSON.stringify(doors.get(name)?.(JSON.parse(text)));
  });
  const select = mirror.db.prepare<[], HeldRecord>(
    `SELECT record_id AS id, resource, key FROM records AS r
     WHERE kept(resource, json) <> json OR kept(resource, list_json) <> list_json OR EXISTS (
       SELECT 1 FROM record_versions AS v WHERE v.record_id = r.record_id AND kept(r.resource, v.json) <> v.json)`,
  );
  return select.all();
}

/** Passes a record and its versions through the door, and takes the values of its changes from them. */
function rewrite(mirror: Mirror, { id, resource: name, key }: HeldRecord): void {
  const run = (sql: string) => statement(mirror, sql).run({ id, name, key });
  run(
    "UPDATE records SET json = kept(@name, json), list_json = kept(@name, list_json) WHERE record_id = @id",
  );
  run("UPDATE record_versions SET json = kept(@name, json) WHERE record_id = @id");
  const states = statement(
    mirror,
    `SELECT json, until_at AS at FROM (SELECT version_id, json, until_at FROM record_versions WHERE record_id = @id
       UNION ALL SELECT 1e18, json, NULL FROM records WHERE record_id = @id ORDER BY 1)`,
  ).all({ id }) as { json: string; at: string }[];
  const resource = all.find((one) => one.name === name);
  const values = new Map<string, FieldChange>();
  for (const [index, { json, at }] of states.slice(0, -1).entries()) {
    const after = JSON.parse(states[index + 1]?.json ?? json) as Json;
    for (const change of resource ? diffRecords(JSON.parse(json), after, resource) : [])
      values.set(`${at} ${change.field}`, change);
  }
  const update = statement(mirror, "UPDATE changes SET old = ?, new = ? WHERE change_id = ?");
  const changed = "FROM changes WHERE resource = @name AND key = @key AND kind = 'changed'";
  const stored = statement(
    mirror,
    `SELECT change_id AS id, seen_changed_at || ' ' || field AS place ${changed}`,
  );
  for (const row of stored.all({ name, key }) as { id: number; place: string }[]) {
    const change = values.get(row.place);
    update.run(change?.old ?? null, change?.new ?? null, row.id);
  }
  run(`DELETE ${changed} AND old IS NULL AND new IS NULL`);
}
