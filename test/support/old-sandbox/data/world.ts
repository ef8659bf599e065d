import { type Catalog, createCatalog } from "./catalog.js";
import { createHosts, type Host } from "./hosts.js";
import { topics, uuid } from "./random.js";
import { createTimeline, type Timeline } from "./timeline.js";

/** What every resource of one brand is computed from. */
export interface World {
  seed: number;
  /** The sandbox's now at its start, in milliseconds since 1970: the history ends here. */
  anchor: number;
  brand: { id: string; name: string };
  /** The brand's default commission rate, percentage. Changing it rewrites many records without any event. */
  defaultRate: number;
  catalog: Catalog;
  hosts: Host[];
  /** Places in `hosts`, each as often as the host's weight: a wheel to spin. */
  hostWheel: readonly number[];
  /** Products likewise. */
  productWheel: readonly number[];
  timeline: Timeline;
}

export function createWorld(seed: number, name: string, orders: number, anchor: number): World {
  const hosts = createHosts(seed);
  const catalog = createCatalog(seed);
  return {
    seed,
    anchor,
    brand: { id: uuid(seed, topics.brand, 0), name },
    defaultRate: 12,
    catalog,
    hosts,
    hostWheel: wheel(hosts.map((host) => host.weight)),
    productWheel: wheel(catalog.products.map((product) => product.weight)),
    timeline: createTimeline(seed, orders, anchor),
  };
}

function wheel(weights: readonly number[]): number[] {
  return weights.flatMap((weight, place) => Array.from({ length: weight }, () => place));
}
