import { counted } from "../counted.js";
import type { Query } from "../resources/types.js";

/**
 * The most that an answer may hold. One that holds more is refused with exit code 7, and nothing is built of it first
 * (contract, section 7): what a value costs as an object is many times what it costs as text. Each bound is far above
 * what an honest answer needs.
 */
export const bounds = {
  /** After decompression. A page of 100 orders has 100 kB. */
  bytes: 32 * 2 ** 20,
  /** Of an answer that is one small object, such as `/me`: it has some hundred bytes. */
  smallBytes: 2 ** 20,
  /** Items of a page: `per_page` is at most 100 (API document, Limits). */
  pageItems: 100,
  /** Items of a list that comes without pages: as many as fit into its bytes, at 160 bytes each. */
  listItems: 200_000,
  /** Objects, arrays, members and elements together. 100 orders of 100 line items have 65,000, 50,000 codes a million. */
  values: 1_500_000,
  /** Of one object. A record has some hundred at most. */
  members: 10_000,
  /** The document's deepest answer has six levels. */
  depth: 100,
  /** Characters of a number. A double needs 17 digits. */
  digits: 1_000,
} as const;

/** What was counted in an answer's text, without building anything of it. */
export interface Counted {
  /** In the list that is its `data`; 0 where that is none. */
  items: number;
  values: number;
  /** Of the object that has most. */
  members: number;
  depth: number;
  /** Of the longest number. */
  digits: number;
}

/** The most items of an answer to this query: `per_page` asks for a page. */
export function mostItems({ per_page }: Query): number {
  return per_page === undefined ? bounds.listItems : bounds.pageItems;
}

/** What an answer has too much of, as the end of a sentence; null where it keeps within bounds. */
export function excessOf({ items, values, members, depth, digits }: Counted, most: number): string | null {
  if (depth > bounds.depth) return `is nested more than ${bounds.depth} levels deep`;
  if (items > most) return `holds more than ${counted(most, "item", inWords)}`;
  if (values > bounds.values) return `holds more than ${inWords(bounds.values)} values`;
  if (members > bounds.members) return `holds an object of more than ${inWords(bounds.members)} members`;
  if (digits > bounds.digits) return `holds a number of more than ${inWords(bounds.digits)} digits`;
  return null;
}

function inWords(count: number): string {
  return count.toLocaleString("en");
}
