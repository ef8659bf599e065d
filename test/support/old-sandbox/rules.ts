import { day } from "./data/timeline.js";
import { Refusal } from "./refusal.js";

/** One query parameter: what it means when absent, and how its text is read. `read` returns undefined for "invalid". */
export interface Rule<T> {
  absent: T;
  /** What a valid value is, for the error's sentence. */
  wants: string;
  read(text: string): T | undefined;
}

export type Rules = Record<string, Rule<unknown>>;
export type Query<R extends Rules> = { [K in keyof R]: R[K] extends Rule<infer T> ? T : never };

/** Reads a query strictly: an unknown, repeated or invalid parameter is a 400 (API document, Endpoints). */
export function readQuery<R extends Rules>(rules: R, query: URLSearchParams): Query<R> {
  const values: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) values[name] = rule.absent;
  const seen = new Set<string>();
  for (const [name, text] of query) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) throw new Refusal(400, "unknown_parameter", `Unknown parameter: ${name}.`);
    if (seen.has(name)) throw new Refusal(400, "invalid_parameter", `${name} is given more than once.`);
    seen.add(name);
    const value = rule.read(text);
    if (value === undefined) throw new Refusal(400, "invalid_parameter", `${name} must be ${rule.wants}.`);
    values[name] = value;
  }
  return values as Query<R>;
}

export function integer(absent: number, least: number, most: number): Rule<number> {
  return {
    absent,
    wants: `an integer between ${least} and ${most}`,
    read(text) {
      if (!/^\d{1,9}$/.test(text)) return undefined;
      const value = Number(text);
      return value >= least && value <= most ? value : undefined;
    },
  };
}

export function oneOf<const V extends string>(values: readonly V[], absent: V): Rule<V> {
  return {
    absent,
    wants: `one of ${values.join(", ")}`,
    read: (text) => values.find((value) => value === text),
  };
}

/** A comma-separated list; undefined when absent. `caseless` compares without regard to case. */
export function listOf<const V extends string>(
  values: readonly V[],
  caseless = false,
): Rule<readonly V[] | undefined> {
  const known = new Map(values.map((value) => [caseless ? value.toLowerCase() : value, value]));
  return {
    absent: undefined,
    wants: `a comma-separated list of ${values.join(", ")}`,
    read: (text) => all(text.split(","), (part) => known.get(caseless ? part.toLowerCase() : part)),
  };
}

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const oneUuid: Rule<string | undefined> = {
  absent: undefined,
  wants: "a UUID",
  read: (text) => (uuidPattern.test(text) ? text.toLowerCase() : undefined),
};

/** A comma-separated list of UUIDs, at most `most` of them; undefined when absent. */
export function uuids(most: number): Rule<readonly string[] | undefined> {
  return {
    absent: undefined,
    wants: `up to ${most} UUIDs, separated by commas`,
    read(text) {
      const parts = text.split(",");
      return parts.length > most ? undefined : all(parts, oneUuid.read);
    },
  };
}

/**
 * A date or an ISO 8601 timestamp in UTC, as milliseconds since 1970. The document does not say what a bare date
 * means; here it is the whole day: `edge` "first" reads its first instant, "last" its last.
 */
export function instant(edge: "first" | "last"): Rule<number | undefined> {
  return {
    absent: undefined,
    wants: "a date (YYYY-MM-DD) or an ISO 8601 timestamp in UTC",
    read(text) {
      const midnight = readDate(text.slice(0, 10));
      if (midnight === undefined) return undefined;
      if (text.length === 10) return edge === "first" ? midnight : midnight + day - 1;
      const match = /^T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|[+-]00:?00)$/.exec(text.slice(10));
      if (!match) return undefined;
      const [hours, minutes, seconds] = [match[1], match[2], match[3] ?? "0"].map(Number) as [
        number,
        number,
        number,
      ];
      if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
      const fraction = Number((match[4] ?? "0").padEnd(3, "0").slice(0, 3));
      return midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction;
    },
  };
}

/** Midnight UTC of a calendar date that exists. */
function readDate(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const midnight = Date.parse(`${text}T00:00:00.000Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== text) return undefined;
  return midnight;
}

function all<T>(parts: readonly string[], read: (part: string) => T | undefined): T[] | undefined {
  const values: T[] = [];
  for (const part of parts) {
    const value = read(part);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** The parameters of every paginated endpoint: API document, Endpoints. */
export const paging = { page: integer(1, 1, 10_000), per_page: integer(25, 1, 100) };

export interface Pagination {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

export function pagination(page: number, perPage: number, total: number): Pagination {
  const pages = Math.ceil(total / perPage);
  return {
    page,
    per_page: perPage,
    total_items: total,
    total_pages: pages,
    has_next: page < pages,
    has_prev: page > 1,
  };
}
