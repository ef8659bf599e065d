import { between, chance, type Draws, draws, pick, topics, uuid } from "./random.js";
import { dateText, day, historyDays, hour } from "./timeline.js";
import type { World } from "./world.js";

/** States: API document, "States and transitions". */
export const campaignStates = [
  "DRAFT",
  "READY",
  "PROPOSED",
  "ACTIVE",
  "COMPLETED",
  "DECLINED",
  "ARCHIVED",
] as const;
export const assignmentStates = ["DRAFT", "READY", "PROPOSED", "ACTIVE", "COMPLETED", "DECLINED"] as const;
export const brandPaymentStates = [
  "NOT_INVOICED",
  "INVOICED",
  "PAYMENT_PENDING",
  "PAID",
  "FAILED",
  "REFUNDED",
] as const;
export const athletePaymentStates = [
  "NOT_EARNED",
  "EARNED",
  "SCHEDULED_FOR_PAYOUT",
  "PAID",
  "ON_HOLD",
  "FAILED",
] as const;
export type CampaignState = (typeof campaignStates)[number];
export type AssignmentState = (typeof assignmentStates)[number];

export interface Assignment {
  id: string;
  status: string;
  brandPayment: string | null;
  athletePayment: string | null;
  acceptedAt: number | null;
  declinedAt: number | null;
  completedAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** Place in the world's hosts; negative: the host is gone. */
  host: number;
}

export interface Deliverable {
  id: string;
  title: string;
  description: string | null;
  dueDate: string | null;
  completedAt: number | null;
}

export interface Campaign {
  id: string;
  title: string;
  description: string | null;
  projectDetails: string | null;
  status: string;
  listingType: string | null;
  deadline: string | null;
  applicationDeadline: string | null;
  targetUrl: string | null;
  payment: Record<string, unknown> | null;
  commissionRate: number | null;
  contentTypes: string[];
  category: string[];
  attachments: Record<string, unknown>[];
  createdAt: number;
  updatedAt: number;
  deliverables: Deliverable[];
  assignments: Assignment[];
}

const seasons = [
  "Spring Launch",
  "Hut to Hut",
  'The "Big Rain" Test',
  "Winterschlussverkauf ❄️",
  "Race Week",
  "Café Rides, Long Days",
  "Team O'Neil",
  "Gear Swap",
  "New Year, Same Trails",
  "Bikepacking Stories",
] as const;
const campaignCount = 46;

export function createCampaigns(world: World): Campaign[] {
  const list = Array.from({ length: campaignCount }, (_, place) => createCampaign(world, place));
  return list.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
}

/** The campaign of a place; `at` makes it one proposed at that instant, instead of one of the history. */
export function createCampaign(world: World, place: number, at?: number): Campaign {
  const d = draws(world.seed, topics.campaign, place);
  // Every state occurs: the first seven are dealt, the rest drawn.
  const dealt =
    campaignStates[place] ??
    pick(d, ["ACTIVE", "ACTIVE", "COMPLETED", "COMPLETED", "PROPOSED", "ARCHIVED", "READY"]);
  const status = at === undefined ? dealt : "PROPOSED";
  const age = between(d, 3, historyDays - 40) * day + between(d, 0, 86_399) * 1000;
  const createdAt = at ?? Math.floor((world.anchor - age) / 1000) * 1000;
  const now = at ?? world.anchor - hour;
  const deadline = createdAt + between(d, 20, 120) * day;
  const id = uuid(world.seed, topics.campaignId, place);
  return {
    id,
    title: `${pick(d, seasons)} ${1 + Math.floor(place / 4)}`,
    description: chance(d, 0.1)
      ? null
      : 'Show how you use it, "for real".\n\n- one reel, two stories\n- tag us; no filters, please',
    projectDetails: chance(d, 0.5) ? null : "Shipping in week 2. Größen bitte bis Freitag melden 🙏",
    status,
    listingType: chance(d, 0.1) ? null : pick(d, ["public", "invite_only", "application"]),
    deadline: chance(d, 0.1) ? null : dateText(deadline),
    applicationDeadline: chance(d, 0.5) ? null : dateText(deadline - 14 * day),
    targetUrl: chance(d, 0.2)
      ? null
      : `https://shop.example.com/c/${place}?utm_source=hosts&utm_campaign=${place}`,
    payment: drawPayment(d),
    commissionRate: chance(d, 0.6) ? null : pick(d, [10, 12.5, 15, 20]),
    contentTypes: ["reel", "story", "post", "video"].filter(() => chance(d, 0.5)),
    category: ["outdoor", "running", "travel"].filter(() => chance(d, 0.4)),
    attachments: drawAttachments(d, id),
    createdAt,
    updatedAt: Math.min(now, createdAt + between(d, 0, 60) * day),
    deliverables: drawDeliverables(world, d, place, createdAt, deadline, now),
    assignments: drawAssignments(world, d, place, status, createdAt, now),
  };
}

/** Only the keys that are set: API document, "Opportunity". */
function drawPayment(d: Draws): Record<string, unknown> | null {
  if (chance(d, 0.15)) return null;
  const payment: Record<string, unknown> = {};
  if (chance(d, 0.6)) payment.flatFee = between(d, 1, 40) * 50;
  if (chance(d, 0.5)) payment.commission = pick(d, [8, 10, 12.5, 15]);
  if (chance(d, 0.3)) payment.bonuses = [{ amount: 100, condition: "50 sales in 30 days" }];
  if (chance(d, 0.4)) payment.terms = "Net 30, after the last deliverable";
  if (chance(d, 0.3)) payment.totalPotential = between(d, 2, 90) * 50;
  return payment;
}

function drawAttachments(d: Draws, id: string): Record<string, unknown>[] {
  return Array.from({ length: pick(d, [0, 0, 1, 2]) }, (_, n) => ({
    url: chance(d, 0.1) ? null : `https://files.example.com/briefs/${id}/${n}.pdf`,
    filename: chance(d, 0.1) ? null : `Brief, v${n + 1} "final".pdf`,
    mime_type: chance(d, 0.1) ? null : "application/pdf",
    file_size_bytes: chance(d, 0.1) ? null : between(d, 20_000, 900_000),
  }));
}

function drawDeliverables(
  world: World,
  d: Draws,
  place: number,
  from: number,
  due: number,
  now: number,
): Deliverable[] {
  return Array.from({ length: between(d, 1, 4) }, (_, n) => ({
    id: uuid(world.seed, topics.deliverableId, place * 10 + n),
    title: pick(d, ["Reel", "Story set", "Try-on, honest", "Long video", "Blog post"]),
    description: chance(d, 0.4) ? null : "Natural light, no music with rights.",
    dueDate: chance(d, 0.2) ? null : dateText(due - n * 3 * day),
    completedAt: chance(d, 0.6) ? null : Math.min(now, from + between(d, 5, 60) * day),
  }));
}

function drawAssignments(
  world: World,
  d: Draws,
  place: number,
  campaign: string,
  from: number,
  now: number,
): Assignment[] {
  const count = campaign === "DRAFT" ? 0 : between(d, campaign === "ACTIVE" ? 3 : 0, 14);
  return Array.from({ length: count }, (_, n) => {
    const status =
      campaign === "COMPLETED" || campaign === "ARCHIVED"
        ? pick(d, ["COMPLETED", "COMPLETED", "DECLINED"])
        : pick(d, assignmentStates);
    const createdAt = Math.min(now, from + between(d, 1, 20) * day);
    const done = Math.min(now, createdAt + between(d, 10, 60) * day);
    return {
      id: uuid(world.seed, topics.assignmentId, place * 100 + n),
      status,
      brandPayment: chance(d, 0.1)
        ? null
        : status === "COMPLETED"
          ? pick(d, brandPaymentStates)
          : "NOT_INVOICED",
      athletePayment: chance(d, 0.1)
        ? null
        : status === "COMPLETED"
          ? pick(d, athletePaymentStates)
          : "NOT_EARNED",
      acceptedAt: status === "ACTIVE" || status === "COMPLETED" ? Math.min(done, createdAt + 2 * day) : null,
      declinedAt: status === "DECLINED" ? Math.min(done, createdAt + day) : null,
      completedAt: status === "COMPLETED" ? done : null,
      createdAt,
      updatedAt: status === "COMPLETED" ? done : createdAt,
      host: chance(d, 0.02) ? -1 : between(d, 0, world.hosts.length - 1),
    };
  });
}
