import { type Assignment, type Campaign, dateText, day, second, timeText } from "../brand.js";
import { historyDays } from "./order-data.js";
import { type Person, toHost } from "./people-data.js";
import {
  chance,
  createRandom,
  orNull,
  pick,
  type RandomStream,
  randomInteger,
  randomUuid,
} from "./random.js";

/** The states of a campaign and of an assignment: API document, States and transitions. */
const assignmentStates = ["DRAFT", "READY", "PROPOSED", "ACTIVE", "COMPLETED", "DECLINED"];
export const campaignStates = [...assignmentStates, "ARCHIVED"];
const brandPayments = ["NOT_INVOICED", "INVOICED", "PAYMENT_PENDING", "PAID", "FAILED", "REFUNDED"];
const hostPayments = ["NOT_EARNED", "EARNED", "SCHEDULED_FOR_PAYOUT", "PAID", "ON_HOLD", "FAILED"];

const titles =
  `Spring Launch|Hut to Hut|The "Big Rain" Test|Winterschlussverkauf ❄️|Race Week|Café Rides, Long Days|Team O'Neil|` +
  "Gear Swap|New Year, Same Trails|Bikepacking Stories";

const brief = 'Show how you use it, "for real".\n\n- one reel, two stories\n- no filters, please';

/** Returns campaign number `place` of a history that ends at `now`. */
export function createCampaign(
  seed: number,
  people: readonly Person[],
  place: number,
  now: number,
): Campaign {
  const d = createRandom(seed, "campaign", place);
  const maybe = <T>(probability: number, value: T) => orNull(d, probability, value);
  // Every state occurs: the first seven are dealt, the others drawn.
  const drawn = pick(d, ["ACTIVE", "ACTIVE", "COMPLETED", "COMPLETED", "PROPOSED", "ARCHIVED", "READY"]);
  const status = campaignStates[place] ?? drawn;
  const age = randomInteger(d, 3, historyDays - 40) * day + randomInteger(d, 0, 86_399) * second;
  const created = Math.floor((now - age) / second) * second;
  const deadline = created + randomInteger(d, 20, 120) * day;
  const id = randomUuid(d);
  const assignments = drawAssignments(d, people, status, created, now);
  return {
    id,
    title: `${pick(d, titles.split("|"))} ${1 + Math.floor(place / 4)}`,
    description: maybe(0.1, brief),
    project_details: maybe(0.5, "Shipping in week 2. Größen bitte bis Freitag melden 🙏"),
    status,
    listing_type: maybe(0.1, pick(d, ["public", "invite_only", "application"])),
    deadline: maybe(0.1, dateText(deadline)),
    application_deadline: maybe(0.5, dateText(deadline - 14 * day)),
    target_url: maybe(0.2, `https://shop.example.com/c/${place}?utm_source=hosts&utm_campaign=${place}`),
    payment: maybe(0.15, drawPayment(d)),
    commission_rate: maybe(0.6, pick(d, [10, 12.5, 15, 20])),
    content_types: ["reel", "story", "post", "video"].filter(() => chance(d, 0.5)),
    category: ["outdoor", "running", "travel"].filter(() => chance(d, 0.4)),
    attachments: Array.from({ length: pick(d, [0, 0, 1, 2]) }, (_, n) => ({
      url: maybe(0.1, `https://files.example.com/briefs/${id}/${n}.pdf`),
      filename: maybe(0.1, `Brief, v${n + 1} "final".pdf`),
      mime_type: maybe(0.1, "application/pdf"),
      file_size_bytes: maybe(0.1, randomInteger(d, 20_000, 900_000)),
    })),
    assignment_counts: countByStatus(assignments),
    created_at: timeText(created),
    updated_at: timeText(Math.min(now, created + randomInteger(d, 0, 60) * day)),
    deliverables: Array.from({ length: randomInteger(d, 1, 4) }, (_, n) => ({
      id: randomUuid(d),
      title: pick(d, ["Reel", "Story set", "Try-on, honest", "Long video", "Blog post"]),
      description: maybe(0.6, "Natural light, no music with rights."),
      due_date: maybe(0.2, dateText(deadline - n * 3 * day)),
      completed_at: maybe(0.6, timeText(Math.min(now, created + randomInteger(d, 5, 60) * day))),
    })),
    assignments,
  };
}

/** Assignments by status: statuses with none are omitted. */
export function countByStatus(assignments: readonly Assignment[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of assignments) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Only the keys that are set: API document, Opportunity. */
function drawPayment(d: RandomStream): Record<string, unknown> {
  return {
    ...(chance(d, 0.6) ? { flatFee: randomInteger(d, 1, 40) * 50 } : {}),
    ...(chance(d, 0.5) ? { commission: pick(d, [8, 10, 12.5, 15]) } : {}),
    ...(chance(d, 0.3) ? { bonuses: [{ amount: 100, condition: "50 sales in 30 days" }] } : {}),
    ...(chance(d, 0.4) ? { terms: "Net 30, after the last deliverable" } : {}),
    ...(chance(d, 0.3) ? { totalPotential: randomInteger(d, 2, 90) * 50 } : {}),
  };
}

function drawAssignments(
  d: RandomStream,
  people: readonly Person[],
  campaign: string,
  from: number,
  now: number,
): Assignment[] {
  if (campaign === "DRAFT") return [];
  const isOver = campaign === "COMPLETED" || campaign === "ARCHIVED";
  return Array.from({ length: randomInteger(d, campaign === "ACTIVE" ? 3 : 0, 14) }, () => {
    const status = isOver ? pick(d, ["COMPLETED", "COMPLETED", "DECLINED"]) : pick(d, assignmentStates);
    const created = Math.min(now, from + randomInteger(d, 1, 20) * day);
    const done = Math.min(now, created + randomInteger(d, 10, 60) * day);
    const isDone = status === "COMPLETED";
    return {
      id: randomUuid(d),
      status,
      brand_payment_state: orNull(d, 0.1, isDone ? pick(d, brandPayments) : "NOT_INVOICED"),
      athlete_payment_state: orNull(d, 0.1, isDone ? pick(d, hostPayments) : "NOT_EARNED"),
      accepted_at: isDone || status === "ACTIVE" ? timeText(Math.min(done, created + 2 * day)) : null,
      declined_at: status === "DECLINED" ? timeText(Math.min(done, created + day)) : null,
      completed_at: isDone ? timeText(done) : null,
      created_at: timeText(created),
      updated_at: timeText(isDone ? done : created),
      host: people.length === 0 || chance(d, 0.02) ? null : toHost(pick(d, people)),
    };
  });
}
