import { dayMs } from "../util/timestamp.js";
import { toMicroseconds } from "./brand.js";
import type { InstantRange } from "./listing.js";
import { ErrorResponse } from "./protocol.js";

export interface Parameter<T> {
  absent: T;
  /** Completes the error message "page must be …". */
  expected: string;
  /** Parses a value, or returns undefined if it is invalid. */
  parse(text: string): T | undefined;
}

export type ParameterSet = Record<string, Parameter<unknown>>;
export type ParsedQuery<P extends ParameterSet> = {
  [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** @throws ErrorResponse (400) for an unknown, repeated or invalid parameter */
export function readQuery<P extends ParameterSet>(parameters: P, query: URLSearchParams): ParsedQuery<P> {
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
 * Declares a comma-separated list of `values`.
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
export interface Instant {
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
    // `Date.parse` accepts some dates that do not exist, such as 31 February.
    if (new Date(date).toISOString().slice(0, 10) !== date) return undefined;
    const at = toMicroseconds(text.replace(/[+-]00:?00$/, "Z"));
    return Number.isNaN(at) ? undefined : { at, isDay: text.length === 10 };
  },
};

/** Returns the range between two query parameters. An `end_date` without a time includes the complete day. */
export function ordersRange(start: Instant | null, end: Instant | null): InstantRange {
  const to = end?.isDay ? end.at + dayMs * 1_000 - 1 : end?.at;
  return { from: start?.at ?? null, to: to ?? null };
}

export const paging = { page: integerParameter(1, 1, 10_000), per_page: integerParameter(25, 1, 100) };
