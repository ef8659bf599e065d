import type { Mirror } from "../mirror/index.js";
import type { ApiRecord, Json } from "../resources/types.js";
import { valueAt } from "./values.js";

/** A member of every present record of a resource, as text, each value once. */
export function presentKeys(mirror: Mirror, resource: string, path: string): string[] {
  const members = path.split(".");
  const values = new Set<string>();
  for (const { value } of presentRecords(mirror, resource)) {
    const member = valueAt(value, members);
    if (typeof member === "string") values.add(member);
  }
  return [...values];
}

/** A record that is there. */
export interface Present extends ApiRecord {
  id: number;
  key: string;
  /** When its details were last read, ISO 8601; null before the first time. */
  detailedAt: string | null;
  /** Whether the list has shown it otherwise since. */
  isOutdated: boolean;
}

/**
 * The present records of a resource, in the order in which they came. One at a time: each may be large.
 * @param ending of their keys
 */
export function* presentRecords({ db }: Mirror, resource: string, ending = ""): Generator<Present> {
  const ids = db
    .prepare(
      `SELECT record_id FROM records WHERE resource = @resource AND removed_at IS NULL
         AND (@ending = '' OR substr(key, -length(@ending)) = @ending) ORDER BY record_id`,
    )
    .pluck()
    .all({ resource, ending }) as number[];
  const get = db.prepare<[number], PresentRow>(
    "SELECT record_id AS id, key, json, detailed_at, outdated FROM records WHERE record_id = ?",
  );
  for (const id of ids) {
    const row = get.get(id);
    if (!row) continue;
    const { key, json, detailed_at: detailedAt, outdated } = row;
    yield { id, key, json, value: JSON.parse(json) as Json, detailedAt, isOutdated: outdated === 1 };
  }
}

interface PresentRow {
  key: string;
  json: string;
  detailed_at: string | null;
  outdated: number;
}

/** What the list last said of a record that has details; null where it has none. */
export function listedRecord({ db }: Mirror, id: number): Json {
  const text = db.prepare("SELECT list_json FROM records WHERE record_id = ?").pluck().get(id) as
    | string
    | null;
  return text === null ? null : (JSON.parse(text) as Json);
}

/** Notes when details were read that are kept beside a record. */
export function noteDetailed({ db }: Mirror, id: number, at: string): void {
  db.prepare("UPDATE records SET detailed_at = ?, outdated = 0 WHERE record_id = ?").run(at, id);
}

/** Notes that a record's details are another by now than those that were read. */
export function noteOutdated({ db }: Mirror, id: number): void {
  db.prepare("UPDATE records SET outdated = 1 WHERE record_id = ?").run(id);
}

/** The present records that are details of others, by whose they are: the text under `parent` in what was asked for. */
export function presentDetails(mirror: Mirror, resource: string, parent: string): Map<string, number[]> {
  const details = new Map<string, number[]>();
  const rows = mirror.db
    .prepare(
      "SELECT record_id, json_extract(context, ?) FROM records WHERE resource = ? AND removed_at IS NULL",
    )
    .raw()
    .all(`$.${parent}`, resource) as [number, string][];
  for (const [id, of] of rows) {
    const theirs = details.get(of);
    if (theirs) theirs.push(id);
    else details.set(of, [id]);
  }
  return details;
}

/** Whether a record is there and not removed. */
export function isPresent(mirror: Mirror, resource: string, key: string): boolean {
  const find = mirror.db.prepare(
    "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  return find.get(resource, key) !== undefined;
}
