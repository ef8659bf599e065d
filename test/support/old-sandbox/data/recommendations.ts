import { hostProfile } from "./hosts.js";
import { between, chance, draws, pick, topics } from "./random.js";
import type { World } from "./world.js";

/** A host and the places of the products on their public gear lists. */
export interface Recommender {
  host: number;
  products: number[];
}

export function createRecommenders(world: World): Recommender[] {
  const list: Recommender[] = [];
  for (const place of world.hosts.keys()) {
    const d = draws(world.seed, topics.recommendation, place);
    if (!chance(d, 0.4)) continue;
    const products = new Set(Array.from({ length: between(d, 1, 6) }, () => pick(d, world.productWheel)));
    list.push({ host: place, products: [...products] });
  }
  return list;
}

/**
 * A recommendation as `/recommendations` serves it. The document names `id` and `title` of a product, says that a
 * note and a link belong to it too, and does not show their fields: here `note` (nullable) and `url`.
 */
export function recommendationRecord(world: World, { host: place, products }: Recommender) {
  const host = world.hosts[place];
  if (!host) throw new RangeError(`No host at this place: ${place}.`);
  return {
    host: { ...hostProfile(host), motto: host.motto },
    product_count: products.length,
    products: products.flatMap((number) => {
      const product = world.catalog.products[number];
      if (!product) return [];
      const noteless = (number + place) % 3 === 0;
      return {
        id: product.id,
        title: product.title,
        note: noteless ? null : `"Can't leave home without it", day ${number + place}.`,
        url: `https://go.example.com/${host.id.slice(0, 8)}/${product.id}`,
      };
    }),
  };
}
