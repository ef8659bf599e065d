import { UnexpectedResponse } from "../errors.js";
import { filterBits, type Resource } from "../resources/resource.js";
import { type Json, valueAt } from "../util/json-value.js";
import { utcMonth } from "../util/ranges.js";
import { parseTimestamp } from "../util/timestamp.js";

/**
 * Returns a record's key in the mirror. This is its ID or, if it has none, `#` and its position in the list. The parts
 * of a key are separated by slashes.
 * @throws UnexpectedResponse if a documented record has no ID, or if its ID is a number that JavaScript cannot
 * represent exactly
 */
export function recordKey(resource: Resource, value: Json, position: number): string {
  const parts = keyPaths(resource).map((path) => readId(resource, value, path));
  if (parts.length > 0 && parts.every((part) => part !== null))
    return parts.length > 1 ? parts.map(escapeSlash).join("/") : (parts[0] ?? "");
  if (resource.pagination === "documented" && parts.length > 0)
    throw new UnexpectedResponse(`A record from ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the response does not match the API's documentation: report this to the platform",
    });
  return `#${position}`;
}

export function apiId(resource: Resource, value: Json): string | null {
  return readId(resource, value, keyPaths(resource)[0] ?? ["id"]);
}

function readId(resource: Resource, value: Json, path: readonly string[]): string | null {
  const id = valueAt(value, path);
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Math.abs(id) > Number.MAX_SAFE_INTEGER)
    throw new UnexpectedResponse(`A record from ${resource.path} has a numeric ID with too many digits.`, {
      hint: "the API must send IDs with more than 15 digits as strings: report this to the platform",
    });
  return String(id);
}

function escapeSlash(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}

const keyPathsByResource = new WeakMap<Resource, readonly (readonly string[])[]>();

function keyPaths(resource: Resource): readonly (readonly string[])[] {
  const paths = keyPathsByResource.get(resource) ?? resource.key.map((path) => path.split("."));
  keyPathsByResource.set(resource, paths);
  return paths;
}

/**
 * Returns a record's date in milliseconds since the Unix epoch, or null if the date is unreadable or the resource is
 * not read by date.
 */
export function recordDate({ strategy }: Resource, value: Json): number | null {
  if (strategy.kind !== "dated") return null;
  const text = valueAt(value, [strategy.dateField]);
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

export function recordMonth(date: number | null): string | null {
  return date === null ? null : utcMonth(Math.floor(date));
}

/** Returns a function that combines the bits of the API filters that match a record. */
export function createFlagReader(resource: Resource): (value: Json) => number {
  const bits = filterBits(resource).map(({ bit, field }) => ({ bit, path: [field] }));
  return (value) =>
    bits.reduce((flags, { bit, path }) => (valueAt(value, path) === true ? flags | bit : flags), 0);
}
