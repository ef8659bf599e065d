import { hostRecord } from "./hosts.js";
import { orderId } from "./order-facts.js";
import { between, chance, draws, pick, topics, uuid } from "./random.js";
import { day, timeText } from "./timeline.js";
import type { World } from "./world.js";

/**
 * Gifts, codes and surveys: the document says what they are for and shows none of their fields, so these are the
 * sandbox's own. A client must not rely on any of them.
 */
export type OpenRecord = Record<string, unknown> & { id: string | number };
export type IdForm = "text" | "number";

export const openCounts = { gifts: 64, codes: 47, surveys: 9 } as const;

function id(world: World, form: IdForm, topic: number, place: number): string | number {
  return form === "number" ? topic * 1000 + place + 1 : uuid(world.seed, topic, place);
}

export function createGift(world: World, form: IdForm, place: number): OpenRecord {
  const d = draws(world.seed, topics.gift, place);
  const product = pick(d, world.catalog.products);
  const host = pick(d, world.hosts);
  const sent = world.anchor - between(d, 1, 400) * day;
  const status = pick(d, ["requested", "ordered", "shipped", "delivered", "delivered", "cancelled"]);
  return {
    id: id(world, form, topics.gift, place),
    status,
    host: hostRecord(host),
    product: { id: product.id, title: product.title, variant: product.variants[0] ?? null },
    store_order: chance(d, 0.2) ? null : { id: orderId(world, 5_000_000 + place), number: `#G${place + 1}` },
    value: product.cents / 100,
    created_at: timeText(sent),
    delivered_at: status === "delivered" ? timeText(sent + 5 * day) : null,
    feedback:
      status === "delivered" && chance(d, 0.7)
        ? { rating: between(d, 1, 5), text: 'Fits well; "true to size"' }
        : null,
  };
}

export function createCode(world: World, form: IdForm, place: number): OpenRecord {
  const d = draws(world.seed, topics.code, place);
  const host = pick(d, world.hosts);
  const percentage = chance(d, 0.8);
  return {
    id: id(world, form, topics.code, place),
    code: `${(host.username ?? "friend").slice(0, 8).toUpperCase()}${between(d, 5, 25)}`,
    host: chance(d, 0.05) ? null : hostRecord(host),
    discount_type: percentage ? "percentage" : "fixed_amount",
    discount_value: percentage ? pick(d, [5, 10, 12.5, 15, 20]) : pick(d, [5, 10, 25.5]),
    is_live: chance(d, 0.8),
    is_synced: chance(d, 0.9),
    usage_count: between(d, 0, 300),
    created_at: timeText(world.anchor - between(d, 1, 700) * day),
    expires_at: chance(d, 0.6) ? null : timeText(world.anchor + between(d, 1, 200) * day),
  };
}

export function createSurvey(world: World, form: IdForm, place: number): OpenRecord {
  const d = draws(world.seed, topics.survey, place);
  return {
    id: id(world, form, topics.survey, place),
    title: pick(d, [
      "How do you train?",
      'Was the "Fern" any good?',
      "Größenfeedback",
      "Season wrap-up, 2026",
    ]),
    status: pick(d, ["open", "closed", "closed"]),
    question_count: 3,
    response_count: between(d, 0, 80),
    created_at: timeText(world.anchor - between(d, 1, 500) * day),
  };
}

/** Aggregates per question; individual responses are never returned. */
export function surveyResults(world: World, survey: OpenRecord, place: number) {
  const d = draws(world.seed, topics.survey, place + 5000);
  const responses = Number(survey.response_count);
  const yes = between(d, 0, responses);
  const share = (count: number) => (responses === 0 ? 0 : Math.round((count / responses) * 10_000) / 10_000);
  return {
    survey_id: survey.id,
    response_count: responses,
    questions: [
      {
        id: `q${place}-1`,
        text: "Would you buy it again?",
        type: "choice",
        options: [
          { label: "Yes", count: yes, share: share(yes) },
          { label: "No", count: responses - yes, share: share(responses - yes) },
        ],
      },
      {
        id: `q${place}-2`,
        text: "How well does it fit?",
        type: "rating",
        average: responses === 0 ? null : between(d, 20, 50) / 10,
        count: responses,
      },
      {
        id: `q${place}-3`,
        text: 'Anything else, in "your" words?',
        type: "text",
        count: between(d, 0, responses),
      },
    ],
  };
}
