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
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) =>
        Object.hasOwn(b, name) && isSameJson(a[name] ?? null, b[name] ?? null, signedUrlsBelow(signed, name)),
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
type SignedUrls = "url" | { readonly [field: string]: SignedUrls };

function signedUrlsBelow(signed: SignedUrls | undefined, field: string): SignedUrls | undefined {
  return typeof signed === "object" && Object.hasOwn(signed, field) ? signed[field] : undefined;
}

function findSignedUrls(fields: readonly Field[]): SignedUrls | undefined {
  const signedFields = fields.flatMap((field): [string, SignedUrls][] => {
    if (field.kind === "scalar") return field.isSignedUrl ? [[field.name, "url"]] : [];
    const signed = findSignedUrls(field.fields);
    return signed ? [[field.name, signed]] : [];
  });
  return signedFields.length > 0 ? Object.fromEntries(signedFields) : undefined;
}

/** A changed field in a record. A missing value counts as null. */
export interface FieldChange {
  field: string;
  /** The record's top-level field that contains the changed field, such as `payment` for `payment_flatFee`. */
  topLevelField: string;
  old: string | null;
  new: string | null;
}

/**
 * Returns the differences between two versions of a record. A field in a nested object has the name of its column
 * (`host_id`). List items with IDs are compared one by one (`assignments.<id>.status`), and any other list or JSON
 * column is compared as a single field.
 * @param resource determines the JSON columns and the fields with signed URLs
 */
export function diffRecords(before: Json, after: Json, resource?: Resource): FieldChange[] {
  const columns = resource ? listTableShapes(resource).flatMap((table) => table.columns) : [];
  const jsonColumns = new Set(columns.filter(({ type }) => type === "json").map(({ name }) => name));
  const changes: FieldChange[] = [];

  function compare(
    oldValue: Json | undefined,
    newValue: Json | undefined,
    field: { name: string; topLevelField: string; separator: string; signed: SignedUrls | undefined },
  ): void {
    const { name, signed, topLevelField } = field;
    if (isSameJson(oldValue ?? null, newValue ?? null, signed)) return;
    const fields = jsonColumns.has(name) ? null : pairFields(oldValue, newValue);
    if (!fields) {
      changes.push({ field: name, topLevelField, old: formatValue(oldValue), new: formatValue(newValue) });
      return;
    }
    const separator = fields.areItems ? "." : field.separator;
    for (const inner of new Set([...Object.keys(fields.before), ...Object.keys(fields.after)]))
      compare(fields.before[inner], fields.after[inner], {
        name: name === "" ? inner : `${name}${separator}${inner}`,
        topLevelField: name === "" ? inner : topLevelField,
        separator,
        signed: fields.areItems ? signed : signedUrlsBelow(signed, inner),
      });
  }

  const signed = resource && findSignedUrls(resource.fields);
  compare(before, after, { name: "", topLevelField: "", separator: "_", signed });
  return changes;
}

/**
 * If two values are both objects, or both lists of items with IDs, returns them as objects that can be compared field
 * by field. Otherwise, returns null.
 */
function pairFields(before: Json | undefined, after: Json | undefined) {
  if (isObject(before) && isObject(after)) return { before, after, areItems: false };
  const [oldItems, newItems] = [itemsById(before), itemsById(after)];
  return oldItems && newItems ? { before: oldItems, after: newItems, areItems: true } : null;
}

function itemsById(value: Json | undefined): JsonObject | null {
  if (!Array.isArray(value)) return null;
  const items: JsonObject = Object.create(null);
  for (const item of value) {
    if (!isObject(item) || typeof item.id !== "string" || item.id in items) return null;
    items[item.id] = item;
  }
  return items;
}

function formatValue(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
