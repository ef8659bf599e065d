import type { Campaign, Recommendation, RosterEntry } from "../records.js";
import { timeText } from "../time.js";
import type { Person } from "./people.js";
import type { Product } from "./products.js";
import { draws, seldomNull, uuid } from "./random.js";

/** Returns a roster entry; `serial` tells a host's second relationship from the first. */
export function createRosterEntry(
  { profile, rate }: Person,
  defaultRate: number,
  joined: number,
  opportunities: readonly Campaign[],
  serial = 0,
): RosterEntry {
  const d = draws(serial, profile.id);
  return {
    relationship_id: uuid(d),
    host: profile,
    status: "active",
    commission_rate: rate ?? defaultRate,
    joined_at: timeText(joined),
    activated_at: seldomNull(d, 0.08, timeText(joined)),
    campaigns: campaignsOf(profile.id, opportunities),
  };
}

/** Returns a host's `campaigns`, counted from the assignments; null for some of those who never had one. */
export function campaignsOf(hostId: string, opportunities: readonly Campaign[]): RosterEntry["campaigns"] {
  const counts = { PROPOSED: 0, ACTIVE: 0, COMPLETED: 0, DECLINED: 0 };
  const mine = opportunities
    .flatMap(({ assignments }) => assignments)
    .filter(({ host }) => host?.id === hostId);
  if (mine.length === 0 && hostId < "8") return null;
  for (const { status } of mine) if (status in counts) counts[status as keyof typeof counts] += 1;
  const { PROPOSED: invited, ACTIVE: active, COMPLETED: completed, DECLINED: declined } = counts;
  const status = active ? "active" : invited ? "invited" : completed ? "completed" : "none";
  return { status, invited, active, completed, declined };
}

/** Returns a host's recommendations. The document does not show a product's note and link: here `note` and `url`. */
export function createRecommendation(
  { profile, motto }: Person,
  products: readonly Product[],
): Recommendation {
  return {
    host: { ...profile, motto },
    product_count: products.length,
    products: products.map(({ id, title, cents }) => ({
      id,
      title,
      note: cents % 3 === 0 ? null : `"Can't leave home without it", ${title}.`,
      url: `https://go.example.com/${profile.id.slice(0, 8)}/${id}`,
    })),
  };
}
