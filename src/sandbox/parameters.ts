import { day, parseInstant } from "./brand.js";
import { ErrorResponse } from "./endpoint.js";

/** One query parameter: its value when absent, and how its text is read. `read` returns undefined for "invalid". */
export interface Parameter<T> {
  absent: T;
  /** Describes a valid value, for the error's sentence. */
  wants: string;
  read(text: string): T | undefined;
}

export type ParameterSet = Record<string, Parameter<unknown>>;
export type ParsedQuery<R extends ParameterSet> = {
  [K in keyof R]: R[K] extends Parameter<infer T> ? T : never;
};

/** Reads a query strictly. Throws a `Refusal` (400) for an unknown, repeated or invalid parameter. */
export function readQuery<R extends ParameterSet>(rules: R, query: URLSearchParams): ParsedQuery<R> {
  const values: Record<string, unknown> = {};
  for (const [name, { absent }] of Object.entries(rules)) values[name] = absent;
  const seen = new Set<string>();
  for (const [name, text] of query) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) throw new ErrorResponse(400, "unknown_parameter", `Unknown parameter: ${name}.`);
    if (seen.has(name)) throw new ErrorResponse(400, "invalid_parameter", `${name} is given more than once.`);
    seen.add(name);
    const value = rule.read(text);
    if (value === undefined)
      throw new ErrorResponse(400, "invalid_parameter", `${name} must be ${rule.wants}.`);
    values[name] = value;
  }
  return values as ParsedQuery<R>;
}

export function integer(absent: number, least: number, most: number): Parameter<number> {
  return {
    absent,
    wants: `an integer between ${least} and ${most}`,
    read(text) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

export function oneOf<const V extends string>(values: readonly V[], absent: V): Parameter<V> {
  const wants = `one of ${values.join(", ")}`;
  return { absent, wants, read: (text) => values.find((value) => value === text) };
}

/** A comma-separated list; null when absent. */
function listOf<T>(
  wants: string,
  most: number,
  read: (part: string) => T | undefined,
): Parameter<T[] | null> {
  return {
    absent: null,
    wants,
    read(text) {
      const parts = text.split(",").map(read);
      const valid = parts.filter((part) => part !== undefined);
      return valid.length === parts.length && parts.length <= most ? valid : undefined;
    },
  };
}

/** @param spell how a part of the text is spelled in `values` */
export function someOf<const V extends string>(
  values: readonly V[],
  spell = (text: string) => text,
): Parameter<V[] | null> {
  const wants = `a comma-separated list of ${values.join(", ")}`;
  return listOf(wants, Number.POSITIVE_INFINITY, (part) => values.find((value) => value === spell(part)));
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const readUuid = (text: string) => (uuidPattern.test(text) ? text.toLowerCase() : undefined);

export const oneUuid: Parameter<string | null> = { absent: null, wants: "a UUID", read: readUuid };
export const uuids = listOf("up to 50 UUIDs, separated by commas", 50, readUuid);

/** An instant in microseconds since 1970, and whether its text was a bare date. */
export interface Instant {
  at: number;
  isDay: boolean;
}

const timestamp =
  /^\d{4}-\d\d-\d\d(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]00:?00))?$/;

/** A date, or an ISO 8601 timestamp in UTC. */
export const instant: Parameter<Instant | null> = {
  absent: null,
  wants: "a date (YYYY-MM-DD) or an ISO 8601 timestamp in UTC",
  read(text) {
    const date = text.slice(0, 10);
    if (!timestamp.test(text) || Number.isNaN(Date.parse(date))) return undefined;
    if (new Date(date).toISOString().slice(0, 10) !== date) return undefined;
    const at = parseInstant(text.replace(/[+-]00:?00$/, "Z"));
    return Number.isNaN(at) ? undefined : { at, isDay: text.length === 10 };
  },
};

/** Returns the last microsecond that `end_date` takes in: a bare date is the whole day. */
export function endOf({ at, isDay }: Instant): number {
  return isDay ? at + day * 1_000 - 1 : at;
}

/** The parameters of every paginated endpoint: API document, Endpoints. */
export const paging = { page: integer(1, 1, 10_000), per_page: integer(25, 1, 100) };
