import { dayMs, formatInstant } from "../util/timestamps.js";
import type { Brand } from "./brand.js";
import { type Endpoint, type EndpointContext, notFound, parseQuery, unfilteredList } from "./endpoint.js";
import { toHost } from "./people.js";
import { chance, createRandom, orNull, pick, randomInteger, randomUuid } from "./random.js";

/** A gift, code or survey. The API documentation does not describe the fields, so the sandbox invents them. */
export interface UndocumentedRecord {
  [field: string]: unknown;
  id: string | number;
}

export const undocumentedEndpoints: readonly Endpoint[] = [
  unfilteredList("gifts"),
  unfilteredList("codes"),
  unfilteredList("surveys"),
  { path: "/surveys/{id}/results", scope: "surveys:read", handle: getSurveyResults },
];

function getSurveyResults({ brand, query, params: [id = ""] }: EndpointContext) {
  parseQuery({}, query);
  if (!brand.surveys.some((survey) => String(survey.id) === id)) notFound("survey");
  return { data: brand.results[id] ?? {} };
}

export function createGifts(brand: Brand, now: number): UndocumentedRecord[] {
  return Array.from({ length: 64 }, (_, index) => createGift(brand, index, now));
}

export function createGift(
  { seed, people, products }: Brand,
  index: number,
  now: number,
): UndocumentedRecord {
  const random = createRandom(seed, "gift", index);
  const { id, title } = pick(random, products);
  const status = pick(random, ["requested", "ordered", "shipped", "delivered", "delivered", "cancelled"]);
  return {
    id: randomUuid(random),
    status,
    host: toHost(pick(random, people)),
    product: { id, title },
    store_order: orNull(random, 0.2, { id: `gift-${index}`, number: `#G${index + 1}` }),
    created_at: formatInstant(now - randomInteger(random, 1, 400) * dayMs),
    feedback:
      status === "delivered"
        ? { rating: randomInteger(random, 1, 5), text: 'Fits well, "true to size"' }
        : null,
  };
}

export function createCodes(brand: Brand, now: number): UndocumentedRecord[] {
  return Array.from({ length: 47 }, (_, index) => createCode(brand, index, now));
}

export function createCode({ seed, people }: Brand, index: number, now: number): UndocumentedRecord {
  const random = createRandom(seed, "code", index);
  const host = toHost(pick(random, people));
  return {
    id: randomUuid(random),
    code: `${(host.username ?? "friend").slice(0, 8).toUpperCase()}${randomInteger(random, 5, 25)}`,
    host: orNull(random, 0.05, host),
    percentage: pick(random, [5, 10, 12.5, 15, 20]),
    is_live: chance(random, 0.8),
    is_synced: chance(random, 0.9),
    created_at: formatInstant(now - randomInteger(random, 1, 700) * dayMs),
  };
}

export function createSurveys(seed: number, now: number): Pick<Brand, "surveys" | "results"> {
  const surveys = Array.from({ length: 9 }, (_, index) => createSurvey(seed, index, now));
  return {
    surveys: surveys.map(({ survey }) => survey),
    results: Object.fromEntries(surveys.map(({ survey, results }) => [survey.id, results])),
  };
}

function createSurvey(seed: number, index: number, now: number) {
  const random = createRandom(seed, "survey", index);
  const count = randomInteger(random, 1, 80);
  const yes = randomInteger(random, 0, count);
  const survey = {
    id: randomUuid(random),
    title: pick(random, ["How do you train?", 'Was the "Fern" any good?', "Größenfeedback"]),
    status: pick(random, ["open", "closed"]),
    response_count: count,
    created_at: formatInstant(now - randomInteger(random, 1, 500) * dayMs),
  };
  const share = Math.round((yes / count) * 1_000) / 1_000;
  const questions = [
    { id: `q${index}-1`, text: "Would you buy it again?", count, yes, share },
    { id: `q${index}-2`, text: "How well does it fit?", count, average: randomInteger(random, 20, 50) / 10 },
  ];
  return { survey, results: { survey_id: survey.id, response_count: count, questions } };
}
