import { tablesOf } from "../resources/shape.js";
import type { Json, JsonObject, Resource } from "../resources/types.js";

/** One field of a record that is not what it was; values as text, null where there is none. */
export interface FieldChange {
  field: string;
  old: string | null;
  new: string | null;
}

/**
 * What differs between two forms of a record, by column name: nested objects with their prefix, and list items
 * that have an id one by one (`assignments.<id>.status`); other lists as a whole. Order of members is no change.
 */
export function diffRecords(before: Json, after: Json, resource: Resource): FieldChange[] {
  const closed = new Set(
    tablesOf(resource).flatMap((table) =>
      table.columns.filter((column) => column.type === "json").map((column) => column.name),
    ),
  );
  const changes: FieldChange[] = [];
  compare(before, after, "", "_", closed, changes);
  return changes;
}

function compare(
  before: Json | undefined,
  after: Json | undefined,
  name: string,
  separator: string,
  closed: ReadonlySet<string>,
  changes: FieldChange[],
): void {
  if (sameJson(before ?? null, after ?? null)) return;
  const members = closed.has(name) ? undefined : comparableMembers(before, after);
  if (!members) {
    changes.push({ field: name, old: asText(before), new: asText(after) });
    return;
  }
  const join = (member: string) =>
    name === "" ? member : `${name}${members.separator ?? separator}${member}`;
  for (const member of new Set([...Object.keys(members.before), ...Object.keys(members.after)]))
    compare(
      members.before[member],
      members.after[member],
      join(member),
      members.separator ?? separator,
      closed,
      changes,
    );
}

/** Two things whose members can be compared one by one: objects, or lists whose items have ids. */
function comparableMembers(before: Json | undefined, after: Json | undefined) {
  if (isObject(before) && isObject(after)) return { before, after, separator: undefined };
  const old = itemsById(before);
  const now = itemsById(after);
  return old && now ? { before: old, after: now, separator: "." } : undefined;
}

function itemsById(value: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: JsonObject = Object.create(null);
  for (const item of value) {
    if (!isObject(item) || typeof item.id !== "string" || item.id in items) return undefined;
    items[item.id] = item;
  }
  return items;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Deep equality that does not mind the order of members. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i] ?? null))
    );
  const members = Object.keys(a);
  return (
    members.length === Object.keys(b).length &&
    members.every((member) => Object.hasOwn(b, member) && sameJson(a[member] ?? null, b[member] ?? null))
  );
}
