import { AnswerRefused, BrandapiError, KeyRejected, Stopped, UnexpectedAnswer } from "../errors.js";
import { dayRange, holds, join, type Range, touches, upTo } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import { valueAt } from "../records/index.js";
import type { DailyFigures, Json } from "../resources/types.js";
import { countPresent, type Figures, noFigures } from "../state/index.js";
import type { Share } from "./lanes.js";
import { type DatedRun, mostPerPage, type Points, type SyncRun } from "./run.js";

/**
 * Asks for a resource's figures by day: one request for the whole history. Ask before reading, so that what changes
 * meanwhile shows the next time. Null where the API does not give them: the run goes on without.
 * @param until what lies later is left out; otherwise they may be those that an earlier resource of the run was told
 */
export async function askFigures(run: DatedRun, until?: number): Promise<Figures | null> {
  const { reporter, resource, state } = run;
  const { figures: declared } = resource.strategy;
  if (!declared) return null;
  try {
    const { days, ...asked } = await askPoints(run, declared, until);
    const text = (point: Json) =>
      JSON.stringify(declared.figures.map((name) => valueAt(point, [name]) ?? null));
    return { ...asked, days: new Map([...days].map(([day, point]) => [day, text(point)])) };
  } catch (error) {
    if (!(error instanceof BrandapiError) || fatal.some((kind) => error instanceof kind)) throw error;
    // Evidence that was there before and is not now: who reads only the warnings of a night has to know.
    reporter[state.figures().size > 0 ? "warn" : "note"](
      `${resource.name}: the API gave no figures by day: a late change to an old record shows only when it is read again in turn (${error.message})`,
    );
    return null;
  }
}

/** What no run goes on after. */
const fatal = [AnswerRefused, KeyRejected, Stopped];

/**
 * The points of every day; resources that go by the same ones ask once a run.
 * @param last what lies later is left out; otherwise the run's own instant, or that of who asked before
 * @throws UnexpectedAnswer when there is no list of them
 */
export async function askPoints(run: SyncRun, declared: DailyFigures, last?: number): Promise<Points> {
  const { points: asked } = run;
  const known = asked.get(declared);
  if (known instanceof Error) throw known;
  if (known && (last ?? known.until) === known.until) return known;
  try {
    const points = await requestPoints(run, declared, last ?? run.now);
    asked.set(declared, points);
    return points;
  } catch (error) {
    // Nobody waits for it twice in a run.
    if (error instanceof BrandapiError) asked.set(declared, error);
    throw error;
  }
}

async function requestPoints(
  { api, clock, resource, signal }: SyncRun,
  declared: DailyFigures,
  until: number,
): Promise<Points> {
  const askedAt = clock.now();
  const query = { ...declared.query, end_date: formatInstant(until) };
  const { data } = await api.get(declared.path, query, { scope: resource.scope, signal });
  const list = valueAt(data, [declared.points]);
  if (!Array.isArray(list))
    throw new UnexpectedAnswer(`The API's answer to ${declared.path} has no \`${declared.points}\`.`);
  const days = new Map<string, Json>();
  for (const point of list as Json[]) {
    const day = dayNameOf(point, declared);
    if (/^\d{4}-\d\d-\d\d$/.test(day) && Number.isFinite(Date.parse(day))) days.set(day, point);
  }
  return { askedAt, until, days };
}

/** The day that a point is of: `2026-01-31`. */
export function dayNameOf(point: Json, { day }: DailyFigures): string {
  return String(valueAt(point, [day])).slice(0, "2026-01-31".length);
}

/** How the records lie in time, by the first figure that is declared: their number. */
export function shareOf(figures: Figures | null): Share {
  const counted = [...(figures?.days ?? [])].map(([day, text]): [number, number] => [
    dayRange(day).from,
    Number((JSON.parse(text) as unknown[])[0]) || 0,
  ]);
  return counted.some(([, records]) => records > 0) ? new Map(counted) : null;
}

/**
 * Compares the figures of every covered day that was not read since they were asked for.
 * @returns the days whose figures `moved` since their records were read, those of which they were `unknown` then, how
 * many there are in all, and whether the figures reach back to the oldest record
 */
export function movedDays({ state }: DatedRun, { askedAt, days, until }: Figures) {
  const result = { moved: [] as string[], unknown: [] as string[], compared: 0, isWhole: true };
  const before = state.figures();
  // A date from before 1970 is a mistake.
  const oldest = state.oldest({ from: Math.max(0, state.below().to + 1), to: until });
  const every = new Set([...before.keys(), ...days.keys()]);
  const [first = "9999-12-31"] = [...every].sort();
  result.isWhole = oldest === null || oldest >= dayRange(first).from;
  // The day that the floor cuts is compared, too.
  const covered = join([state.below(), ...state.coverage()]);
  const fresh = join([state.below(), ...state.coverage().filter(({ readAt }) => readAt >= askedAt)]);
  for (const day of every) {
    const range = upTo(dayRange(day), until);
    if (range.from > until || !holds(covered, range) || holds(fresh, range)) continue;
    const known = before.get(day);
    result.compared += 1;
    if (known === undefined) result.unknown.push(day);
    else if (soldBy(known) !== soldBy(days.get(day) ?? noFigures)) result.moved.push(day);
  }
  return result;
}

/** A day without a sale is the same whether the API shows zeros for it or leaves it out, as before its first order. */
function soldBy(figures: string): string {
  return /[1-9]/.test(figures) ? figures : noFigures;
}

/** Days that are looked at together, the range that they lie in, and how many records it has here. */
interface Part extends Range {
  days: string[];
  records: number;
}

/** Days as ranges that take about so many requests each; those whose records were read longest ago come first. */
export function partsOf(
  { mirror, resource, state }: DatedRun,
  days: readonly string[],
  records: number,
): Part[] {
  const parts: Part[] = [];
  for (const day of days.toSorted()) {
    const range = dayRange(day);
    const last = parts.at(-1);
    const count = (from: number) => countPresent(mirror, resource.name, { from, to: range.to });
    // What one answer shows costs nothing: days that lie apart are read together then.
    const most = last && range.from - last.to <= 1 ? records : mostPerPage;
    const more = last ? count(last.to + 1) : 0;
    if (last && last.records + more <= most) {
      last.to = range.to;
      last.days.push(day);
      last.records += more;
    } else parts.push({ ...range, days: [day], records: count(range.from) });
  }
  const readAt = (part: Part) => {
    const touched = state.coverage().filter((one) => touches(one, part));
    return Math.min(...touched.map((one) => one.readAt));
  };
  return parts.sort((a, b) => readAt(a) - readAt(b));
}
