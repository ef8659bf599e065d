import type { OpenRecord } from "../records.js";
import { day, timeText } from "../time.js";
import { hostOf, type Person } from "./people.js";
import type { Product } from "./products.js";
import { between, chance, draws, pick, seldomNull, uuid } from "./random.js";

/** What gifts, codes and surveys are drawn from: the document shows none of their fields. */
interface Source {
  seed: number;
  people: readonly Person[];
  products: readonly Product[];
}

export function createGift({ seed, people, products }: Source, place: number, now: number): OpenRecord {
  const d = draws(seed, "gift", place);
  const product = pick(d, products);
  const sent = now - between(d, 1, 400) * day;
  const status = pick(d, ["requested", "ordered", "shipped", "delivered", "delivered", "cancelled"]);
  const isThere = status === "delivered";
  return {
    id: uuid(d),
    status,
    host: hostOf(pick(d, people)),
    product: { id: product.id, title: product.title, variant: product.variants[0] ?? null },
    store_order: seldomNull(d, 0.2, { id: `gift-${place}`, number: `#G${place + 1}` }),
    value: product.cents / 100,
    created_at: timeText(sent),
    delivered_at: isThere ? timeText(sent + 5 * day) : null,
    feedback:
      isThere && chance(d, 0.7) ? { rating: between(d, 1, 5), text: 'Fits well; "true to size"' } : null,
  };
}

export function createCode({ seed, people }: Source, place: number, now: number): OpenRecord {
  const d = draws(seed, "code", place);
  const host = hostOf(pick(d, people));
  const isPercentage = chance(d, 0.8);
  return {
    id: uuid(d),
    code: `${(host.username ?? "friend").slice(0, 8).toUpperCase()}${between(d, 5, 25)}`,
    host: seldomNull(d, 0.05, host),
    discount_type: isPercentage ? "percentage" : "fixed_amount",
    discount_value: isPercentage ? pick(d, [5, 10, 12.5, 15, 20]) : pick(d, [5, 10, 25.5]),
    is_live: chance(d, 0.8),
    is_synced: chance(d, 0.9),
    usage_count: between(d, 0, 300),
    created_at: timeText(now - between(d, 1, 700) * day),
    expires_at: seldomNull(d, 0.6, timeText(now + between(d, 1, 200) * day)),
  };
}

/** Returns a survey, and its results: aggregates per question, never an individual response. */
export function createSurvey(seed: number, place: number, now: number) {
  const d = draws(seed, "survey", place);
  const responses = between(d, 0, 80);
  const yes = between(d, 0, responses);
  const share = (count: number) => (responses === 0 ? 0 : Math.round((count / responses) * 10_000) / 10_000);
  const survey = {
    id: uuid(d),
    title: pick(d, [
      "How do you train?",
      'Was the "Fern" any good?',
      "Größenfeedback",
      "Season wrap-up, 2026",
    ]),
    status: pick(d, ["open", "closed", "closed"]),
    question_count: 3,
    response_count: responses,
    created_at: timeText(now - between(d, 1, 500) * day),
  };
  const options = [
    { label: "Yes", count: yes, share: share(yes) },
    { label: "No", count: responses - yes, share: share(responses - yes) },
  ];
  const average = responses === 0 ? null : between(d, 20, 50) / 10;
  const questions = [
    { id: `q${place}-1`, text: "Would you buy it again?", type: "choice", options },
    { id: `q${place}-2`, text: "How well does it fit?", type: "rating", average, count: responses },
    {
      id: `q${place}-3`,
      text: 'Anything else, in "your" words?',
      type: "text",
      count: between(d, 0, responses),
    },
  ];
  return { survey, results: { survey_id: survey.id, response_count: responses, questions } };
}
