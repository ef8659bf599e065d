import { createVariantApi } from "../support/api-variants.js";
import type { Watched } from "./brand.js";
import { resumedSince, textOf } from "./check.js";
import type { History } from "./histories.js";
import { playStep } from "./play.js";
import { createWorld, type World } from "./world.js";

type Fields = Record<string, unknown>;
/** What a resource consists of, by name, as text. */
type Parts = ReadonlyMap<string, string>;

/** A resource that is told by its parts: what the API has of each at an instant, and the mirror. */
export interface Parted {
  name: string;
  watched: Watched;
  api(ask: (path: string) => unknown, now: number): Parts;
  mirror(select: (sql: string) => Fields[], now: number): Parts;
}

/** The days that are over, and on which anything was sold. */
function daysOf(points: readonly Fields[], now: number): Parts {
  const today = new Date(now).toISOString().slice(0, 10);
  const over = points.filter(({ date, orders }) => String(date) < today && orders !== 0);
  return new Map(over.map((point) => [String(point.date), JSON.stringify(point)]));
}

function rowOf(row: Fields): [string, string] {
  return [String((row.host as Fields | null)?.id), JSON.stringify(row)];
}

/** A survey, and its results if it has any: one may leave between the two requests. */
function surveyParts(id: unknown, results: readonly unknown[]): [string, string][] {
  const texts = results.map((one) => JSON.stringify(one)).sort();
  return [
    [String(id), "there"],
    ...texts.slice(0, 1).map((): [string, string] => [`${id}/results`, texts.join()]),
  ];
}

export const partedResources: readonly Parted[] = [
  {
    name: "analytics-clicks",
    watched: "orders",
    api: (ask, now) => daysOf((ask("/analytics/clicks") as { timeseries: Fields[] }).timeseries, now),
    mirror: (select, now) =>
      daysOf(
        select("SELECT json FROM records WHERE resource = 'analytics-clicks' AND removed_at IS NULL").flatMap(
          ({ json }) => JSON.parse(String(json)).timeseries as Fields[],
        ),
        now,
      ),
  },
  {
    name: "analytics-hosts",
    watched: "orders",
    api: (ask) => new Map((ask("/analytics/hosts?per_page=100") as Fields[]).map(rowOf)),
    mirror: (select) =>
      new Map(
        select("SELECT json FROM records WHERE resource = 'analytics-hosts' AND removed_at IS NULL").map(
          ({ json }) => rowOf(JSON.parse(String(json))),
        ),
      ),
  },
  {
    name: "surveys",
    watched: "surveys",
    api: (ask) =>
      new Map(
        (ask("/surveys?per_page=100") as Fields[]).flatMap(({ id }) =>
          surveyParts(id, [ask(`/surveys/${id}/results`)].flat()),
        ),
      ),
    mirror: (select) =>
      new Map(
        select(
          `SELECT s.key AS id, json_group_array(json(r.json)) FILTER (WHERE r.json IS NOT NULL) AS results
             FROM records AS s LEFT JOIN records AS r ON r.resource = 'survey-results' AND r.removed_at IS NULL
               AND json_extract(r.context, '$.survey_id') = s.key
           WHERE s.resource = 'surveys' AND s.removed_at IS NULL GROUP BY s.key`,
        ).flatMap(({ id, results }) => surveyParts(id, JSON.parse(String(results)) as unknown[])),
      ),
  },
];

/**
 * Plays a history without flags. @returns the parts that a verified run has otherwise than the API had them at any instant
 * of that run; none for a sound program
 */
export async function playParts(
  { api, mirror, name, watched }: Parted,
  { steps, ...history }: History,
): Promise<string[]> {
  const variants = { ...history.variants, dailyTotals: "all" } as const;
  const world = await createWorld({ ...history, variants, watched, resource: name });
  const states: { at: number; parts: Parts }[] = [];
  const look = () =>
    void states.push({ at: world.now(), parts: api((path) => answerOf(world, path), world.now()) });
  const { observe } = world;
  world.observe = () => {
    observe();
    look();
  };
  const peaceful = { run: "sync", with: { during: [], acceptRemovals: true } } as const;
  try {
    for (const [index, step] of [...steps, peaceful].entries()) {
      look();
      const plain =
        "run" in step
          ? { run: "sync" as const, with: { during: [...step.with.during], acceptRemovals: true } }
          : step;
      const end = await playStep(world, plain);
      if (end?.code === 1 || (step === peaceful && !end?.verified))
        return [`step ${index}: ${textOf(end?.error)}`];
      if (!end?.verified) continue;
      const since = watched === "surveys" ? resumedSince(world, end) : end.startedAt;
      const then = states.filter(
        ({ at }, n) => at <= end.endedAt && (states[n + 1]?.at ?? Number.POSITIVE_INFINITY) > since,
      );
      const mine = mirror((sql) => world.mirror().db.prepare(sql).all() as Fields[], end.startedAt);
      const parts = new Set([...mine.keys(), ...then.flatMap((state) => [...state.parts.keys()])]);
      const wrong = [...parts].filter(
        (part) => !then.some((state) => state.parts.get(part) === mine.get(part)),
      );
      if (wrong.length > 0)
        return wrong.map((part) => `step ${index}: ${part} is ${mine.get(part)}, verified`);
    }
    return [];
  } finally {
    world.close();
  }
}

/** Asks the API itself, in one large page. */
function answerOf({ brand, variants, now }: World, path: string): unknown {
  const api = createVariantApi({
    brands: [brand],
    now,
    variants: { ...variants, maxPerPage: 100, undocumentedLists: "paged" },
  });
  const headers = { authorization: `Bearer ${brand.keys[0]?.secret}` };
  const url = `/api/brand/v1${path}`;
  return JSON.parse(api.handle({ method: "GET", url, headers, address: "127.0.0.1" }).body).data;
}
