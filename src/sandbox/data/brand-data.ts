import { type Brand, type BrandMaterial, day, emptyBrand } from "../brand.js";
import { createKeys } from "../keys.js";
import { createCampaign } from "./campaign-data.js";
import { createContent } from "./library-data.js";
import { createOrders, createProducts } from "./order-data.js";
import { createPerson, createRosterEntry, repeatByWeight } from "./people-data.js";
import { chance, createRandom, pick, randomInteger, randomUuid } from "./random.js";
import { createCode, createGift, createSurvey } from "./undocumented-data.js";

/** How many of each there are, besides the orders. */
const counts = { people: 130, campaigns: 46, content: 400, gifts: 64, codes: 47, surveys: 9 };

export interface BrandOptions {
  seed: number;
  /** How many orders the history of two years has. */
  orders: number;
  /** The history ends here, in milliseconds since 1970. */
  now: number;
  name?: string;
}

/** Returns a believable brand, the same for the same options. */
export function createBrand({ seed, orders, now, name = "Fjell & Fern" }: BrandOptions): Brand {
  const many = <T>(count: number, create: (place: number) => T) =>
    Array.from({ length: count }, (_, place) => create(place));
  const people = many(counts.people, (place) => createPerson(seed, place));
  const products = createProducts(seed);
  const opportunities = byDate(
    many(counts.campaigns, (place) => createCampaign(seed, people, place, now)),
    "created_at",
  );
  const source = { seed, people, products, opportunities };
  const surveys = many(counts.surveys, (place) => createSurvey(seed, place, now));
  return {
    ...emptyBrand(createKeys(seed, now), seed),
    ...source,
    id: randomUuid(createRandom(seed, "brand")),
    name,
    orders: createOrders(source, orders, now),
    roster: byDate(createRoster(source, now), "joined_at"),
    recommendations: createRecommendations(source),
    content: byDate(
      many(counts.content, (place) => createContent(source, place, fileDate(seed, place, now))),
      "created_at",
    ),
    gifts: many(counts.gifts, (place) => createGift(source, place, now)),
    codes: many(counts.codes, (place) => createCode(source, place, now)),
    surveys: surveys.map(({ survey }) => survey),
    results: Object.fromEntries(surveys.map(({ survey, results }) => [survey.id, results])),
    nextNumber: Math.max(orders, 1_000),
  };
}

/** Four hosts in five are on the roster: the others have left, or have not joined yet. */
function createRoster(source: BrandMaterial, now: number) {
  return source.people.flatMap((person, place) => {
    const d = createRandom(source.seed, "relationship", place);
    const joined = now - randomInteger(d, 2, 900) * day - randomInteger(d, 0, day);
    return chance(d, 0.8) ? createRosterEntry(source, person, joined) : [];
  });
}

/** The document does not show the note and the link of a recommended product: here `note` and `url`. */
function createRecommendations({ seed, people, products }: BrandMaterial) {
  const wheel = repeatByWeight(products);
  return people.flatMap(({ motto, profile }, place) => {
    const d = createRandom(seed, "recommendation", place);
    const chosen = [...new Set(Array.from({ length: randomInteger(d, 1, 6) }, () => pick(d, wheel)))];
    if (!chance(d, 0.4)) return [];
    const recommended = chosen.map(({ id, title, cents }) => {
      const note = cents % 3 === 0 ? null : `"Can't leave home without it", ${title}.`;
      return { id, title, note, url: `https://go.example.com/${profile.id.slice(0, 8)}/${id}` };
    });
    return { host: { ...profile, motto }, product_count: chosen.length, products: recommended };
  });
}

/** Files come evenly over 600 days; now and then two share their instant. */
function fileDate(seed: number, place: number, now: number): number {
  const n = place % 37 === 36 ? place - 1 : place;
  return Math.floor(
    now - ((n + 0.5) * 600 * day) / counts.content - randomInteger(createRandom(seed, "file", n), 0, day),
  );
}

function byDate<T extends Record<M, string>, M extends string>(records: T[], member: M): T[] {
  return records.sort((a, b) => (a[member] < b[member] ? 1 : a[member] > b[member] ? -1 : 0));
}
