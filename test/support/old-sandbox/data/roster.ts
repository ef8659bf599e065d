import type { Campaign } from "./campaigns.js";
import { hostProfile } from "./hosts.js";
import { between, chance, draws, topics, uuid } from "./random.js";
import { day, timeText } from "./timeline.js";
import type { World } from "./world.js";

export interface Relationship {
  id: string;
  /** Place in the world's hosts. */
  host: number;
  /** Percentage; null: the brand's default. */
  rate: number | null;
  joinedAt: number;
  activatedAt: number | null;
}

/** The hosts with an active relationship, newest first. Some of the pool have left, some have not joined yet. */
export function createRoster(world: World): Relationship[] {
  const roster: Relationship[] = [];
  for (const [place, host] of world.hosts.entries()) {
    const d = draws(world.seed, topics.relationship, place);
    if (chance(d, 0.2)) continue;
    const joinedAt = world.anchor - between(d, 2, 900) * day - between(d, 0, 86_399_999);
    roster.push({
      id: uuid(world.seed, topics.relationship, place),
      host: place,
      rate: host.customRate,
      joinedAt,
      activatedAt: chance(d, 0.08) ? null : joinedAt + between(d, 0, 2 * day - 1),
    });
  }
  return roster.sort((a, b) => b.joinedAt - a.joinedAt);
}

/** A roster entry as `/roster` serves it. `campaigns` is counted from the opportunities' assignments. */
export function rosterRecord(world: World, entry: Relationship, campaigns: readonly Campaign[]) {
  const host = world.hosts[entry.host];
  if (!host) throw new RangeError(`No host at this place: ${entry.host}.`);
  return {
    relationship_id: entry.id,
    host: hostProfile(host),
    status: "active",
    commission_rate: entry.rate ?? world.defaultRate,
    joined_at: timeText(entry.joinedAt),
    activated_at: timeText(entry.activatedAt),
    campaigns: campaignSummary(entry, campaigns),
  };
}

function campaignSummary(entry: Relationship, campaigns: readonly Campaign[]) {
  const counts = { invited: 0, active: 0, completed: 0, declined: 0 };
  let known = false;
  for (const campaign of campaigns) {
    for (const { host, status } of campaign.assignments) {
      if (host !== entry.host) continue;
      known = true;
      if (status === "PROPOSED") counts.invited++;
      if (status === "ACTIVE") counts.active++;
      if (status === "COMPLETED") counts.completed++;
      if (status === "DECLINED") counts.declined++;
    }
  }
  // A host who never met a campaign: null for some, zeros for others, as the document allows both.
  if (!known && entry.host % 2 === 0) return null;
  const status = counts.active
    ? "active"
    : counts.invited
      ? "invited"
      : counts.completed
        ? "completed"
        : "none";
  return { status, ...counts };
}
