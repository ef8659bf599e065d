import { type Mirror, scrub, statement, writeInfo } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import type { Json, Resource } from "../resources/types.js";
import { asText } from "./diff.js";
import { type Door, type KeptOut, openDoor, readKeptOut } from "./door.js";
import { rebuildTables } from "./reprojection.js";
import { type StoredRow, storedRecords } from "./stored-record.js";
import { isObject } from "./values.js";

/** How much of what is stored held something that is kept out: records by resource, and rows of the history. */
export interface Held {
  records: Record<string, number>;
  versions: number;
  changes: number;
  snapshots: number;
}

type Text = "json" | "list_json" | "old" | "new";
type Row = { [Column in Text]?: string | null };

/**
 * Keeps more out of a mirror, and takes it out of all that is stored. `omit` replaces the list; forgotten hosts are added.
 * @param also is called in the same transaction
 * @returns what was rewritten; null if nothing new was named
 */
export function keepOut(mirror: Mirror, more: Partial<KeptOut>, also: (held: Held) => void = () => {}) {
  const known = readKeptOut(mirror);
  const { omit = known.omit, forgotten = [] } = more;
  const isNew = forgotten.length > 0 || omit.some((rule) => !known.omit.includes(rule));
  const held = mirror.transaction(() => {
    writeInfo(mirror, "omit", JSON.stringify(omit));
    writeInfo(mirror, "forgotten", JSON.stringify([...new Set([...known.forgotten, ...forgotten])]));
    if (!isNew) return null;
    const found = findHeld(mirror, (table, id, row) => replace(mirror, table, id, row));
    const touched = [...resources, ...details].filter(({ name }) => found.records[name]);
    rebuildTables(mirror, touched);
    also(found);
    writeInfo(mirror, "to_scrub", "1");
    return found;
  });
  return { held, isScrubbed: scrub(mirror) };
}

/** Finds what is stored although it is kept out. @param found is given each row as it should be */
export function findHeld(
  mirror: Mirror,
  found: (table: string, id: number | string, row: Row) => void = () => {},
): Held {
  const held: Held = { records: {}, versions: 0, changes: 0, snapshots: 0 };
  const { omit, forgotten } = readKeptOut(mirror);
  if (omit.length + forgotten.length === 0) return held;
  for (const resource of [...resources, ...details]) findInRecords(mirror, resource, held, found);
  const door = openDoor(mirror, "analytics-hosts");
  const named = `SELECT DISTINCT host_id AS id, host_username AS username FROM analytics_hosts_snapshots
    WHERE host_id IS NOT NULL AND host_username IS NOT NULL`;
  for (const host of statement(mirror, named).all() as { id: string; username: string }[]) {
    const kept = door({ ...host }, ".host");
    if (isObject(kept) && "username" in kept) continue;
    held.snapshots += 1;
    found("analytics_hosts_snapshots", host.id, {});
  }
  return held;
}

function findInRecords(
  mirror: Mirror,
  { history, name }: Resource,
  held: Held,
  found: (table: string, id: number, row: Row) => void,
): void {
  let dropped: [member: string, text: string][] = [];
  const door = openDoor(mirror, name, (member, value) => void dropped.push(...textsOf(member, value)));

  /** Passes the texts of a row through `pass`. @returns true if one of them lost something */
  function rewrite(table: string, id: number, row: Row, pass: (text: string) => string | null): boolean {
    const entries = Object.entries(row).map(([column, text]) => [column, text && pass(text)] as const);
    const changed = entries.filter(([column, text]) => text !== row[column as Text]);
    if (changed.length > 0) found(table, id, Object.fromEntries(entries));
    return changed.length > 0;
  }
  const passRecord = (text: string) => passJson(text, "", door, () => dropped.length);

  type Stored = StoredRow & { key: string; list_json: string | null };
  const records = mirror.db.prepare<[number, string], Stored>(
    "SELECT * FROM records WHERE record_id > ? AND resource = ? ORDER BY record_id",
  );
  const versions = statement(
    mirror,
    "SELECT version_id AS id, json FROM record_versions WHERE record_id = ?",
  );
  const changes = statement(
    mirror,
    "SELECT change_id AS id, field, old, new FROM changes WHERE resource = ? AND key = ? AND kind = 'changed'",
  );
  for (const { row, recordId } of storedRecords(mirror, records, name)) {
    dropped = [];
    const { json, key, list_json } = row;
    if (rewrite("records", recordId, { json, list_json }, passRecord))
      held.records[name] = (held.records[name] ?? 0) + 1;
    if (!history) continue;
    for (const { id, json } of versions.all(recordId) as { id: number; json: string }[])
      if (rewrite("record_versions", id, { json }, passRecord)) held.versions += 1;
    for (const { id, field, ...values } of changes.all(name, key) as (Row & {
      id: number;
      field: string;
    })[]) {
      const isDropped = (text: string) =>
        dropped.some(
          ([member, value]) =>
            value === text && (`.${field}`.endsWith(`.${member}`) || field.endsWith(`_${member}`)),
        );
      const place = `.${field.split(".").at(-1)}`;
      const pass = (text: string) =>
        isDropped(text) ? null : passJson(text, place, door, () => dropped.length);
      if (rewrite("changes", id, values, pass)) held.changes += 1;
    }
  }
}

/** Returns a text of JSON without what is kept out; any other text, and one that loses nothing, as it is. */
function passJson(text: string, place: string, door: Door, droppedSoFar: () => number): string {
  if (!/^[[{]/.test(text)) return text;
  const before = droppedSoFar();
  try {
    const kept = JSON.stringify(door(JSON.parse(text), place));
    return droppedSoFar() > before ? kept : text;
  } catch {
    return text;
  }
}

/** Returns a dropped member and all members below it, each with its value as `changes` spells it. */
function textsOf(member: string, value: Json): [string, string][] {
  const own = asText(value);
  const below = isObject(value) ? Object.entries(value).flatMap((inner) => textsOf(...inner)) : [];
  return own === null ? below : [[member, own], ...below];
}

function replace(mirror: Mirror, table: string, id: number | string, row: Row): void {
  const run = (sql: string) => statement(mirror, sql).run({ ...row, id });
  if (table === "records")
    run("UPDATE records SET json = @json, list_json = @list_json WHERE record_id = @id");
  else if (table === "record_versions") run("UPDATE record_versions SET json = @json WHERE version_id = @id");
  else if (table === "analytics_hosts_snapshots")
    run("UPDATE analytics_hosts_snapshots SET host_username = NULL WHERE host_id = @id");
  // A change of nothing but what is kept out is none.
  else if (row.old === null && row.new === null) run("DELETE FROM changes WHERE change_id = @id");
  else run("UPDATE changes SET old = @old, new = @new WHERE change_id = @id");
}
