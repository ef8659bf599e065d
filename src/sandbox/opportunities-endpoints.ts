import { utcDay } from "../util/time-ranges.js";
import { dayMs, formatInstant, secondMs } from "../util/timestamps.js";
import type { Brand } from "./brand.js";
import {
  type Endpoint,
  type EndpointContext,
  matchesFilter,
  notFound,
  paging,
  parseQuery,
  respondWithPage,
  selectRange,
  someOf,
} from "./endpoint.js";
import { historyDays } from "./orders-endpoint.js";
import { type Host, type Person, toHost } from "./people.js";
import {
  chance,
  createRandom,
  orNull,
  pick,
  type RandomStream,
  randomInteger,
  randomUuid,
} from "./random.js";

interface Assignment {
  [field: string]: unknown;
  id: string;
  status: string;
  brand_payment_state: string | null;
  host: Host | null;
}

/** An opportunity with its details. `GET /opportunities` omits `deliverables` and `assignments`. */
export interface Campaign {
  [field: string]: unknown;
  id: string;
  title: string;
  status: string;
  assignment_counts: Record<string, number>;
  created_at: string;
  updated_at: string;
  deliverables: { [field: string]: unknown; id: string; title: string; due_date: string | null }[];
  assignments: Assignment[];
}

const assignmentStates = ["DRAFT", "READY", "PROPOSED", "ACTIVE", "COMPLETED", "DECLINED"];
const campaignStates = [...assignmentStates, "ARCHIVED"];

export const opportunitiesEndpoints: readonly Endpoint[] = [
  { path: "/opportunities", scope: "opportunities:read", handle: listOpportunities },
  { path: "/opportunities/{id}", scope: "opportunities:read", handle: getOpportunity },
];

function listOpportunities({ brand, query }: EndpointContext) {
  const { status, ...page } = parseQuery(
    { ...paging, status: someOf(campaignStates, (text) => text.toUpperCase()) },
    query,
  );
  const campaigns = selectRange(brand.opportunities, "created_at", { from: null, to: null });
  const matching = campaigns.filter((campaign) => matchesFilter(status, campaign.status));
  const listed = matching.map(({ deliverables, assignments, ...campaign }) => campaign);
  return respondWithPage(listed, page);
}

function getOpportunity({ brand, query, params: [id = ""] }: EndpointContext) {
  parseQuery({}, query);
  const campaign = brand.opportunities.find((one) => one.id.toLowerCase() === id.toLowerCase());
  return { data: campaign ?? notFound("opportunity") };
}

const brandPayments = ["NOT_INVOICED", "INVOICED", "PAYMENT_PENDING", "PAID", "FAILED", "REFUNDED"];
const hostPayments = ["NOT_EARNED", "EARNED", "SCHEDULED_FOR_PAYOUT", "PAID", "ON_HOLD", "FAILED"];

const titles =
  `Spring Launch|Hut to Hut|The "Big Rain" Test|Winterschlussverkauf ❄️|Race Week|Café Rides, Long Days|Team O'Neil|` +
  "Gear Swap|New Year, Same Trails|Bikepacking Stories";

const brief = 'Show how you use it, "for real".\n\n- one reel, two stories\n- no filters, please';

export function createOpportunities({ seed, people }: Brand, now: number): Campaign[] {
  const campaigns = Array.from({ length: 46 }, (_, index) => createCampaign(seed, people, index, now));
  return campaigns.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
}

function createCampaign(seed: number, people: readonly Person[], index: number, now: number): Campaign {
  const random = createRandom(seed, "campaign", index);
  const nullable = <T>(probability: number, value: T) => orNull(random, probability, value);
  // The first seven campaigns include one in every state.
  const drawn = pick(random, ["ACTIVE", "ACTIVE", "COMPLETED", "COMPLETED", "PROPOSED", "ARCHIVED", "READY"]);
  const status = campaignStates[index] ?? drawn;
  const age =
    randomInteger(random, 3, historyDays - 40) * dayMs + randomInteger(random, 0, 86_399) * secondMs;
  const created = Math.floor((now - age) / secondMs) * secondMs;
  const deadline = created + randomInteger(random, 20, 120) * dayMs;
  const id = randomUuid(random);
  const assignments = createAssignments(random, people, status, created, now);
  return {
    id,
    title: `${pick(random, titles.split("|"))} ${1 + Math.floor(index / 4)}`,
    description: nullable(0.1, brief),
    project_details: nullable(0.5, "Shipping in week 2. Größen bitte bis Freitag melden 🙏"),
    status,
    listing_type: nullable(0.1, pick(random, ["public", "invite_only", "application"])),
    deadline: nullable(0.1, utcDay(deadline)),
    application_deadline: nullable(0.5, utcDay(deadline - 14 * dayMs)),
    target_url: nullable(0.2, `https://shop.example.com/c/${index}?utm_source=hosts&utm_campaign=${index}`),
    payment: nullable(0.15, createPayment(random)),
    commission_rate: nullable(0.6, pick(random, [10, 12.5, 15, 20])),
    content_types: ["reel", "story", "post", "video"].filter(() => chance(random, 0.5)),
    category: ["outdoor", "running", "travel"].filter(() => chance(random, 0.4)),
    attachments: Array.from({ length: pick(random, [0, 0, 1, 2]) }, (_, n) => ({
      url: nullable(0.1, `https://files.example.com/briefs/${id}/${n}.pdf`),
      filename: nullable(0.1, `Brief, v${n + 1} "final".pdf`),
      mime_type: nullable(0.1, "application/pdf"),
      file_size_bytes: nullable(0.1, randomInteger(random, 20_000, 900_000)),
    })),
    assignment_counts: countByStatus(assignments),
    created_at: formatInstant(created),
    updated_at: formatInstant(Math.min(now, created + randomInteger(random, 0, 60) * dayMs)),
    deliverables: Array.from({ length: randomInteger(random, 1, 4) }, (_, n) => ({
      id: randomUuid(random),
      title: pick(random, ["Reel", "Story set", "Try-on, honest", "Long video", "Blog post"]),
      description: nullable(0.6, "Natural light, no copyrighted music."),
      due_date: nullable(0.2, utcDay(deadline - n * 3 * dayMs)),
      completed_at: nullable(
        0.6,
        formatInstant(Math.min(now, created + randomInteger(random, 5, 60) * dayMs)),
      ),
    })),
    assignments,
  };
}

function countByStatus(assignments: readonly Assignment[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of assignments) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Returns only the payment terms that are set (see "Opportunity" in the API documentation). */
function createPayment(random: RandomStream): Record<string, unknown> {
  return {
    ...(chance(random, 0.6) ? { flatFee: randomInteger(random, 1, 40) * 50 } : {}),
    ...(chance(random, 0.5) ? { commission: pick(random, [8, 10, 12.5, 15]) } : {}),
    ...(chance(random, 0.3) ? { bonuses: [{ amount: 100, condition: "50 sales in 30 days" }] } : {}),
    ...(chance(random, 0.4) ? { terms: "Net 30, after the last deliverable" } : {}),
    ...(chance(random, 0.3) ? { totalPotential: randomInteger(random, 2, 90) * 50 } : {}),
  };
}

function createAssignments(
  random: RandomStream,
  people: readonly Person[],
  campaign: string,
  from: number,
  now: number,
): Assignment[] {
  if (campaign === "DRAFT") return [];
  const isOver = campaign === "COMPLETED" || campaign === "ARCHIVED";
  return Array.from({ length: randomInteger(random, campaign === "ACTIVE" ? 3 : 0, 14) }, () => {
    const status = isOver
      ? pick(random, ["COMPLETED", "COMPLETED", "DECLINED"])
      : pick(random, assignmentStates);
    const created = Math.min(now, from + randomInteger(random, 1, 20) * dayMs);
    const done = Math.min(now, created + randomInteger(random, 10, 60) * dayMs);
    const isDone = status === "COMPLETED";
    return {
      id: randomUuid(random),
      status,
      brand_payment_state: orNull(random, 0.1, isDone ? pick(random, brandPayments) : "NOT_INVOICED"),
      athlete_payment_state: orNull(random, 0.1, isDone ? pick(random, hostPayments) : "NOT_EARNED"),
      accepted_at: isDone || status === "ACTIVE" ? formatInstant(Math.min(done, created + 2 * dayMs)) : null,
      declined_at: status === "DECLINED" ? formatInstant(Math.min(done, created + dayMs)) : null,
      completed_at: isDone ? formatInstant(done) : null,
      created_at: formatInstant(created),
      updated_at: formatInstant(isDone ? done : created),
      host: chance(random, 0.02) ? null : toHost(pick(random, people)),
    };
  });
}
