import { UsageError } from "../errors.js";
import { suggest } from "../lib/nearest.js";
import { parseInstant } from "../lib/times.js";
import type { Parameters } from "../query/index.js";
import { content } from "../resources/content.js";
import type { Filter } from "../resources/types.js";

/** A list on the command line: commas between, or the flag again. */
export function parseList(text: string, previous: unknown): string[] {
  const values = text
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
  if (values.length === 0)
    throw new UsageError("A list is empty.", { hint: "name values with commas between them" });
  return [...(Array.isArray(previous) ? (previous as string[]) : []), ...values];
}

/** What the API's document lists for a filter of the library. */
export function filterValues(parameter: "source" | "media_type"): readonly string[] {
  const filters: readonly Filter[] = content.strategy.filters;
  return filters.find((filter) => filter.parameter === parameter)?.values ?? [];
}

/** A list of such values: the API would answer any other with 400, or with nothing. */
export function parseFilter(parameter: "source" | "media_type") {
  const known = filterValues(parameter);
  return (text: string, previous?: unknown): string[] => {
    const values = parseList(text, previous);
    const unknown = values.find((value) => !known.includes(value));
    if (unknown === undefined) return values;
    throw new UsageError(`Not a ${parameter.replace("_", " ")}: \`${unknown}\`.`, {
      hint: suggest(unknown, known),
    });
  };
}

/** A whole number from 0. */
export function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`Not a whole number: \`${text}\`.`, { hint: "use a number such as 5" });
}

/** `-p name=value`, any number of times. A value that reads as a number is one; in single quotes it is text. */
export function parseParameter(text: string, previous: unknown): Parameters {
  const [, name, value] = /^[:@$]?([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`Not a parameter: \`${text}\`.`, {
      hint: "use `-p name=value`, and `:name` in the statement",
    });
  const before = previous instanceof Map ? (previous as Parameters) : [];
  return new Map([...before, [name, parameterValue(value)]]);
}

/** A number as SQL and programs write it. With a 0 before it, or more digits than one holds, it is a code: text. */
const realNumber = /^[+-]?(?:(?:0|[1-9]\d{0,14})(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][+-]?\d{1,3})?$/;

function parameterValue(text: string): string | number | bigint {
  const quoted = /^'([\s\S]*)'$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  // `+49151234567` is somebody's telephone.
  if (/^(?:-?(?:0|[1-9]\d{0,17})|\+(?:0|[1-9]\d{0,5}))$/.test(text)) return BigInt(text);
  if (/^\+\d+$/.test(text)) return text;
  const isNumber = realNumber.test(text) && Number.isFinite(Number(text));
  return isNumber ? Number(text) : text;
}

interface AskedRange {
  since?: string | undefined;
  until?: string | undefined;
}

/**
 * `--since` and `--until`, in milliseconds since 1970.
 * @param lately what `--since` is where none is given
 * @throws UsageError where one is no time, or the range ends before it begins: it would pass for one without records
 */
export function parseRange(
  asked: AskedRange,
  now: number,
  lately: string,
): { since: number; until: number | undefined };
export function parseRange(
  asked: AskedRange,
  now: number,
): { since: number | undefined; until: number | undefined };
export function parseRange(asked: AskedRange, now: number, lately?: string) {
  const from = asked.since ?? lately;
  const since = from === undefined ? undefined : parseInstant(from, "start", now);
  const until = asked.until === undefined ? undefined : parseInstant(asked.until, "end", now);
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageError("`--since` is later than `--until`.", {
      hint: asked.since === undefined ? `without \`--since\` it is ${lately}: give one` : "swap them",
    });
  return { since, until };
}
