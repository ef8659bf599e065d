import { tablesOf } from "../resources/shape.js";
import { isObject, type Json, type JsonObject, type Resource } from "../resources/types.js";
import { type Signed, sameJson, signedIn, signedOf } from "./same.js";

/** One field of a record that changed; values as text, null if there is none. */
export interface FieldChange {
  field: string;
  old: string | null;
  new: string | null;
}

/**
 * Returns the differences between two states of a record by column name: nested objects with their prefix, list items
 * that have an id one by one (`assignments.<id>.status`), other lists as a whole. Neither the order of members nor the
 * signature of a URL is a difference, if the resource is given.
 */
export function diffRecords(before: Json, after: Json, resource?: Resource): FieldChange[] {
  const columns = resource ? tablesOf(resource).flatMap((table) => table.columns) : [];
  const closed = columns.filter(({ type }) => type === "json");
  const changes: FieldChange[] = [];
  const pair = { before, after, name: "", separator: "_", signed: resource && signedOf(resource) };
  compare(pair, new Set(closed.map(({ name }) => name)), changes);
  return changes;
}

interface Pair {
  before: Json | undefined;
  after: Json | undefined;
  name: string;
  separator: string;
  signed: Signed | undefined;
}

function compare(pair: Pair, closed: ReadonlySet<string>, changes: FieldChange[]): void {
  const { before, after, name, signed } = pair;
  if (sameJson(before ?? null, after ?? null, signed)) return;
  const members = closed.has(name) ? undefined : comparableMembers(before, after);
  if (!members) {
    changes.push({ field: name, old: asText(before), new: asText(after) });
    return;
  }
  const separator = members.areItems ? "." : pair.separator;
  for (const member of new Set([...Object.keys(members.before), ...Object.keys(members.after)])) {
    const inner = {
      before: members.before[member],
      after: members.after[member],
      name: name === "" ? member : `${name}${separator}${member}`,
      separator,
      signed: members.areItems ? signed : signedIn(signed, member),
    };
    compare(inner, closed, changes);
  }
}

/** Returns two values whose members can be compared one by one: objects, or lists whose items have ids. */
function comparableMembers(before: Json | undefined, after: Json | undefined) {
  if (isObject(before) && isObject(after)) return { before, after, areItems: false };
  const old = itemsById(before);
  const now = itemsById(after);
  return old && now ? { before: old, after: now, areItems: true } : undefined;
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

/** Returns a value as `changes` spells it. */
export function asText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
