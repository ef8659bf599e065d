import type { Person } from "./data/people.js";
import type { Product } from "./data/products.js";
import type { ApiKey } from "./keys.js";
import type { Campaign, ContentItem, OpenRecord, Order, Recommendation, RosterEntry } from "./records.js";

/** The lists of a brand; in each, the record that came last stands first. */
export interface Lists {
  orders: readonly Order[];
  roster: readonly RosterEntry[];
  recommendations: readonly Recommendation[];
  opportunities: readonly Campaign[];
  content: readonly ContentItem[];
  gifts: readonly OpenRecord[];
  codes: readonly OpenRecord[];
  surveys: readonly OpenRecord[];
}

export type ListName = keyof Lists;

/** A brand as the API knows it: its records as they are served, and the material of new ones. */
export interface Brand extends Lists {
  seed: number;
  id: string;
  name: string;
  keys: readonly ApiKey[];
  /** The hosts that the brand has met, on the roster or not: traffic and new records come from them. */
  people: readonly Person[];
  products: readonly Product[];
  /** Results by survey id. */
  results: Readonly<Record<string, unknown>>;
  /** How many happenings there were: a number for what comes next. */
  serial: number;
}

/** The rate, percentage, if none was agreed with a host. */
export const defaultRate = 12;

/** The material of new records. */
export type Source = Pick<Brand, "seed" | "people" | "products" | "opportunities">;

/** Returns a brand without a record and without hosts. */
export function emptyBrand(keys: readonly ApiKey[] = [], seed = 1): Brand {
  return {
    seed,
    id: "b0000000-0000-4000-8000-000000000001",
    name: "Fjell & Fern",
    keys,
    people: [],
    products: [],
    orders: [],
    roster: [],
    recommendations: [],
    opportunities: [],
    content: [],
    gifts: [],
    codes: [],
    surveys: [],
    results: {},
    serial: 0,
  };
}
