import { defaultRate, type Source } from "../brand.js";
import type { Campaign, RosterEntry } from "../records.js";
import { timeText } from "../time.js";
import type { Person } from "./people.js";
import { draws, seldomNull, uuid } from "./random.js";

export function createRosterEntry(source: Source, { profile, rate }: Person, joined: number): RosterEntry {
  const d = draws(0, profile.id);
  return {
    relationship_id: uuid(d),
    host: profile,
    status: "active",
    commission_rate: rate ?? defaultRate,
    joined_at: timeText(joined),
    activated_at: seldomNull(d, 0.08, timeText(joined)),
    campaigns: campaignsOf(profile.id, source.opportunities),
  };
}

/** Returns a host's `campaigns`, counted from the assignments; null for some of those who never had one. */
function campaignsOf(hostId: string, opportunities: readonly Campaign[]): RosterEntry["campaigns"] {
  const counts = { PROPOSED: 0, ACTIVE: 0, COMPLETED: 0, DECLINED: 0 };
  const all = opportunities.flatMap(({ assignments }) => assignments);
  const mine = all.filter(({ host }) => host?.id === hostId);
  if (mine.length === 0 && hostId < "8") return null;
  for (const { status } of mine) if (status in counts) counts[status as keyof typeof counts] += 1;
  const { PROPOSED: invited, ACTIVE: active, COMPLETED: completed, DECLINED: declined } = counts;
  const status = active ? "active" : invited ? "invited" : completed ? "completed" : "none";
  return { status, invited, active, completed, declined };
}
