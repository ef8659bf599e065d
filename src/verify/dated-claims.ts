import { dayOf, join, type Range, wholeDays } from "../lib/ranges.js";
import { dayMs, instantOrNull } from "../lib/times.js";
import { finishedRuns } from "../state/index.js";
import { type AmountChanges, driftText } from "../sync/amount-drift.js";
import type { Counted } from "../sync/counts.js";
import { earlier } from "../sync/plan.js";
import type { DatedRun } from "../sync/run.js";
import { rangeQuery } from "../sync/seek.js";
import { type Claim, claimOf } from "./claims.js";
import type { Evidence } from "./evidence.js";
import { countingSql, curlLine, totalItems } from "./repeat.js";

/** The fewest records that a request of the audit reads: a page, less what it shares with the next. */
const recordsPerRequest = 98;

/** Returns all that a proof of a dated resource goes by, and what it does not prove. */
export function datedClaims(run: DatedRun, evidence: Evidence): Claim[] {
  const { against, beside, checks, counts, future, unread, whole } = evidence;
  const counted = new Set([...counts, ...against.flatMap((one) => one.counted ?? [])]);
  const days = against.filter((one) => !one.counted);
  const notRead = beside > 0 ? `${beside} more than in all dates: not read` : "not all of it was read";
  const isAllRead = beside === 0 && unread.length === 0;
  return [
    ...[...counted].map((one) =>
      checks.includes(one.check.name)
        ? countClaim(run, one, { agrees: one.api === one.mirror })
        : countClaim(run, one, { note: "no evidence: the filter does not count what its records say" }),
    ),
    ...daysClaims(run, evidence),
    ...days.map(({ text, ...range }) => claimOf(run, "a day", range, { agrees: false, note: text })),
    ...unread.map((one) => countClaim(run, one, { note: "never read" })),
    ...(future ? [countClaim(run, future.count, { note: "dated in the future: not due yet" })] : []),
    // It proves that nothing lies beside the dates, if all dates were read.
    countClaim(run, whole, {
      check: "all, without dates",
      agrees: isAllRead ? whole.api === whole.mirror : null,
      note: isAllRead ? null : notRead,
    }),
    ...blindSpot(run),
  ];
}

function countClaim(run: DatedRun, counted: Counted, known: Partial<Claim>): Claim {
  const { askedAt, check, api, mirror, ...range } = counted;
  const { path, query, strategy } = run.resource;
  const asked = { ...query, ...rangeQuery(strategy, range), ...check.query, page: 1, per_page: 1 };
  const request = curlLine(path, asked, totalItems);
  const sql = sqlOf(run, range, check.name);
  const asked_at = instantOrNull(askedAt);
  return claimOf(run, check.name, range, { api, mirror, asked_at, request, sql, ...known });
}

/** Records that the last reading did not show are not counted. */
function sqlOf({ resource, state }: DatedRun, range: Range, check?: string): string {
  const member = resource.strategy.counts?.find(({ name }) => name === check)?.member;
  const isAnyMissing = state.missing.all().length > 0;
  const also = [member ?? [], isAnyMissing ? "record_id NOT IN (SELECT record_id FROM missing)" : []].flat();
  return countingSql(resource, range, also);
}

/** Returns how many days have figures, of the days that were read whole. */
function daysClaims(run: DatedRun, { figures: asked }: Evidence): Claim[] {
  const { figures, resource, state } = run;
  const { figures: declared } = resource.strategy;
  if (!declared || !figures || !asked) return [];
  const any = [declared.count, ...declared.amounts].map((name) => `.${name}`).join(", ");
  const counting = `jq '[.data.${declared.points}[] | select(any(${any}; (. // 0) != 0))] | length'`;
  const ranges = join(state.coverage()).map(wholeDays);
  const inWholeDays = ranges.filter(({ from, to }) => from < to);
  return inWholeDays.map((range) => {
    const first = Number.isFinite(range.from) ? dayOf(range.from) : "";
    const last = dayOf(range.to);
    const countIn = (days: Iterable<string>) => [...days].filter((day) => day >= first && day <= last).length;
    const differing = countIn(asked.moved);
    const [start_date, end_date] = [range.from, range.to].map((at) => instantOrNull(at) ?? undefined);
    return claimOf(run, "days with figures", range, {
      api: countIn(figures.keys()),
      mirror: countIn(state.figures().keys()),
      agrees: asked.drift && differing === 0 ? null : differing === 0,
      asked_at: instantOrNull(asked.askedAt),
      request: curlLine(declared.path, { ...declared.query, start_date, end_date }, counting),
      sql: `SELECT count(*) FROM day_figures WHERE resource = '${resource.name}' AND day BETWEEN '${first}' AND '${last}'`,
      note: noteOn(differing, asked.drift),
    });
  });
}

function noteOn(differing: number, drift: AmountChanges | null): string {
  if (differing > 0) return `${differing} differ`;
  return drift ? driftText(drift) : "each as when the day was read";
}

/**
 * Returns by which night records are read again whatever the API's counts and figures say: those of the window in the next
 * one, then those below the audit's cursor, then those above it.
 */
function blindSpot(run: DatedRun): Claim[] {
  const { resource, state } = run;
  const used = state.used();
  const newest = state.coverage().at(-1)?.to;
  if (!used || newest === undefined) return [];
  const finishedUntil = finishedRuns(run.mirror, resource.name).until ?? newest;
  const since = earlier(finishedUntil + 1, used.windowMs);
  const cursor = Math.min(state.cursor() ?? since, since - 1);
  const window = { from: since, to: newest };
  const below = { from: Number.NEGATIVE_INFINITY, to: cursor };
  const above = { from: cursor + 1, to: since - 1 };
  const nightsFor = (records: number) => Math.ceil(records / (used.audit * recordsPerRequest));
  const nights = nightsFor(state.count(below));
  // Meanwhile other records leave the window, and the audit comes to them first.
  const leaving = (state.count(window) * nights * dayMs) / Math.max(used.windowMs, 1);
  const readBy = [1, nights, nights + nightsFor(state.count(above)) + nightsFor(leaving)];
  const ranges = Number.isFinite(since) ? [window, below, above] : [window];
  return ranges.flatMap((range, index) => {
    const mirror = state.count(range);
    if (mirror === 0) return [];
    const by = run.clock.now() + (readBy[index] ?? 1) * dayMs;
    const never = "never read again (`--audit 0`)";
    const note = Number.isFinite(by) ? `read again by the night of ${dayOf(by)}` : never;
    return claimOf(run, "blind spot", range, { mirror, sql: sqlOf(run, range), note });
  });
}
