import type { Mirror } from "../mirror/mirror.js";
import type { ApiRecord, Json } from "../resources/types.js";

/** A record whose details may be read. */
export interface Detailed extends ApiRecord {
  id: number;
  key: string;
  /** When this form of it was first read, ISO 8601. */
  changedAt: string;
  /** Whether the list's record came or changed since its details were read. */
  pending: boolean;
}

/** The present records of a resource that has details. */
export function readDetailed(mirror: Mirror, resource: string): Detailed[] {
  const rows = mirror.db
    .prepare(
      "SELECT record_id, key, json, detailed_at, since_at FROM records WHERE resource = ? AND removed_at IS NULL ORDER BY record_id",
    )
    .all(resource) as {
    record_id: number;
    key: string;
    json: string;
    detailed_at: string | null;
    since_at: string;
  }[];
  return rows.map(({ record_id, key, json, detailed_at, since_at }) => ({
    id: record_id,
    key,
    changedAt: since_at,
    json,
    value: JSON.parse(json) as Json,
    pending: detailed_at === null || detailed_at < since_at,
  }));
}

/** The present records that are details of others, and whose: the text under `parent` in what was asked for. */
export function presentDetails(mirror: Mirror, resource: string, parent: string): Map<number, string> {
  const rows = mirror.db
    .prepare(
      "SELECT record_id, json_extract(context, ?) FROM records WHERE resource = ? AND removed_at IS NULL",
    )
    .raw()
    .all(`$.${parent}`, resource) as [number, string][];
  return new Map(rows);
}

/** Whether a record is there and not removed. */
export function isPresent(mirror: Mirror, resource: string, key: string): boolean {
  const find = mirror.db.prepare(
    "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  return find.get(resource, key) !== undefined;
}

/**
 * The list's new form of a record with the members that only its details have: what the API last said of each.
 * The text of every member is taken over as it was sent.
 */
export function withDetails(list: ApiRecord, detailJson: string): ApiRecord {
  const members = membersOf(detailJson);
  for (const [member, text] of membersOf(list.json)) members.set(member, text);
  const json = `{${[...members].map(([member, text]) => `${member}:${text}`).join(",")}}`;
  return { json, value: JSON.parse(json) as Json };
}

/** The members of a minified object, name (quoted) and value as text. */
function membersOf(json: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let start = 1;
  let name = "";
  for (const { 0: part, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (part === "{" || part === "[") depth += 1;
    else if (part === "}" || part === "]") depth -= 1;
    else if (part === ":" && depth === 1 && name === "") {
      name = json.slice(start, index);
      start = index + 1;
    }
    const isEnd = (part === "," && depth === 1) || depth === 0;
    if (!isEnd) continue;
    if (name !== "") members.set(name, json.slice(start, index));
    name = "";
    start = index + 1;
  }
  return members;
}
