import { UnexpectedResponse, UnsafeResponse } from "../errors.js";
import { pluralize } from "../util/format-text.js";
import { isObject, type Json, type JsonObject, parseJson } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";

export interface ApiResponse {
  readonly data: Json;
  readonly items: readonly Json[] | null;
  readonly pagination: Pagination | null;
  /** The local time when the request was sent, in milliseconds since the Unix epoch. */
  readonly requestedAt: number;
  /** The time in the `Date` header, in milliseconds since the Unix epoch, or null if the header is missing. */
  readonly serverTime: number | null;
}

export interface Pagination {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
}

export const responseLimits = {
  /** The maximum size after decompression. A page of 100 orders is about 100 kB. */
  bytes: 16 * 2 ** 20,
  /** The maximum number of items in a list that was requested without `per_page`. */
  items: 200_000,
  /** The maximum nesting depth. The deepest documented response has six levels. */
  depth: 100,
} as const;

export function chooseMaxItems({ per_page }: QueryParameters): number {
  return per_page === undefined ? responseLimits.items : Number(per_page);
}

/** Thrown if a response body is not JSON. The request is retried, because the body may come from a proxy. */
export class InvalidBody extends Error {}

const baseUrlHint = "check that the base URL points to the brand API and ends in /api/brand/v1";

/** Error messages never quote a response, because it may contain the key. */
export function createUnexpectedResponseError(
  path: string,
  problem: string,
  hint = baseUrlHint,
): UnexpectedResponse {
  return new UnexpectedResponse(`The API's response to ${path} ${problem}.`, { hint });
}

/**
 * Parses and validates an envelope (see "Envelope" in the API documentation).
 * @throws InvalidBody if the text is not JSON
 * @throws UnexpectedResponse if the envelope has an undocumented shape
 * @throws UnsafeResponse if the envelope exceeds a limit or contains the key
 */
export function parseEnvelope(
  text: string,
  { path, maxItems, key }: { path: string; maxItems: number; key: string },
): Pick<ApiResponse, "data" | "items" | "pagination"> {
  const envelope = parseBody(text);
  if (isTooDeep(envelope))
    throw createUnsafeResponseError(
      path,
      `is nested more than ${responseLimits.depth} levels deep`,
      baseUrlHint,
    );
  if (containsKey(text, envelope, key))
    throw createUnsafeResponseError(
      path,
      "contains the API key",
      "check the base URL, report this to the platform, and replace the key, because others may have seen it",
    );
  if (!isObject(envelope)) throw createUnexpectedResponseError(path, "is not an object");
  if (envelope.success !== true) throw createUnexpectedResponseError(path, "does not have `success: true`");
  const { data } = envelope;
  if (hasInexactId(data))
    throw createUnexpectedResponseError(
      path,
      "has a numeric ID with too many digits",
      "ask the platform to send IDs with more than 15 digits as strings",
    );
  if (typeof data !== "object" || data === null)
    throw createUnexpectedResponseError(path, "has no object or array in `data`");
  const items = Array.isArray(data) ? data : null;
  if (items && items.length > maxItems)
    throw createUnsafeResponseError(
      path,
      `contains more than the ${pluralize(maxItems, "item")} requested`,
      baseUrlHint,
    );
  return { data, items, pagination: parsePagination(envelope.pagination, path) };
}

function createUnsafeResponseError(path: string, problem: string, hint: string): UnsafeResponse {
  return new UnsafeResponse(`The API's response to ${path} was rejected: it ${problem}.`, { hint });
}

function parseBody(text: string): Json {
  const parsed = parseResponseJson<Json>(text);
  if (parsed !== undefined) return parsed;
  const start = text.trimStart();
  if (start === "") throw new InvalidBody("its body is empty");
  if (start.startsWith("<")) throw new InvalidBody("its body is a web page, not JSON");
  throw new InvalidBody(/^[[{]/.test(start) ? "its JSON is truncated or damaged" : "its body is not JSON");
}

/** True if an ID field (`id`, `host_id`) is a number that JavaScript cannot represent exactly. */
function hasInexactId(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => {
    if (typeof inner !== "number") return hasInexactId(inner);
    return Number.isInteger(inner) && !Number.isSafeInteger(inner) && /^(.*_)?id$/.test(name);
  });
}

/** Deeply nested values could overflow the stack in `JSON.stringify`. */
function isTooDeep(value: unknown, levelsLeft: number = responseLimits.depth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levelsLeft === 0) return true;
  return Object.values(value).some((inner) => isTooDeep(inner, levelsLeft - 1));
}

/** Responses are not searched for keys shorter than this, because a short key could occur by chance. */
const minSearchedKeyLength = 8;

function containsKey(text: string, envelope: Json, key: string): boolean {
  if (key.length < minSearchedKeyLength) return false;
  if (text.includes(key)) return true;
  // The key may be escaped: in JSON, any character can be written as \u00xx, and a slash as \/.
  return /\\(u00|\/)/.test(text) && JSON.stringify(envelope).includes(JSON.stringify(key).slice(1, -1));
}

const maxTotalItems = 1e9;

function parsePagination(value: Json | undefined, path: string): Pagination | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw createUnexpectedResponseError(path, "has a `pagination` that is not an object");
  const pagination: Pagination = {
    page: parseInteger(value, "page", 1, path),
    per_page: parseInteger(value, "per_page", 1, path),
    total_items: parseInteger(value, "total_items", 0, path),
    total_pages: parseInteger(value, "total_pages", 0, path),
    has_next: parseBoolean(value, "has_next", path),
  };
  const { total_items, total_pages, per_page } = pagination;
  if (total_items > maxTotalItems || Math.abs(total_pages - Math.ceil(total_items / per_page)) > 1) {
    const claim = `${pluralize(total_pages, "page")} for ${pluralize(total_items, "item")} at ${per_page} per page`;
    throw createUnexpectedResponseError(path, `has an inconsistent \`pagination\`: ${claim}`);
  }
  return pagination;
}

function parseInteger(pagination: JsonObject, field: string, min: number, path: string): number {
  const value = pagination[field];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  throw createUnexpectedResponseError(path, `has no valid integer \`${field}\` in its \`pagination\``);
}

function parseBoolean(pagination: JsonObject, field: string, path: string): boolean {
  const value = pagination[field];
  if (typeof value === "boolean") return value;
  throw createUnexpectedResponseError(path, `has no boolean \`${field}\` in its \`pagination\``);
}

/**
 * Like `parseJson`, but returns numbers outside the range of a double (`1e400`) as strings with the original digits.
 * `JSON.parse` would return Infinity, which `JSON.stringify` writes as null.
 */
export function parseResponseJson<T>(text: string): T | undefined {
  const value = parseJson<T>(text);
  return containsInfinity(value) ? parseJson<T>(text.replace(stringOrNumber, quoteInfiniteNumber)) : value;
}

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function quoteInfiniteNumber(token: string): string {
  return token.startsWith('"') || Number.isFinite(Number(token)) ? token : `"${token}"`;
}

/** Avoids recursion, because a deeply nested value would overflow the call stack. */
function containsInfinity(value: unknown): boolean {
  const stack = [{ value }] as object[];
  for (let next = stack.pop(); next !== undefined; next = stack.pop())
    for (const inner of Object.values(next)) {
      if (typeof inner === "object" && inner !== null) stack.push(inner);
      else if (typeof inner === "number" && !Number.isFinite(inner)) return true;
    }
  return false;
}
