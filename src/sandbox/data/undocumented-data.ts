import { type BrandMaterial, day, type OpenRecord, timeText } from "../brand.js";
import { toHost } from "./people-data.js";
import { chance, createRandom, orNull, pick, randomInteger, randomUuid } from "./random.js";

export function createGift(
  { seed, people, products }: BrandMaterial,
  place: number,
  now: number,
): OpenRecord {
  const d = createRandom(seed, "gift", place);
  const { id, title } = pick(d, products);
  const status = pick(d, ["requested", "ordered", "shipped", "delivered", "delivered", "cancelled"]);
  return {
    id: randomUuid(d),
    status,
    host: toHost(pick(d, people)),
    product: { id, title },
    store_order: orNull(d, 0.2, { id: `gift-${place}`, number: `#G${place + 1}` }),
    created_at: timeText(now - randomInteger(d, 1, 400) * day),
    feedback:
      status === "delivered" ? { rating: randomInteger(d, 1, 5), text: 'Fits well; "true to size"' } : null,
  };
}

export function createCode({ seed, people }: BrandMaterial, place: number, now: number): OpenRecord {
  const d = createRandom(seed, "code", place);
  const host = toHost(pick(d, people));
  return {
    id: randomUuid(d),
    code: `${(host.username ?? "friend").slice(0, 8).toUpperCase()}${randomInteger(d, 5, 25)}`,
    host: orNull(d, 0.05, host),
    percentage: pick(d, [5, 10, 12.5, 15, 20]),
    is_live: chance(d, 0.8),
    is_synced: chance(d, 0.9),
    created_at: timeText(now - randomInteger(d, 1, 700) * day),
  };
}

/** Returns a survey, and its results: aggregates per question, never an individual response. */
export function createSurvey(seed: number, place: number, now: number) {
  const d = createRandom(seed, "survey", place);
  const count = randomInteger(d, 1, 80);
  const yes = randomInteger(d, 0, count);
  const survey = {
    id: randomUuid(d),
    title: pick(d, ["How do you train?", 'Was the "Fern" any good?', "Größenfeedback"]),
    status: pick(d, ["open", "closed"]),
    response_count: count,
    created_at: timeText(now - randomInteger(d, 1, 500) * day),
  };
  const share = Math.round((yes / count) * 1_000) / 1_000;
  const questions = [
    { id: `q${place}-1`, text: "Would you buy it again?", count, yes, share },
    { id: `q${place}-2`, text: "How well does it fit?", count, average: randomInteger(d, 20, 50) / 10 },
  ];
  return { survey, results: { survey_id: survey.id, response_count: count, questions } };
}
