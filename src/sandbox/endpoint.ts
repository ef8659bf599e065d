import { dayMs } from "../util/timestamps.js";
import type { Brand, ListName } from "./brand.js";
import type { ApiKey } from "./keys.js";

export interface Endpoint {
  path: string;
  scope: string | null;
  needsAnalyticsPlan?: boolean;
  /** @throws ErrorResponse if the query is invalid or an ID is unknown */
  handle(context: EndpointContext): ResponseData;
}

export interface EndpointContext {
  brand: Brand;
  key: ApiKey;
  query: URLSearchParams;
  /** The values for the `{…}` segments of the path. */
  params: readonly string[];
  filesUrl: string;
  now: number;
}

export interface ResponseData {
  data: unknown;
  pagination?: PageInfo;
}

interface PageInfo {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

/**
 * Thrown to respond with an error. The sandbox invents the body, because the API documentation does not describe error
 * bodies.
 */
export class ErrorResponse extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = "ErrorResponse";
  }

  get body(): string {
    const { status, code, message } = this;
    return JSON.stringify({ success: false, error: { code, message, status } });
  }
}

/** A range that includes both ends, in microseconds since the Unix epoch. An open end is null. */
export interface InstantRange {
  from: number | null;
  to: number | null;
}

export function respondWithPage(
  list: readonly object[],
  { page, per_page }: Pick<PageInfo, "page" | "per_page">,
): ResponseData {
  const total_items = list.length;
  const total_pages = Math.ceil(total_items / per_page);
  const data = list.slice((page - 1) * per_page, page * per_page);
  const [has_next, has_prev] = [page < total_pages, page > 1];
  return { data, pagination: { page, per_page, total_items, total_pages, has_next, has_prev } };
}

/**
 * Returns the records in a range, newest first. If several records have the same date, the last one added comes first.
 * Records without a date come last; they are omitted unless the range is open at both ends.
 */
export function selectRange<T extends object>(
  list: readonly T[],
  dateField: keyof T,
  { from, to }: InstantRange,
): readonly T[] {
  const { instants, records, undated } = sortByDate(list, dateField);
  if (from === null && to === null) return undated.length > 0 ? [...records, ...undated] : records;
  const start = to === null ? 0 : firstIndex(instants, (at) => at <= to);
  const end = from === null ? instants.length : firstIndex(instants, (at) => at < from);
  return records.slice(start, end);
}

interface SortedList<T> {
  records: readonly T[];
  /** The dates of `records` in microseconds since the Unix epoch, newest first. */
  instants: Float64Array;
  undated: readonly T[];
}

/** Cached lists never become stale, because events replace arrays instead of changing them. */
const sortedLists = new WeakMap<readonly object[], SortedList<object>>();

function sortByDate<T extends object>(list: readonly T[], dateField: keyof T): SortedList<T> {
  const cached = sortedLists.get(list) as SortedList<T> | undefined;
  if (cached) return cached;
  const all = list.map((record) => ({ record, at: toMicroseconds(record[dateField]) }));
  const dated = all.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => b.at - a.at);
  const sorted = {
    records: dated.map(({ record }) => record),
    instants: Float64Array.from(dated, ({ at }) => at),
    undated: all.filter(({ at }) => Number.isNaN(at)).map(({ record }) => record),
  };
  sortedLists.set(list, sorted);
  return sorted;
}

/**
 * Uses binary search to find the first index at which `matches` is true. `matches` must remain true at all later
 * indexes.
 */
function firstIndex(instants: Float64Array, matches: (at: number) => boolean): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (matches(instants[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Parameter<T> {
  absent: T;
  /** The description of a valid value, to complete an error message such as "page must be …". */
  expected: string;
  /** Parses the parameter's value, or returns undefined if it is invalid. */
  parse(text: string): T | undefined;
}

type ParameterSet = Record<string, Parameter<unknown>>;
type ParsedQuery<P extends ParameterSet> = {
  [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** @throws ErrorResponse (400) for an unknown, repeated or invalid parameter */
export function parseQuery<P extends ParameterSet>(parameters: P, query: URLSearchParams): ParsedQuery<P> {
  const values: Record<string, unknown> = {};
  for (const [name, { absent }] of Object.entries(parameters)) values[name] = absent;
  const given = new Set<string>();
  for (const [name, text] of query) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (!parameter) throw new ErrorResponse(400, "unknown_parameter", `Unknown parameter: ${name}.`);
    if (given.has(name)) throw invalid(`${name} is given more than once.`);
    given.add(name);
    const value = parameter.parse(text);
    if (value === undefined) throw invalid(`${name} must be ${parameter.expected}.`);
    values[name] = value;
  }
  return values as ParsedQuery<P>;
}

function invalid(message: string): ErrorResponse {
  return new ErrorResponse(400, "invalid_parameter", message);
}

export function integerParameter(absent: number, least: number, most: number): Parameter<number> {
  return {
    absent,
    expected: `an integer between ${least} and ${most}`,
    parse(text) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

export function oneOf<const V extends string>(values: readonly V[], absent: V): Parameter<V> {
  const expected = `one of ${values.join(", ")}`;
  return { absent, expected, parse: (text) => values.find((value) => value === text) };
}

/**
 * Declares a parameter that accepts a comma-separated list of `values`.
 * @param normalize converts an item to the spelling in `values`
 */
export function someOf<const V extends string>(
  values: readonly V[],
  normalize = (text: string) => text,
): Parameter<V[] | null> {
  const expected = `one or more of ${values.join(", ")}, separated by commas`;
  return listOf(expected, Number.POSITIVE_INFINITY, (item) =>
    values.find((value) => value === normalize(item)),
  );
}

function listOf<T>(
  expected: string,
  most: number,
  parseItem: (item: string) => T | undefined,
): Parameter<T[] | null> {
  return {
    absent: null,
    expected,
    parse(text) {
      const items = text.split(",").map(parseItem);
      const valid = items.filter((item) => item !== undefined);
      return valid.length === items.length && items.length <= most ? valid : undefined;
    },
  };
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const parseUuid = (text: string) => (uuidPattern.test(text) ? text.toLowerCase() : undefined);

export const uuid: Parameter<string | null> = { absent: null, expected: "a UUID", parse: parseUuid };
export const uuids = listOf("up to 50 UUIDs, separated by commas", 50, parseUuid);

/** An instant in microseconds since the Unix epoch. `isDay` is true if the client sent only a date. */
interface Instant {
  at: number;
  isDay: boolean;
}

const timestampPattern =
  /^\d{4}-\d\d-\d\d(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]00:?00))?$/;

export const instant: Parameter<Instant | null> = {
  absent: null,
  expected: "a date (YYYY-MM-DD) or an ISO 8601 timestamp in UTC",
  parse(text) {
    const date = text.slice(0, 10);
    if (!timestampPattern.test(text) || Number.isNaN(Date.parse(date))) return undefined;
    // `Date.parse` accepts some dates that do not exist: it reads 31 February as 3 March.
    if (new Date(date).toISOString().slice(0, 10) !== date) return undefined;
    return { at: toMicroseconds(text.replace(/[+-]00:?00$/, "Z")), isDay: text.length === 10 };
  },
};

/** Returns the range from `start_date` to `end_date`. An `end_date` without a time includes the whole day. */
export function toRange(start: Instant | null, end: Instant | null): InstantRange {
  const to = end?.isDay ? end.at + dayMs * 1_000 - 1 : end?.at;
  return { from: start?.at ?? null, to: to ?? null };
}

export const paging = { page: integerParameter(1, 1, 10_000), per_page: integerParameter(25, 1, 100) };

/** True if the request does not use the filter, or if the filter includes the value. */
export function matchesFilter(filter: readonly string[] | null, value: string | undefined): boolean {
  return filter?.some((selected) => selected === value) ?? true;
}

export function notFound(noun: string): never {
  throw new ErrorResponse(404, "not_found", `The brand has no such ${noun}.`);
}

/** Declares an endpoint for one of the brand's lists, with no parameters except `page` and `per_page`. */
export function unfilteredList(name: ListName): Endpoint {
  return {
    path: `/${name}`,
    scope: `${name}:read`,
    handle: ({ brand, query }) => respondWithPage(brand[name], parseQuery(paging, query)),
  };
}

/**
 * Parses a timestamp into microseconds, because API dates can be more precise than milliseconds. Returns NaN if the
 * value is not a timestamp.
 */
export function toMicroseconds(text: unknown): number {
  if (typeof text !== "string") return Number.NaN;
  const microseconds = /\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? "";
  return Date.parse(text) * 1_000 + Number(microseconds.padEnd(3, "0"));
}
