import { dayMs, formatInstant } from "../util/timestamps.js";
import type { Brand } from "./brand.js";
import { unfilteredList } from "./endpoint.js";
import type { Campaign } from "./opportunities-endpoints.js";
import { defaultRate, type HostProfile, type Person } from "./people.js";
import { chance, createRandom, orNull, randomInteger, randomUuid } from "./random.js";

export interface RosterEntry {
  [field: string]: unknown;
  relationship_id: string;
  host: HostProfile;
  commission_rate: number;
  joined_at: string;
  campaigns: {
    status: string;
    invited: number;
    active: number;
    completed: number;
    declined: number;
  } | null;
}

export const rosterEndpoint = unfilteredList("roster");

/** Four in five hosts are on the roster. The others have left or have not joined yet. */
export function createRoster(brand: Brand, now: number): RosterEntry[] {
  const entries = brand.people.flatMap((person, index) => {
    const random = createRandom(brand.seed, "relationship", index);
    const joined = now - randomInteger(random, 2, 900) * dayMs - randomInteger(random, 0, dayMs);
    return chance(random, 0.8) ? createRosterEntry(brand, person, joined) : [];
  });
  return entries.sort((a, b) => Date.parse(b.joined_at) - Date.parse(a.joined_at));
}

export function createRosterEntry(
  { opportunities }: Brand,
  { profile, rate }: Person,
  joined: number,
): RosterEntry {
  const random = createRandom(0, profile.id);
  return {
    relationship_id: randomUuid(random),
    host: profile,
    status: "active",
    commission_rate: rate ?? defaultRate,
    joined_at: formatInstant(joined),
    activated_at: orNull(random, 0.08, formatInstant(joined)),
    campaigns: countCampaigns(profile.id, opportunities),
  };
}

function countCampaigns(hostId: string, opportunities: readonly Campaign[]): RosterEntry["campaigns"] {
  const counts = { PROPOSED: 0, ACTIVE: 0, COMPLETED: 0, DECLINED: 0 };
  const all = opportunities.flatMap(({ assignments }) => assignments);
  const mine = all.filter(({ host }) => host?.id === hostId);
  if (mine.length === 0 && hostId < "8") return null;
  for (const { status } of mine) if (status in counts) counts[status as keyof typeof counts] += 1;
  const { PROPOSED: invited, ACTIVE: active, COMPLETED: completed, DECLINED: declined } = counts;
  const status = active ? "active" : invited ? "invited" : completed ? "completed" : "none";
  return { status, invited, active, completed, declined };
}
