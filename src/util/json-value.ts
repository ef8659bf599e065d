export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [member: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a JSON object, or an empty object otherwise. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * Parses JSON. Returns undefined for invalid JSON instead of throwing, because the error from `JSON.parse` quotes the
 * input, which may contain a key.
 */
export function parseJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Like `parseJson`, but returns numbers outside the range of a double (`1e400`) as strings with the original digits.
 * `JSON.parse` would return Infinity, which `JSON.stringify` writes as null. `hasLargeNumbers` is true if a number
 * exceeds `Number.MAX_SAFE_INTEGER`.
 */
export function parseResponseJson<T>(text: string): { value: T; hasLargeNumbers: boolean } | undefined {
  const value = parseJson<T>(text);
  if (value === undefined) return undefined;
  if (!containsLargeNumber(value)) return { value, hasLargeNumbers: false };
  const finite = parseJson<T>(text.replace(stringOrNumber, quoteInfiniteNumber));
  return finite === undefined ? undefined : { value: finite, hasLargeNumbers: true };
}

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function quoteInfiniteNumber(token: string): string {
  return token.startsWith('"') || Number.isFinite(Number(token)) ? token : `"${token}"`;
}

/** Uses a list instead of recursion, because deep nesting would overflow the stack. */
function containsLargeNumber(value: unknown): boolean {
  const stack = [{ value }] as object[];
  for (let next = stack.pop(); next !== undefined; next = stack.pop())
    for (const member of Object.values(next)) {
      if (typeof member === "object" && member !== null) stack.push(member);
      else if (typeof member === "number" && Math.abs(member) > Number.MAX_SAFE_INTEGER) return true;
    }
  return false;
}

export function valueAt(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const member of path) {
    if (typeof value !== "object" || value === null) return undefined;
    // Ignores inherited properties, such as `constructor`.
    value = Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined;
  }
  return value;
}
