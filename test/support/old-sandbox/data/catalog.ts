import { between, chance, draws, hash, hex, pick, topics } from "./random.js";

/** A product of the brand, as orders, recommendations and analytics show it. */
export interface Product {
  id: string;
  title: string;
  brandName: string;
  coverPhoto: string | null;
  sku: string;
  /** Unit price in hundredths of the order's currency. */
  cents: number;
  variants: readonly (string | null)[];
  /** How often it is bought and looked at, compared with the others. */
  weight: number;
}

export interface GearList {
  id: string;
  title: string;
}

export interface Catalog {
  products: readonly Product[];
  gearLists: readonly GearList[];
}

const titles = [
  "Ridgeline Shell Jacket",
  "Fern 28 Daypack",
  'Trail Gaiters 6"',
  "Hut Slippers, Wool",
  "Nordlys Headlamp 400",
  "Mütze Gipfelglück",
  "Alpine Start Bib",
  "O'Malley Merino Tee",
  "Dry Sack 13 L",
  "Compass Running Vest",
  'The "Everyday" Cap',
  "Long Haul Duffel, 60 L",
  "Trekking Poles (Pair)",
  "Crème Solaire SPF 50",
  "Kaffeekanne 0,75 l",
  "Featherlight Windbreaker",
  "Granite Climbing Chalk",
  "Sunrise Yoga Mat",
  "Packable Down Quilt",
  "River Sandals",
  "Summit Socks 3-Pack 🧦",
  "Glacier Sunglasses",
  "Camp Mug, Enamel",
  "Half-Dome Tent 2P",
  "Quick-Dry Towel",
  "Snowline Gloves",
  "Bikepacking Bar Bag",
  "Insulated Bottle 750 ml",
  "Recovery Hoodie",
  "Trail Runner GTX",
  "Field Notes Journal",
  "Base Layer Tights",
  "Sleeping Pad R4",
  "Approach Shoe Low",
  "Ceramic Pour-Over",
  "Rope Bag & Tarp",
] as const;

const listTitles = [
  "My Everyday Carry",
  "Race Day",
  "Winter Essentials ❄️",
  "Bikepacking the Alps",
  "What's in my pack?",
  "Huttentour, 5 Tage",
  '"Must haves"',
  "Van Life Kitchen",
  "First Marathon",
  "Rainy Days, Happy Days",
  "Travel Light",
  "Yoga & Recovery",
] as const;

const sizes = ["XS", "S", "M", "L", "XL"] as const;
const colours = ["Moss", "Slate", "Clay", "Night Blue", "Crème"] as const;

export function createCatalog(seed: number): Catalog {
  const products = titles.map((title, place): Product => {
    const d = draws(seed, topics.product, place);
    const id = `prod_${hex(hash(seed, topics.product, place + 1000), 8)}`;
    const plain = chance(d, 0.3);
    return {
      id,
      title,
      brandName: "Fjell & Fern",
      coverPhoto: chance(d, 0.1) ? null : `https://images.example.com/products/${id}.jpg`,
      sku: `FF-${String(100 + place)}`,
      cents: between(d, 9, 260) * 100 + pick(d, [0, 0, 50, 90, 95, 99]),
      variants: plain ? [null, "Default Title"] : colours.map((colour) => `${colour} / ${pick(d, sizes)}`),
      weight: between(d, 1, 12),
    };
  });
  const gearLists = listTitles.map((title, place) => ({
    id: `list_${hex(hash(seed, topics.gearList, place), 8)}`,
    title,
  }));
  return { products, gearLists };
}
