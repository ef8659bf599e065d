/** A value as `JSON.parse` returns it. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [member: string]: Json;
}

/** True for a JSON object: not null and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a JSON object, otherwise an empty one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Query parameters of an API request. Parameters that are `undefined` are omitted. */
export type QueryParameters = Record<string, string | number | undefined>;

/** Returns undefined if the text is not JSON: the engine's own message quotes the text, which may hold a key. */
export function parseJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Like `parseJson`, but a number beyond the range of a double (`1e400`) becomes a string with its digits. `JSON.parse` would
 * make it Infinity, which `JSON.stringify` writes as null.
 */
export function parseFiniteJson<T>(text: string): T | undefined {
  const value = parseJson<T>(text);
  return hasOnlyFinite(value) ? value : parseJson(text.replace(stringOrNumber, quoteIfInfinite));
}

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function quoteIfInfinite(token: string): string {
  return token.startsWith('"') || Number.isFinite(Number(token)) ? token : `"${token}"`;
}

/** False if a value contains an infinite number, at any depth. Not recursive: a response may be nested without end. */
function hasOnlyFinite(value: unknown): boolean {
  const left = [{ value }] as object[];
  for (let next = left.pop(); next !== undefined; next = left.pop())
    for (const member of Object.values(next)) {
      if (typeof member === "object" && member !== null) left.push(member);
      else if (member === Number.POSITIVE_INFINITY || member === Number.NEGATIVE_INFINITY) return false;
    }
  return true;
}
