import { dayMs } from "../../util/times.js";
import { type Brand, type BrandMaterial, emptyBrand } from "../brand.js";
import { createKeys } from "../keys.js";
import { createCampaign } from "./campaign-data.js";
import { createContent } from "./library-data.js";
import { createOrders, createProducts } from "./order-data.js";
import { createPerson, createRosterEntry, repeatByWeight } from "./people-data.js";
import { chance, createRandom, pick, randomInteger, randomUuid } from "./random.js";
import { createCode, createGift, createSurvey } from "./undocumented-data.js";

const counts = { people: 130, campaigns: 46, content: 400, gifts: 64, codes: 47, surveys: 9 };

export interface BrandOptions {
  seed: number;
  orders: number;
  now: number;
  name?: string;
}

/** Creates a realistic brand. The same options always produce the same brand. */
export function createBrand({ seed, orders, now, name = "Fjell & Fern" }: BrandOptions): Brand {
  const many = <T>(count: number, create: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => create(index));
  const people = many(counts.people, (index) => createPerson(seed, index));
  const products = createProducts(seed);
  const opportunities = byDate(
    many(counts.campaigns, (index) => createCampaign(seed, people, index, now)),
    "created_at",
  );
  const source = { seed, people, products, opportunities };
  const surveys = many(counts.surveys, (index) => createSurvey(seed, index, now));
  return {
    ...emptyBrand(createKeys(seed, now), seed),
    ...source,
    id: randomUuid(createRandom(seed, "brand")),
    name,
    orders: createOrders(source, orders, now),
    roster: byDate(createRoster(source, now), "joined_at"),
    recommendations: createRecommendations(source),
    content: byDate(
      many(counts.content, (index) => createContent(source, index, fileDate(seed, index, now))),
      "created_at",
    ),
    gifts: many(counts.gifts, (index) => createGift(source, index, now)),
    codes: many(counts.codes, (index) => createCode(source, index, now)),
    surveys: surveys.map(({ survey }) => survey),
    results: Object.fromEntries(surveys.map(({ survey, results }) => [survey.id, results])),
    nextNumber: Math.max(orders, 1_000),
  };
}

/** Four in five hosts are on the roster. The others have left or have not joined yet. */
function createRoster(source: BrandMaterial, now: number) {
  return source.people.flatMap((person, index) => {
    const random = createRandom(source.seed, "relationship", index);
    const joined = now - randomInteger(random, 2, 900) * dayMs - randomInteger(random, 0, dayMs);
    return chance(random, 0.8) ? createRosterEntry(source, person, joined) : [];
  });
}

/** Two in five hosts recommend products. The field names `note` and `url` are invented. */
function createRecommendations({ seed, people, products }: BrandMaterial) {
  const weightedProducts = repeatByWeight(products);
  return people.flatMap(({ motto, profile }, index) => {
    const random = createRandom(seed, "recommendation", index);
    const chosen = [
      ...new Set(Array.from({ length: randomInteger(random, 1, 6) }, () => pick(random, weightedProducts))),
    ];
    if (!chance(random, 0.4)) return [];
    const recommended = chosen.map(({ id, title, cents }) => {
      const note = cents % 3 === 0 ? null : `"Can't leave home without it", ${title}.`;
      return { id, title, note, url: `https://go.example.com/${profile.id.slice(0, 8)}/${id}` };
    });
    return { host: { ...profile, motto }, product_count: chosen.length, products: recommended };
  });
}

function fileDate(seed: number, index: number, now: number): number {
  const n = index % 37 === 36 ? index - 1 : index;
  return Math.floor(
    now - ((n + 0.5) * 600 * dayMs) / counts.content - randomInteger(createRandom(seed, "file", n), 0, dayMs),
  );
}

function byDate<T extends Record<M, string>, M extends string>(records: T[], member: M): T[] {
  return records.sort((a, b) => (a[member] < b[member] ? 1 : a[member] > b[member] ? -1 : 0));
}
