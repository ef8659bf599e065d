import type { Mirror } from "../../src/mirror/mirror.js";
import { readCoverage } from "../../src/state/coverage.js";
import { isDated } from "./brand.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

/** What a mirror says that it has read, and what it holds. */
export interface Claims {
  /** Ranges of dates that were read at one time; and unbroken ones. Milliseconds, both ends included. */
  spans: Range[];
  stretches: Range[];
  /** When the place of a record was read, by the instant it is dated in microseconds; undefined where never. */
  readAt(keptAt: number): number | undefined;
  /** The oldest date that was ever asked for, in milliseconds. */
  floor: number;
  held: ReadonlyMap<string, Held>;
}

/** A record of the mirror, and which of the API's versions it is; `version` is undefined if it never was one. */
export interface Held {
  /** As its list had it. */
  json: string;
  /** With what its details said. */
  full: string;
  /** Milliseconds; null while it is present. */
  removedAt: number | null;
  /** The newest reading of its date did not show it: a run that was stopped left that to be decided. */
  isMissing: boolean;
  version: Version | undefined;
}

export interface Range {
  from: number;
  to: number;
}

interface Span extends Range {
  readAt: number;
}

/** Spans of one range of dates that are no further apart than this have no date between them. */
const touchingMs = 1;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export function claimsOf(mirror: Mirror, { resource, runs, watched, truth }: World): Claims {
  const all = readCoverage(mirror, resource.name);
  const spans: Span[] = all.flatMap((span) => {
    const readAt = inTruth(runs, span.readAt);
    return readAt === undefined ? [] : { ...span, readAt };
  });
  const rows = mirror.db
    .prepare(
      `SELECT key, coalesce(list_json, json) AS json, json AS full, removed_at, record_id IN (SELECT record_id FROM missing) AS missing
         FROM records WHERE resource = ?`,
    )
    .all(resource.name) as {
    key: string;
    json: string;
    full: string;
    removed_at: string | null;
    missing: 0 | 1;
  }[];
  const held = rows.map(({ key, json, full, removed_at, missing }): [string, Held] => [
    key,
    {
      json,
      full,
      isMissing: missing === 1,
      removedAt: removed_at === null ? null : Date.parse(removed_at),
      version: truth.versions.get(key)?.findLast((version) => version.json === json),
    },
  ]);
  const isList = !isDated(watched);
  // A list is read whole, each time; what a clock that is behind now has read stands below what it read before.
  const newest = spans.length > 0 ? Math.max(...spans.map((span) => span.readAt)) : undefined;
  const asked = mirror.db.prepare("SELECT floor_ms FROM sync_state WHERE resource = ?").pluck();
  return {
    floor: (asked.get(resource.name) as number | null | undefined) ?? Number.NEGATIVE_INFINITY,
    spans: isList ? [] : spans,
    stretches: isList ? [] : stretchesOf(all),
    readAt: isList ? () => newest : (keptAt) => readAt(spans, keptAt),
    held: new Map(held),
  };
}

/** An instant of a reading by the API's clock; undefined where the program's was ahead, and it only knows that it is past. */
function inTruth(runs: readonly RunEnd[], instant: number): number | undefined {
  const isOf = ({ ahead, begunAt, endedAt }: RunEnd) =>
    instant >= begunAt + ahead && instant <= endedAt + ahead;
  const run = runs.findLast(isOf);
  return run && instant - run.ahead;
}

/** Dates are finer than the ends of spans: what lies between two that touch was read with the one read earlier. */
function readAt(spans: readonly Span[], keptAt: number): number | undefined {
  const inside = spans.find(({ from, to }) => from * 1_000 <= keptAt && keptAt <= to * 1_000);
  if (inside) return inside.readAt;
  const below = spans.find(({ to }) => to * 1_000 < keptAt && keptAt < (to + touchingMs) * 1_000);
  const above = spans.find(({ from }) => (from - touchingMs) * 1_000 < keptAt && keptAt < from * 1_000);
  return below && above ? Math.min(below.readAt, above.readAt) : undefined;
}

/** When the hours of a UTC day were read, those up to `last`. */
export function readsOfDay(
  readAt: Claims["readAt"],
  instant: number,
  last = Number.POSITIVE_INFINITY,
): (number | undefined)[] {
  const day = Math.floor(instant / dayMs) * dayMs;
  const ends = Array.from({ length: 25 }, (_, hour) => Math.min(day + hour * hourMs, day + dayMs - 1, last));
  return ends.map((end) => readAt(end * 1_000));
}

function stretchesOf(spans: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const { from, to } of spans) {
    const last = joined.at(-1);
    if (last && from - last.to <= touchingMs) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}
