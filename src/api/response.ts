import { ResponseRejected } from "../errors.js";
import { isObject, type Json, parseFiniteJson, type QueryParameters } from "../util/json-value.js";
import { pluralize } from "../util/text.js";
import { checkBaseUrl, type Pagination, readPagination, unexpectedResponse } from "./pagination.js";
import { InvalidBody } from "./request-failure.js";

/** The most that an answer may hold. An answer that holds more is refused, and nothing of it is kept. */
export const responseLimits = {
  /** Bytes after decompression. A page of 100 orders has 100 kB. */
  bytes: 16 * 2 ** 20,
  /** Items of a list that is not asked for by pages. */
  items: 200_000,
  /** Levels of nesting. The document's deepest answer has six. */
  depth: 100,
} as const;

/** Returns how many items the answer to a query may hold: as many as it asks for. */
export function maxItemsFor({ per_page }: QueryParameters): number {
  return per_page === undefined ? responseLimits.items : Number(per_page);
}

/** True if a value is nested deeper than the bound: what is written as JSON again later would overflow the stack. */
export function isTooDeep(value: unknown, left: number = responseLimits.depth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (left === 0) return true;
  for (const member of Object.values(value))
    if (typeof member === "object" && isTooDeep(member, left - 1)) return true;
  return false;
}

/** A 200, checked. */
export interface ApiResponse {
  readonly data: Json;
  /** `data`, if it is an array. */
  readonly items: readonly Json[] | null;
  readonly pagination: Pagination | null;
  /** Milliseconds since 1970, just before the request was sent. */
  readonly requestedAt: number;
  /** Milliseconds since 1970 by the API's own clock (the `Date` header); null if the header is missing. */
  readonly serverTime: number | null;
}

/** The path that was asked for, the most items that its answer may hold, and the key that it must not hold. */
export interface ResponseChecks {
  path: string;
  mostItems: number;
  key: string;
}

/**
 * Reads an envelope (API document, "Envelope"). Members that the document does not name are ignored.
 * @throws Garbled if the text is not JSON; UnexpectedResponse if it is JSON of another shape; ResponseRejected if it holds
 * too much, or the key
 */
export function readEnvelope(
  text: string,
  { path, mostItems, key }: ResponseChecks,
): Pick<ApiResponse, "data" | "items" | "pagination"> {
  const envelope = parse(text);
  if (isTooDeep(envelope))
    throw refused(path, `is nested more than ${responseLimits.depth} levels deep`, checkBaseUrl);
  if (holdsKey(text, envelope, key)) throw refused(path, "holds the key itself", keySeen);
  if (!isObject(envelope)) throw unexpectedResponse(path, "is not an object");
  if (envelope.success !== true) throw unexpectedResponse(path, "does not say `success: true`");
  const { data } = envelope;
  if (typeof data !== "object" || data === null)
    throw unexpectedResponse(path, "has no object or array as `data`");
  const items = Array.isArray(data) ? data : null;
  if (items && items.length > mostItems)
    throw refused(
      path,
      `holds more than the ${pluralize(mostItems, "item")} that were asked for`,
      checkBaseUrl,
    );
  return { data, items, pagination: readPagination(envelope.pagination, path) };
}

function parse(text: string): Json {
  const value = parseFiniteJson<Json>(text);
  if (value === undefined) throw new InvalidBody(describe(text.slice(0, 200)));
  return value;
}

function describe(text: string): string {
  const start = text.trimStart().slice(0, 15);
  if (start === "") return "its body is empty";
  if (start.startsWith("<")) return "its body is a web page, not JSON";
  return /^[[{]/.test(start) ? "its JSON is cut short or damaged" : "its body is not JSON";
}

/** A key is longer than this. A shorter text could stand in an answer by chance. */
const shortestKey = 8;

/** True if an answer holds the key, as it is or written with JSON's escapes. */
function holdsKey(text: string, envelope: Json, key: string): boolean {
  if (key.length < shortestKey) return false;
  if (text.includes(key)) return true;
  // Of the characters of a key, JSON can escape ASCII as \u00xx, and the slash.
  const isEscaped = text.includes("\\u00") || (key.includes("/") && text.includes("\\/"));
  return isEscaped && JSON.stringify(envelope).includes(JSON.stringify(key).slice(1, -1));
}

const keySeen = "check the base URL, tell the platform, and create a new key: this one may have been seen";

function refused(path: string, what: string, hint: string): ResponseRejected {
  return new ResponseRejected(`The API's answer to ${path} ${what}: it is refused.`, { status: 200, hint });
}
