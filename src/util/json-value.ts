export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [member: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a JSON object; otherwise, an empty object. */
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

export function valueAt(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const member of path) {
    if (typeof value !== "object" || value === null) return undefined;
    // Ignore inherited properties such as `constructor`.
    value = Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined;
  }
  return value;
}
