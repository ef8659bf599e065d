import { Exact, hasInexactNumbers, parseExact } from "../lib/exact.js";
import { tablesOf } from "../resources/shape.js";
import type { Json, JsonObject, Resource } from "../resources/types.js";
import { type Signed, sameJson, signedIn, signedOf } from "./same.js";
import { isObject, valueAt } from "./values.js";

/** One field of a record that is not what it was; values as text, null where there is none. */
export interface FieldChange {
  field: string;
  old: string | null;
  new: string | null;
}

/**
 * What differs between two versions of a record, by column name: nested objects with their prefix, and list items
 * that have an id one by one (`assignments.<id>.status`); other lists as a whole. Order of members is no change, and
 * neither is another signature of a URL.
 * @param texts of the two versions: a number is told as it was sent
 */
export function diffRecords(
  before: Json,
  after: Json,
  resource: Resource,
  texts?: { before: string; after: string },
): FieldChange[] {
  const closed = new Set(
    tablesOf(resource).flatMap((table) =>
      table.columns.filter((column) => column.type === "json").map((column) => column.name),
    ),
  );
  const changes: FieldChange[] = [];
  const pair = { before, after, exactBefore: exactOf(texts?.before), exactAfter: exactOf(texts?.after) };
  compare({ ...pair, name: "", separator: "_", signed: signedOf(resource) }, closed, changes);
  return changes;
}

function exactOf(text = ""): unknown {
  return hasInexactNumbers(text) ? parseExact(text) : undefined;
}

interface Pair {
  before: Json | undefined;
  after: Json | undefined;
  /** The same with exact numbers, where they differ. */
  exactBefore: unknown;
  exactAfter: unknown;
  name: string;
  separator: string;
  signed: Signed | undefined;
}

function compare(pair: Pair, closed: ReadonlySet<string>, changes: FieldChange[]): void {
  const { before, after, exactBefore, exactAfter, name, signed } = pair;
  if (sameJson(before ?? null, after ?? null, signed)) return;
  const members = closed.has(name) ? undefined : comparableMembers(before, after);
  if (!members) {
    changes.push({ field: name, old: asText(before, exactBefore), new: asText(after, exactAfter) });
    return;
  }
  const separator = members.areItems ? "." : pair.separator;
  const exactOld = members.areItems ? itemsById(exactBefore) : exactBefore;
  const exactNew = members.areItems ? itemsById(exactAfter) : exactAfter;
  for (const member of new Set([...Object.keys(members.before), ...Object.keys(members.after)])) {
    const inner = {
      before: members.before[member],
      after: members.after[member],
      exactBefore: valueAt(exactOld, [member]),
      exactAfter: valueAt(exactNew, [member]),
      name: name === "" ? member : `${name}${separator}${member}`,
      separator,
      signed: members.areItems ? signed : signedIn(signed, member),
    };
    compare(inner, closed, changes);
  }
}

/** Two things whose members can be compared one by one: objects, or lists whose items have ids. */
function comparableMembers(before: Json | undefined, after: Json | undefined) {
  if (isObject(before) && isObject(after)) return { before, after, areItems: false };
  const old = itemsById(before);
  const now = itemsById(after);
  return old && now ? { before: old, after: now, areItems: true } : undefined;
}

function itemsById(value: unknown): JsonObject | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: JsonObject = Object.create(null);
  for (const item of value) {
    if (!isObject(item) || typeof item.id !== "string" || item.id in items) return undefined;
    items[item.id] = item;
  }
  return items;
}

function asText(value: Json | undefined, exact: unknown): string | null {
  if (exact instanceof Exact) return exact.literal;
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
