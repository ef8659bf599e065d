import { UnexpectedAnswer } from "../errors.js";
import { Exact, hasInexactNumbers, parseExact } from "../lib/exact.js";
import type { ApiRecord, Resource } from "../resources/types.js";
import { valueAt } from "./values.js";

/**
 * A record's key in the mirror. Two ids never share one: a text stands for itself unless it could be read as something
 * else, and then in quotes; everything else is its JSON. A record without an id is `#` and its place.
 * @throws UnexpectedAnswer when a documented record lacks its id
 */
export function keyOf(resource: Resource, record: ApiRecord, position: number): string {
  if (resource.pagination === "unknown") return unknownKey(resource, record) ?? `#${position}`;
  const parts = pathsOf(resource).map((path) => {
    const part = documentedPart(record, path);
    // Half a character is no text for SQLite, which would make one key of two ids.
    return part === undefined || part.isWellFormed() ? part : JSON.stringify(part);
  });
  if (parts.length > 0 && parts.every((part) => part !== undefined))
    return parts.length > 1 ? parts.map(escapeSlash).join("/") : (parts[0] ?? "");
  if (resource.key.length > 0)
    throw new UnexpectedAnswer(`A record of ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the API answered with something that is not its documented shape: report it to the platform",
    });
  return `#${position}`;
}

/** The members that make up a resource's key; kept, since each record's key is asked for more than once. */
function pathsOf(resource: Resource): readonly (readonly string[])[] {
  const known = paths.get(resource);
  if (known) return known;
  const found = resource.key.map((path) => path.split("."));
  paths.set(resource, found);
  return found;
}

const paths = new WeakMap<Resource, readonly (readonly string[])[]>();

/**
 * The keys of all records of one answer: where several have the same id, each has a key of its own, the second
 * `id#2`. What the document does not show may well repeat its ids.
 */
export function keysOf(resource: Resource, records: readonly ApiRecord[]): string[] {
  const counts = new Map<string, number>();
  return records.map((record, position) => {
    const key = keyOf(resource, record, position);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? key : `${key}#${count}`;
  });
}

/** Whether a key says an id, or only a place in the answer. */
export function hasId(key: string): boolean {
  return !/^#\d+$/.test(key);
}

/** Whether a key is that of a record whose id another one of the same answer has too. */
export function isRepeat(key: string): boolean {
  return /.#\d+$/s.test(key);
}

/** A record's id as text, for addresses and columns; null where it has none, or one that is neither text nor number. */
export function idText(resource: Resource, record: ApiRecord): string | null {
  return documentedPart(record, pathsOf(resource)[0] ?? [""]) ?? null;
}

function unknownKey(resource: Resource, record: ApiRecord): string | undefined {
  const path = pathsOf(resource)[0] ?? [""];
  const value = valueAt(record.value, path);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return isPlain(value) ? value : JSON.stringify(value);
  return canonical(hasInexactNumbers(record.json) ? valueAt(parseExact(record.json), path) : value);
}

/** Whether a text can only be a text, and holds nothing that stands between keys. */
function isPlain(text: string): boolean {
  if (text === "" || /[#/"]/.test(text) || !text.isWellFormed()) return false;
  // A refusal of the engine's is dear, and an answer may have 200,000 ids.
  if (!mayBeJson.test(text)) return true;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

const mayBeJson = /^[\s[{]|^(?:true|false|null|-?\d[\d.eE+-]*)\s*$/;

/** JSON with its members in order: the same value, the same text. */
function canonical(value: unknown): string {
  if (value instanceof Exact) return value.literal;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
}

function documentedPart(record: ApiRecord, path: readonly string[]): string | undefined {
  const value = valueAt(record.value, path);
  if (typeof value === "string") return value;
  if (typeof value !== "number") return undefined;
  const exact = hasInexactNumbers(record.json) ? valueAt(parseExact(record.json), path) : undefined;
  return exact instanceof Exact ? exact.literal : String(value);
}

/** A slash inside a part is none between parts. */
function escapeSlash(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}
