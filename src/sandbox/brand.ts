import { type ContentItem, createLibrary } from "./content-endpoints.js";
import { type ApiKey, createKeys } from "./keys.js";
import { type Campaign, createOpportunities } from "./opportunities-endpoints.js";
import { createOrders, createProducts, type Order, type Product } from "./orders-endpoint.js";
import { createPeople, type Person } from "./people.js";
import { createRandom, randomUuid } from "./random.js";
import { createRecommendations, type Recommendation } from "./recommendations-endpoint.js";
import { createRoster, type RosterEntry } from "./roster-endpoint.js";
import {
  createCodes,
  createGifts,
  createSurveys,
  type UndocumentedRecord,
} from "./undocumented-endpoints.js";

/**
 * The lists that the API returns, with the most recently added record first. Records and lists are immutable: an event
 * replaces the record and the array that contains it.
 */
export interface Lists {
  orders: readonly Order[];
  roster: readonly RosterEntry[];
  recommendations: readonly Recommendation[];
  opportunities: readonly Campaign[];
  content: readonly ContentItem[];
  gifts: readonly UndocumentedRecord[];
  codes: readonly UndocumentedRecord[];
  surveys: readonly UndocumentedRecord[];
}

export type ListName = keyof Lists;

export interface Brand extends Lists {
  seed: number;
  id: string;
  name: string;
  keys: readonly ApiKey[];
  people: readonly Person[];
  products: readonly Product[];
  results: Readonly<Record<string, unknown>>;
  nextNumber: number;
}

export interface BrandOptions {
  seed: number;
  orders: number;
  now: number;
  name?: string;
}

/** Creates a realistic brand. The same options always produce the same brand. */
export function createBrand({ seed, orders, now, name = "Fjell & Fern" }: BrandOptions): Brand {
  const brand = emptyBrand(createKeys(seed, now), seed);
  brand.id = randomUuid(createRandom(seed, "brand"));
  brand.name = name;
  brand.people = createPeople(seed);
  brand.products = createProducts(seed);
  brand.opportunities = createOpportunities(brand, now);
  brand.orders = createOrders(brand, orders, now);
  brand.roster = createRoster(brand, now);
  brand.recommendations = createRecommendations(brand);
  brand.content = createLibrary(brand, now);
  brand.gifts = createGifts(brand, now);
  brand.codes = createCodes(brand, now);
  Object.assign(brand, createSurveys(seed, now));
  brand.nextNumber = Math.max(orders, 1_000);
  return brand;
}

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
    nextNumber: 0,
  };
}
