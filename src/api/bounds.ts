import { counted } from "../lib/counted.js";
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
  /** Of one object. A record has some hundred at most. */
  members: 10_000,
  /** The document's deepest answer has six levels. */
  depth: 100,
  /** Characters of a number. A double needs 17 digits. */
  digits: 1_000,
} as const;

/** The most items of the list that is `data`; objects, arrays, members and elements together. */
export interface Most {
  items: number;
  values: number;
}

/** `per_page` is at most 100 (API document, Limits); 100 orders of 100 line items each have 65,000 values. */
export const aPage: Most = { items: 100, values: 500_000 };
/** As many items as fit into the bytes, at 160 bytes each; 50,000 of 20 members have a million values. */
export const aWhole: Most = { items: 200_000, values: 1_500_000 };

/** What an answer to this query may hold: `per_page` asks for a page. */
export function mostFor({ per_page }: Query): Most {
  return per_page === undefined ? aWhole : aPage;
}

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

/** What an answer has too much of, as the end of a sentence; null where it keeps within bounds. */
export function excessOf({ items, values, members, depth, digits }: Counted, most: Most): string | null {
  if (depth > bounds.depth) return `is nested more than ${bounds.depth} levels deep`;
  if (items > most.items) return `holds more than ${counted(most.items, "item", inWords)}`;
  if (members > bounds.members) return `holds an object of more than ${inWords(bounds.members)} members`;
  if (values > most.values) return `holds more than ${inWords(most.values)} values`;
  if (digits > bounds.digits) return `holds a number of more than ${inWords(bounds.digits)} digits`;
  return null;
}

function inWords(count: number): string {
  return count.toLocaleString("en");
}
