import type { Field, Json, Resource } from "../resources/types.js";

/**
 * Whether two texts of the API say the same of a record: whatever the order of members, and however the URLs that are
 * declared as signed are signed this time.
 */
export function sameRecord(a: Json, b: Json, resource: Resource): boolean {
  return sameJson(a, b, signedOf(resource));
}

/** Where signed URLs stand: by member, and `url` where one is. A list's items are all alike. */
export type Signed = "url" | { readonly [member: string]: Signed };

/** Deep equality that does not mind the order of members; of signed URLs, only what stands before the query counts. */
export function sameJson(a: Json, b: Json, signed?: Signed): boolean {
  if (a === b) return true;
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

/** What is signed below a member. */
export function signedIn(signed: Signed | undefined, member: string): Signed | undefined {
  return typeof signed === "object" && Object.hasOwn(signed, member) ? signed[member] : undefined;
}

/** Where a resource's records have signed URLs; undefined: nowhere. */
export function signedOf(resource: Resource): Signed | undefined {
  if (!known.has(resource)) known.set(resource, compile(resource.fields));
  return known.get(resource);
}

const known = new WeakMap<Resource, Signed | undefined>();

function compile(fields: readonly Field[]): Signed | undefined {
  const members = fields.flatMap((field): [string, Signed][] => {
    const signed = field.kind !== "scalar" ? compile(field.fields) : field.signed ? "url" : undefined;
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
