import { between, draws, hex, pick, seldomNull } from "./random.js";

/** A product of the brand. */
export interface Product {
  id: string;
  title: string;
  coverPhoto: string | null;
  sku: string;
  /** Unit price in hundredths of the order's currency. */
  cents: number;
  variants: readonly (string | null)[];
  /** How often it is bought and looked at, compared with others. */
  weight: number;
}

const titles =
  `Ridgeline Shell Jacket|Fern 28 Daypack|Trail Gaiters 6"|Hut Slippers, Wool|Nordlys Headlamp 400|Mütze Gipfelglück|` +
  `Alpine Start Bib|O'Malley Merino Tee|Dry Sack 13 L|Compass Running Vest|The "Everyday" Cap|Long Haul Duffel, 60 L|` +
  `Crème Solaire SPF 50|Kaffeekanne 0,75 l|Granite Climbing Chalk|Packable Down Quilt|River Sandals|` +
  `Summit Socks 3-Pack 🧦|Glacier Sunglasses|Half-Dome Tent 2P|Bikepacking Bar Bag|Trail Runner GTX|Rope Bag & Tarp`;
const lists = `My Everyday Carry|Race Day|Winter Essentials ❄️|What's in my pack?|Huttentour, 5 Tage|"Must haves"|Yoga & Recovery`;

export const gearLists = lists.split("|").map((title, place) => ({
  id: `list_${hex(draws(7, "gear list", place), 8)}`,
  title,
}));

export function createProducts(seed: number): Product[] {
  return titles.split("|").map((title, place) => {
    const d = draws(seed, "product", place);
    const id = `prod_${hex(d, 8)}`;
    const colours = ["Moss / S", "Slate / M", "Night Blue / L", "Crème / XL"];
    return {
      id,
      title,
      coverPhoto: seldomNull(d, 0.1, `https://images.example.com/products/${id}.jpg`),
      sku: `FF-${100 + place}`,
      cents: between(d, 9, 260) * 100 + pick(d, [0, 0, 50, 90, 95, 99]),
      variants: between(d, 0, 2) === 0 ? [null, "Default Title"] : colours,
      weight: between(d, 1, 12),
    };
  });
}
