import {
  type Covered,
  dayOf,
  dayRange,
  holds,
  join,
  type Range,
  startOfDay,
  subtract,
  upTo,
} from "../lib/ranges.js";
import { dayMs, formatInstant } from "../lib/times.js";
import { forgetInfo, type Mirror, readInfo, writeInfo } from "../mirror/index.js";
import { parameters, present } from "./counting.js";
import { addCovered, readCoverage, trimCovered, writeCoverage } from "./coverage.js";
import { type Dates, openDates } from "./dates.js";
import {
  clearMissing,
  countFound,
  forgetMissing,
  lastSeen,
  type Missing,
  noteMissing,
  presentIds,
  readMissing,
} from "./missing.js";
import { openProgress, type Progress } from "./progress.js";

/** The API's figures by day (`YYYY-MM-DD`), as text to compare, and when they were asked for. */
export interface Figures {
  askedAt: number;
  /** The instant up to which they were asked for: of its day they say what lies before it. */
  until: number;
  days: ReadonlyMap<string, string>;
}

/** What one answer, or one whole list, proves of a range of dates. */
export interface Proof {
  range: Range;
  /** The ids of all records that the range held. */
  found: { has(id: number): boolean };
  askedAt: number;
  runId: number;
}

/** The figures of a day that the API gives none for. */
export const noFigures = "none";

/** All that a resource's sync remembers, beside its records. Call what writes in a transaction. */
export interface SyncState extends Dates, Progress {
  coverage(): readonly Covered[];
  /** Takes back the coverage that a clock which was ahead has claimed. */
  trim(now: number): void;
  /** Claims a range as read. Days that are read whole by now keep these figures; the last one, up to `figures.until`. */
  cover(proof: Proof, now: number, figures: Figures | null): void;
  /** What the figures were when each day was last read whole, or up to where they were asked for. */
  figures(): ReadonlyMap<string, string>;
  /** Takes these for what they were then, for every day; one that is not among them has none. */
  keepFigures(days: ReadonlyMap<string, string>): void;
  /** Notes whether the API gave figures by day; a mirror that has some, and no note, is taken to have had them. */
  noteFigures(given: boolean, now: number): void;
  /** Whether it did so in the last week, and of days that have records. */
  hadFigures(now: number): boolean;
  /**
   * How many records of a range are present and not missing; with `flags`, those that have these bits. Those without a
   * date count where the API lists them in every range.
   */
  count(range: Range, flags?: number): number;
  /** The oldest date in a range; null where it holds none. */
  oldest(range: Range): number | null;
  /** They were found: they are not missing. */
  forgetMissing(ids: Iterable<number>): void;
  /** Notes that records without a date are missing which a complete reading did not find. */
  missUndated(found: { has(id: number): boolean }): void;
  missing(): Missing[];
  /** When a missing record was last shown, ISO 8601; null where that is not known, or it is not missing. */
  lastSeen(id: number): string | null;
  clearMissing(): void;
  /** Whether a verdict on some evidence (figures that are noise, a filter that means something else) still stands. */
  isSetAside(evidence: string, now: number): boolean;
  /** Leaves evidence alone for a week. */
  setAside(evidence: string, now: number): void;
  /** Takes it for evidence again. */
  trust(evidence: string): void;
  /** Takes the goal away once all of it was read since it was set. */
  finish(): void;
}

/** A verdict that switches a check off expires: one unlucky moment must not do it for good. */
const weekMs = 7 * dayMs;

export function openState(mirror: Mirror, resource: string): SyncState {
  const { db } = mirror;
  let covered: readonly Covered[] = readCoverage(mirror, resource);
  const dates = openDates(mirror, resource);
  const progress = openProgress(mirror, resource);
  const saveFigures = db.prepare(
    `INSERT INTO day_figures VALUES (?, ?, ?)
     ON CONFLICT (resource, day) DO UPDATE SET figures = excluded.figures WHERE figures <> excluded.figures`,
  );
  const firstKept = db.prepare("SELECT min(day) FROM day_figures WHERE resource = ?").pluck();
  const firstDay = (days: Figures["days"]) =>
    [...days.keys()].reduce((a, b) => (a < b ? a : b), "9999-12-31");

  function keptFigures(): ReadonlyMap<string, string> {
    const select = db.prepare("SELECT day, figures FROM day_figures WHERE resource = ?").raw();
    return new Map(select.all(resource) as [string, string][]);
  }

  function claim(all: readonly Covered[]): void {
    writeCoverage(mirror, resource, covered, all);
    covered = all;
  }

  /** When the newest run before another one began, by a clock that was not ahead. */
  function startBefore(runId: number, now: number): number | null {
    const start =
      "SELECT max(started_at) FROM sync_runs WHERE resource = ? AND run_id < ? AND started_at < ?";
    const found = db.prepare(start).pluck().get(resource, runId, formatInstant(now)) as string | null;
    return found === null ? null : Date.parse(found);
  }

  function isOfThisWeek(name: string, now: number): boolean {
    const since = Number(readInfo(mirror, name) ?? Number.NaN);
    return now >= since && now - since < weekMs;
  }

  function keepDaysOf({ from, to }: Range, { askedAt, days, until }: Figures): void {
    const fresh = join([
      progress.below(),
      { from, to },
      ...covered.filter(({ readAt }) => readAt >= askedAt),
    ]);
    const [first, kept] = [firstDay(days), firstKept.get(resource) as string | null];
    const oldest = dayRange(kept !== null && kept < first ? kept : first).from;
    const keep = (at: number) => {
      const day = dayOf(at);
      if (holds(fresh, upTo({ from: at, to: at + dayMs - 1 }, until)))
        saveFigures.run(resource, day, days.get(day) ?? noFigures);
    };
    // What is dated before 1970 is a mistake: the days from there on are no days without a sale.
    const known = oldest < 0 ? [...keptFigures().keys(), ...days.keys()] : [];
    for (const { from: at, to: last } of known.map(dayRange)) if (at < 0 && last >= from) keep(at);
    for (let at = startOfDay(Math.max(from, oldest, 0)); at <= Math.min(to, until); at += dayMs) keep(at);
  }

  return {
    ...dates,
    ...progress,
    coverage: () => covered,
    trim(now) {
      if (covered.some(({ to, readAt }) => to > now || readAt >= now))
        claim(trimCovered(covered, now, ({ runId }) => startBefore(runId, now) ?? now - 1));
    },
    cover({ range, found, askedAt, runId }, now, figures) {
      noteMissing(
        mirror,
        resource,
        presentIds(mirror, resource, range).filter((id) => !found.has(id)),
        covered,
      );
      const to = Math.min(range.to, now);
      if (range.from > to) return;
      claim(addCovered(covered, { from: range.from, to, readAt: askedAt, runId }));
      if (figures && askedAt >= figures.askedAt) keepDaysOf({ from: range.from, to }, figures);
    },
    figures: keptFigures,
    keepFigures(days) {
      for (const day of new Set([...keptFigures().keys(), ...days.keys()]))
        saveFigures.run(resource, day, days.get(day) ?? noFigures);
    },
    count(range, flags = 0) {
      const isAll = !Number.isFinite(range.from) && !Number.isFinite(range.to);
      const isMore = !isAll && dates.areUndatedEverywhere();
      return countFound(mirror, resource, range, flags) + (isMore ? dates.undated(flags).length : 0);
    },
    oldest(range) {
      const dated = db.prepare(
        `SELECT min(dated_at) FROM records WHERE ${present(range)} AND dated_at IS NOT NULL`,
      );
      return dated.pluck().get(...parameters(resource, range)) as number | null;
    },
    forgetMissing: (ids) => forgetMissing(mirror, resource, ids),
    missUndated(found) {
      noteMissing(
        mirror,
        resource,
        dates.undated().filter((id) => !found.has(id)),
        covered,
      );
    },
    missing: () => readMissing(mirror, resource),
    lastSeen: (id) => lastSeen(mirror, resource, id),
    clearMissing: () => clearMissing(mirror, resource),
    noteFigures(given, now) {
      const isFirst = readInfo(mirror, `given:${resource}`) === null && keptFigures().size > 0;
      if (given || isFirst) writeInfo(mirror, `given:${resource}`, String(now));
    },
    hadFigures(now) {
      const first = firstKept.get(resource) as string | null;
      if (first === null || !isOfThisWeek(`given:${resource}`, now)) return false;
      return countFound(mirror, resource, { from: dayRange(first).from, to: now }, 0) > 0;
    },
    isSetAside: (evidence, now) => isOfThisWeek(`aside:${resource}:${evidence}`, now),
    setAside: (evidence, now) => writeInfo(mirror, `aside:${resource}:${evidence}`, String(now)),
    trust: (evidence) => forgetInfo(mirror, `aside:${resource}:${evidence}`),
    finish() {
      const goal = progress.goal();
      const done = covered.filter(({ readAt }) => goal && readAt >= goal.begunAt);
      if (goal && subtract(goal.ranges, done).length === 0) progress.setGoal(progress.floor(), null);
    },
  };
}
