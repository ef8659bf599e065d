import { createVariantApi } from "../sandbox/api-variants.js";
import { countSwaps, detailsReadSince, errorText } from "./checks.js";
import type { TestedList } from "./model.js";
import { playStep } from "./play.js";
import type { Scenario, Step } from "./scenarios.js";
import { World } from "./world.js";

type Fields = Record<string, unknown>;
/** A resource's data, split into named parts. Each part is compared as a string. */
type Parts = ReadonlyMap<string, string>;

/** A resource whose parts are read at different times, so each part is compared separately. */
export interface PiecewiseResource {
  name: string;
  /** The list to which the events in a scenario apply. */
  listName: TestedList;
  partsInApi(request: (path: string) => unknown, now: number): Parts;
  partsInMirror(select: (sql: string) => Fields[], now: number): Parts;
}

export const piecewiseResources: readonly PiecewiseResource[] = [
  {
    name: "analytics-clicks",
    listName: "orders",
    partsInApi: (request, now) =>
      daysWithOrders((request("/analytics/clicks") as { timeseries: Fields[] }).timeseries, now),
    partsInMirror: (select, now) =>
      daysWithOrders(
        select("SELECT json FROM records WHERE resource = 'analytics-clicks' AND removed_at IS NULL").flatMap(
          ({ json }) => JSON.parse(String(json)).timeseries as Fields[],
        ),
        now,
      ),
  },
  {
    name: "analytics-hosts",
    listName: "orders",
    partsInApi: (request) => new Map((request("/analytics/hosts?per_page=100") as Fields[]).map(hostRow)),
    partsInMirror: (select) =>
      new Map(
        select("SELECT json FROM records WHERE resource = 'analytics-hosts' AND removed_at IS NULL").map(
          ({ json }) => hostRow(JSON.parse(String(json))),
        ),
      ),
  },
  {
    name: "surveys",
    listName: "surveys",
    partsInApi: (request) =>
      new Map(
        (request("/surveys?per_page=100") as Fields[]).flatMap(({ id }) =>
          surveyParts(id, [request(`/surveys/${id}/results`)].flat()),
        ),
      ),
    partsInMirror: (select) =>
      new Map(
        select(
          `SELECT s.key AS id, json_group_array(json(r.json)) FILTER (WHERE r.json IS NOT NULL) AS results
             FROM records AS s LEFT JOIN records AS r ON r.resource = 'survey-results' AND r.removed_at IS NULL
               AND json_extract(r.parameters, '$.survey_id') = s.key
           WHERE s.resource = 'surveys' AND s.removed_at IS NULL GROUP BY s.key`,
        ).flatMap(({ id, results }) => surveyParts(id, JSON.parse(String(results)) as unknown[])),
      ),
  },
];

/** Omits the current day, because its totals can change during the read. */
function daysWithOrders(points: readonly Fields[], now: number): Parts {
  const today = new Date(now).toISOString().slice(0, 10);
  const past = points.filter(({ date, orders }) => String(date) < today && orders !== 0);
  return new Map(past.map((point) => [String(point.date), JSON.stringify(point)]));
}

function hostRow(row: Fields): [string, string] {
  return [String((row.host as Fields | null)?.id), JSON.stringify(row)];
}

/** Returns a survey and its results as separate parts, because each part takes a separate request. */
function surveyParts(id: unknown, results: readonly unknown[]): [string, string][] {
  const texts = results.map((result) => JSON.stringify(result)).sort();
  const survey: [string, string] = [String(id), "exists"];
  return texts.length === 0 ? [survey] : [survey, [`${id}/results`, texts.join()]];
}

/**
 * Plays a scenario in which the flags of each run are replaced with `--accept-removals`. Returns a line for each part
 * of a verified mirror that never matched the API's data while the run lasted.
 */
export async function playPiecewise(
  { partsInApi, partsInMirror, name, listName }: PiecewiseResource,
  { steps, ...options }: Scenario,
): Promise<string[]> {
  const variants = { ...options.variants, dailyTotals: "all" } as const;
  const world = await World.create({ ...options, variants, listName, resource: name });
  const states: { at: number; parts: Parts }[] = [];
  const recordState = () => {
    states.push({ at: world.now, parts: partsInApi((path) => requestData(world, path), world.now) });
  };
  world.onChange = recordState;
  const undisturbed: Step = { run: "sync", with: { during: [], acceptRemovals: true } };
  try {
    for (const [index, step] of [...steps, undisturbed].entries()) {
      recordState();
      const result = await playStep(world, withoutFlags(step));
      if (result?.code === 1 || (step === undisturbed && !result?.verified))
        return [`step ${index}: ${errorText(result?.error)}`];
      if (!result?.verified) continue;
      const since = listName === "surveys" ? detailsReadSince(world, result) : result.startedAt;
      const during = states.filter(
        ({ at }, n) => at <= result.endedAt && (states[n + 1]?.at ?? Number.POSITIVE_INFINITY) > since,
      );
      const select = (sql: string) => world.mirror.db.prepare(sql).all() as Fields[];
      const mirrored = partsInMirror(select, result.startedAt);
      const names = new Set([...mirrored.keys(), ...during.flatMap(({ parts }) => [...parts.keys()])]);
      // As `findFalseClaims` explains, a sync can miss a survey if another survey is removed and a new one is added.
      const mayLackSurveys = listName === "surveys" && countSwaps(world, result.startedAt, Number.NaN) > 0;
      const wrong = [...names].filter((part) => {
        if (mayLackSurveys && !mirrored.has(part)) return false;
        return !during.some(({ parts }) => parts.get(part) === mirrored.get(part));
      });
      if (wrong.length > 0)
        return wrong.map((part) => `step ${index}: verified, but ${part} is ${mirrored.get(part)}`);
    }
    return [];
  } finally {
    world.close();
  }
}

function withoutFlags(step: Step): Step {
  if (!("run" in step)) return step;
  return { run: "sync", with: { during: [...step.with.during], acceptRemovals: true } };
}

/** Requests data directly from the API in a single large page. */
function requestData(world: World, path: string): unknown {
  const { brand, variants } = world;
  const api = createVariantApi({
    brands: [brand],
    now: () => world.now,
    variants: { ...variants, maxPerPage: 100, undocumentedLists: "paged" },
  });
  const headers = { authorization: `Bearer ${brand.keys[0]?.secret}` };
  const url = `/api/brand/v1${path}`;
  return JSON.parse(api.handle({ method: "GET", url, headers, address: "127.0.0.1" }).body).data;
}
