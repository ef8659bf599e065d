import { sameComputed } from "../lib/amounts.js";
import type { Field } from "../resources/fields.js";
import type { Json, Resource } from "../resources/types.js";

/** True if two states of a record are equal, whatever the order of members and the signatures of signed URLs. */
export function sameRecord(a: Json, b: Json, resource: Resource): boolean {
  return sameJson(a, b, signedOf(resource));
}

/** The places of signed URLs: by member, and `url` for one. The items of a list have the same. */
export type Signed = "url" | { readonly [member: string]: Signed };

/**
 * True if two values are equal. The order of members, the query of a signed URL and the last digits of a computed number
 * make no difference.
 */
export function sameJson(a: Json, b: Json, signed?: Signed): boolean {
  if (a === b) return true;
  if (typeof a === "number" && typeof b === "number") return sameComputed(a, b);
  if (signed === "url") return typeof a === "string" && typeof b === "string" && sameFile(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i] ?? null, signed))
    );
  const members = Object.keys(a);
  return (
    members.length === Object.keys(b).length &&
    members.every(
      (member) =>
        Object.hasOwn(b, member) && sameJson(a[member] ?? null, b[member] ?? null, signedIn(signed, member)),
    )
  );
}

/** Returns the signed places below a member. */
export function signedIn(signed: Signed | undefined, member: string): Signed | undefined {
  return typeof signed === "object" && Object.hasOwn(signed, member) ? signed[member] : undefined;
}

/** Returns the places of a resource's signed URLs; undefined if it has none. */
export function signedOf(resource: Resource): Signed | undefined {
  if (!known.has(resource)) known.set(resource, compile(resource.fields));
  return known.get(resource);
}

const known = new WeakMap<Resource, Signed | undefined>();

function compile(fields: readonly Field[]): Signed | undefined {
  const members = fields.flatMap((field): [string, Signed][] => {
    if (field.kind === "scalar") return field.signed ? [[field.name, "url"]] : [];
    const signed = compile(field.fields);
    return signed ? [[field.name, signed]] : [];
  });
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

function sameFile(a: string, b: string): boolean {
  return /^https?:\/\//i.test(a) && beforeQuery(a) === beforeQuery(b);
}

function beforeQuery(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
