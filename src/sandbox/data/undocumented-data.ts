import { day, type OpenRecord, type Source, timeText } from "../brand.js";
import { hostOf } from "./people-data.js";
import { between, chance, draws, pick, seldomNull, uuid } from "./random.js";

export function createGift({ seed, people, products }: Source, place: number, now: number): OpenRecord {
  const d = draws(seed, "gift", place);
  const { id, title } = pick(d, products);
  const status = pick(d, ["requested", "ordered", "shipped", "delivered", "delivered", "cancelled"]);
  return {
    id: uuid(d),
    status,
    host: hostOf(pick(d, people)),
    product: { id, title },
    store_order: seldomNull(d, 0.2, { id: `gift-${place}`, number: `#G${place + 1}` }),
    created_at: timeText(now - between(d, 1, 400) * day),
    feedback: status === "delivered" ? { rating: between(d, 1, 5), text: 'Fits well; "true to size"' } : null,
  };
}

export function createCode({ seed, people }: Source, place: number, now: number): OpenRecord {
  const d = draws(seed, "code", place);
  const host = hostOf(pick(d, people));
  return {
    id: uuid(d),
    code: `${(host.username ?? "friend").slice(0, 8).toUpperCase()}${between(d, 5, 25)}`,
    host: seldomNull(d, 0.05, host),
    percentage: pick(d, [5, 10, 12.5, 15, 20]),
    is_live: chance(d, 0.8),
    is_synced: chance(d, 0.9),
    created_at: timeText(now - between(d, 1, 700) * day),
  };
}

/** Returns a survey, and its results: aggregates per question, never an individual response. */
export function createSurvey(seed: number, place: number, now: number) {
  const d = draws(seed, "survey", place);
  const count = between(d, 1, 80);
  const yes = between(d, 0, count);
  const survey = {
    id: uuid(d),
    title: pick(d, ["How do you train?", 'Was the "Fern" any good?', "Größenfeedback"]),
    status: pick(d, ["open", "closed"]),
    response_count: count,
    created_at: timeText(now - between(d, 1, 500) * day),
  };
  const share = Math.round((yes / count) * 1_000) / 1_000;
  const questions = [
    { id: `q${place}-1`, text: "Would you buy it again?", count, yes, share },
    { id: `q${place}-2`, text: "How well does it fit?", count, average: between(d, 20, 50) / 10 },
  ];
  return { survey, results: { survey_id: survey.id, response_count: count, questions } };
}
