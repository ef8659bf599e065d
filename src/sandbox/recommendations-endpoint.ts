import type { Brand } from "./brand.js";
import { unfilteredList } from "./endpoint.js";
import { type HostProfile, repeatByWeight } from "./people.js";
import { chance, createRandom, pick, randomInteger } from "./random.js";

export interface Recommendation {
  [field: string]: unknown;
  host: HostProfile;
  products: { id: string; title: string }[];
}

export const recommendationsEndpoint = unfilteredList("recommendations");

/** Two in five hosts recommend products. The field names `note` and `url` are invented. */
export function createRecommendations({ seed, people, products }: Brand): Recommendation[] {
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
