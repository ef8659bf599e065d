import type { Query } from "../resources/types.js";

/** The most that an answer may hold. An answer that holds more is refused, and nothing of it is kept. */
export const bounds = {
  /** Bytes after decompression. A page of 100 orders has 100 kB. */
  bytes: 16 * 2 ** 20,
  /** Items of a list that is not asked for by pages. */
  items: 200_000,
  /** Levels of nesting. The document's deepest answer has six. */
  depth: 100,
} as const;

/** Returns how many items the answer to a query may hold: as many as it asks for. */
export function mostItems({ per_page }: Query): number {
  return per_page === undefined ? bounds.items : Number(per_page);
}

/** True if a value is nested deeper than the bound: what is written as JSON again later would overflow the stack. */
export function isTooDeep(value: unknown, left: number = bounds.depth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (left === 0) return true;
  for (const member of Object.values(value))
    if (typeof member === "object" && isTooDeep(member, left - 1)) return true;
  return false;
}
