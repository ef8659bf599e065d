import { parseTimestamp } from "../lib/times.js";
import type { ReadableColumn, RowValue, Source } from "../query/index.js";
import type { Chunk } from "./format.js";

/**
 * What an engine stores a column as. `decimal` has 18 digits, six of them behind the point, which is what sums of amounts
 * are rounded to: one scale for all, so that a value with one digit more leaves every other file as it is.
 */
export type StoredType = "text" | "timestamp" | "date" | "integer" | "decimal" | "double" | "boolean";

export const decimalDigits = { precision: 18, scale: 6 } as const;

type Candidate = Exclude<StoredType, "text">;

/** The types that a column of this kind can have, the best first; text takes all that is left. */
const candidates: Readonly<Record<ReadableColumn["type"], readonly Candidate[]>> = {
  text: [],
  json: [],
  timestamp: ["timestamp"],
  date: ["date"],
  boolean: ["boolean"],
  integer: ["integer", "decimal", "double"],
  number: ["decimal", "double"],
  any: ["integer", "decimal", "double"],
};

const fits: Readonly<Record<Candidate, (value: RowValue) => boolean>> = {
  timestamp: (value) => typeof value === "string" && parseTimestamp(value) !== undefined,
  date: (value) => typeof value === "string" && asDay(value) !== undefined,
  boolean: (value) => value === 0 || value === 1,
  integer: (value) => /^-?\d{1,18}$/.test(String(value)),
  decimal: (value) => asDecimal(value) !== undefined,
  double: (value) => typeof value !== "string" || /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value),
};

/**
 * Reads everything once to find the best type that has a place for every value of a column. Yields empty pieces between batches, so that a signal can be heard.
 */
export function* findStoredTypes(source: Source): Generator<Chunk, StoredType[]> {
  const columns = source.columns.map(({ type }) => ({
    isAny: type === "any",
    types: [...candidates[type]],
    // Nothing says what an expression without a value is.
    isKnown: type !== "any",
  }));
  for (const rows of source.rows("values")) {
    for (const [index, column] of columns.entries()) {
      if (column.types.length > 0) for (const row of rows) narrow(column, row[index] ?? null);
    }
    yield { data: "", rows: 0 };
  }
  return columns.map(({ types, isKnown }) => (isKnown ? (types[0] ?? "text") : "text"));
}

/** Leaves the types that have a place for this value too. A column of numbers may hold them as the API's own text. */
function narrow(column: { isAny: boolean; types: Candidate[]; isKnown: boolean }, value: RowValue): void {
  if (value === null) return;
  column.isKnown = true;
  const isText = column.isAny && typeof value === "string";
  while (column.types[0] !== undefined && (isText || !fits[column.types[0]](value))) column.types.shift();
}

/** An amount times 10^6, to the last digit; undefined where it has more digits than that takes. */
export function asDecimal(value: RowValue): bigint | undefined {
  const [, sign, whole = "", fraction = ""] =
    /^(-?)0*(\d{1,12})(?:\.(\d{1,6})0*)?$/.exec(String(value)) ?? [];
  if (sign === undefined) return undefined;
  return BigInt(`${sign}${whole}${fraction.padEnd(decimalDigits.scale, "0")}`);
}

/** A timestamp in microseconds since 1970. */
export function asMicroseconds(text: string): bigint {
  const finer = /\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? "";
  return BigInt(Math.floor(parseTimestamp(text) ?? 0)) * 1_000n + BigInt(finer.padEnd(3, "0"));
}

/** A day as days since 1970; undefined where it is none. */
export function asDay(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text ? undefined : ms / 86_400_000;
}
