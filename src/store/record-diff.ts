import type { Field } from "../resources/fields.js";
import type { Resource } from "../resources/resource.js";
import { listTableShapes } from "../resources/table-shape.js";
import { isObject, type Json, type JsonObject } from "../util/json-value.js";
import { nearlyEqual } from "../util/numbers.js";

/** True if two versions of a record are equal, ignoring field order, URL signatures and rounding. */
export function isSameRecord(a: Json, b: Json, resource: Resource): boolean {
  return isSameJson(a, b, findSignedUrls(resource.fields));
}

export function isSameJson(a: Json, b: Json, signed?: SignedUrls): boolean {
  if (a === b) return true;
  if (typeof a === "number" && typeof b === "number") return nearlyEqual(a, b);
  if (signed === "url") return typeof a === "string" && typeof b === "string" && isSameFile(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => isSameJson(item, b[i] ?? null, signed))
    );
  const members = Object.keys(a);
  return (
    members.length === Object.keys(b).length &&
    members.every(
      (member) =>
        Object.hasOwn(b, member) &&
        isSameJson(a[member] ?? null, b[member] ?? null, signedUrlsBelow(signed, member)),
    )
  );
}

/** True if two URLs differ only in their query string, which contains the signature. */
function isSameFile(a: string, b: string): boolean {
  return /^https?:\/\//i.test(a) && a.split("?")[0] === b.split("?")[0];
}

/**
 * Where a value contains signed URLs: `url` if the value itself is a signed URL, otherwise a map of the fields that
 * contain them. All items in a list share one description.
 */
type SignedUrls = "url" | { readonly [member: string]: SignedUrls };

function signedUrlsBelow(signed: SignedUrls | undefined, member: string): SignedUrls | undefined {
  return typeof signed === "object" && Object.hasOwn(signed, member) ? signed[member] : undefined;
}

function findSignedUrls(fields: readonly Field[]): SignedUrls | undefined {
  const members = fields.flatMap((field): [string, SignedUrls][] => {
    if (field.kind === "scalar") return field.isSignedUrl ? [[field.name, "url"]] : [];
    const signed = findSignedUrls(field.fields);
    return signed ? [[field.name, signed]] : [];
  });
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

/** A field in a record that has changed. A missing value counts as null. */
export interface FieldChange {
  field: string;
  /** The record's attribute that contains the field, such as `payment` for `payment_flatFee`. */
  attribute: string;
  old: string | null;
  new: string | null;
}

/**
 * Returns the differences between two versions of a record. A field in a nested object has the name of its column
 * (`host_id`). List items with an ID are compared one by one (`assignments.<id>.status`), and any other list or JSON
 * column is compared as one field.
 * @param resource determines the JSON columns and the fields with signed URLs
 */
export function diffRecords(before: Json, after: Json, resource?: Resource): FieldChange[] {
  const columns = resource ? listTableShapes(resource).flatMap((table) => table.columns) : [];
  const jsonColumns = new Set(columns.filter(({ type }) => type === "json").map(({ name }) => name));
  const changes: FieldChange[] = [];

  function compare(
    oldValue: Json | undefined,
    newValue: Json | undefined,
    field: { name: string; attribute: string; separator: string; signed: SignedUrls | undefined },
  ): void {
    const { attribute, name, signed } = field;
    if (isSameJson(oldValue ?? null, newValue ?? null, signed)) return;
    const members = jsonColumns.has(name) ? undefined : pairMembers(oldValue, newValue);
    if (!members) {
      changes.push({ field: name, attribute, old: formatValue(oldValue), new: formatValue(newValue) });
      return;
    }
    const separator = members.areItems ? "." : field.separator;
    for (const member of new Set([...Object.keys(members.before), ...Object.keys(members.after)]))
      compare(members.before[member], members.after[member], {
        name: name === "" ? member : `${name}${separator}${member}`,
        attribute: name === "" ? member : attribute,
        separator,
        signed: members.areItems ? signed : signedUrlsBelow(signed, member),
      });
  }

  const signed = resource && findSignedUrls(resource.fields);
  compare(before, after, { name: "", attribute: "", separator: "_", signed });
  return changes;
}

/**
 * If two values are both objects, or both lists of items with IDs, returns them as objects that can be compared field
 * by field. Otherwise, returns undefined.
 */
function pairMembers(before: Json | undefined, after: Json | undefined) {
  if (isObject(before) && isObject(after)) return { before, after, areItems: false };
  const [oldItems, newItems] = [itemsById(before), itemsById(after)];
  return oldItems && newItems ? { before: oldItems, after: newItems, areItems: true } : undefined;
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

function formatValue(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
