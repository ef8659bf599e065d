import { dayOf, dayRange, join, type Range } from "../lib/ranges.js";
import { dayMs, instantOrNull } from "../lib/times.js";
import { allRecords, type Counted } from "../sync/counts.js";
import type { DatedRun } from "../sync/run.js";
import { rangeQuery } from "../sync/seek.js";
import { type Claim, claimOf } from "./claims.js";
import type { Evidence } from "./evidence.js";
import { rereadings } from "./nights.js";
import { countingSql, curlLine, totalItems } from "./repeat.js";

/** Returns all that a proof of a dated resource goes by, and what it does not prove. */
export function datedClaims(run: DatedRun, evidence: Evidence): Claim[] {
  const { against, checks, counts, unread } = evidence;
  const parts = against.flatMap(({ counted }) => (counted && !counts.includes(counted) ? [counted] : []));
  const days = against.filter(({ counted }) => !counted);
  return [
    ...[...counts, ...parts].map((one) =>
      checks.includes(one.check.name)
        ? countClaim(run, one, { agrees: one.api === one.mirror })
        : countClaim(run, one, { note: "no evidence: the filter does not count what its records say" }),
    ),
    ...daysClaims(run, evidence),
    ...days.map(({ text, ...range }) => claimOf(run, "a day", range, { agrees: false, note: text })),
    ...unread.map((one) => countClaim(run, one, { note: "never read" })),
    wholeClaim(run, evidence),
    ...blindSpot(run),
  ];
}

/** The count without a range: it proves that nothing lies beside the dates, if all dates were read. */
function wholeClaim(run: DatedRun, { beside, unread, whole }: Evidence): Claim {
  const note = unread.length > 0 ? "not all of it was read" : null;
  return countClaim(run, whole, {
    check: "all, without dates",
    agrees: beside === 0 && note === null ? whole.api === whole.mirror : null,
    note: beside > 0 ? `${beside} more than in all dates: not read` : note,
  });
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
function sqlOf({ resource, state }: DatedRun, range: Range, check: string): string {
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
  const any = declared.figures.map((name) => `.${name}`).join(", ");
  const counting = `jq '[.data.${declared.points}[] | select(any(${any}; (. // 0) != 0))] | length'`;
  return join(state.coverage()).flatMap(({ from, to }) => {
    const first = Number.isFinite(from) ? dayOf(from + dayMs - 1) : "";
    const last = dayOf(to + 1 - dayMs);
    if (first > last) return [];
    const countIn = (days: Iterable<string>) => [...days].filter((day) => day >= first && day <= last).length;
    const differing = countIn(asked.moved);
    const range = { from: first ? dayRange(first).from : from, to: dayRange(last).to };
    const [start_date, end_date] = [range.from, range.to].map((at) => instantOrNull(at) ?? undefined);
    return claimOf(run, "days with figures", range, {
      api: countIn(figures.keys()),
      mirror: countIn(state.figures().keys()),
      agrees: differing === 0,
      asked_at: instantOrNull(asked.askedAt),
      request: curlLine(declared.path, { ...declared.query, start_date, end_date }, counting),
      sql: `SELECT count(*) FROM day_figures WHERE resource = '${resource.name}' AND day BETWEEN '${first}' AND '${last}'`,
      note: differing === 0 ? "each as when the day was read" : `${differing} differ`,
    });
  });
}

/** Returns by which night records are read again, because a change may move no count and no figure. */
function blindSpot(run: DatedRun): Claim[] {
  return rereadings(run).map(({ night, records, ...range }) => {
    const read_again_by = night === null ? null : dayOf(run.clock.now() + night * dayMs);
    const note = read_again_by
      ? `read again by the night of ${read_again_by}`
      : "never read again (`--audit 0`)";
    const sql = sqlOf(run, range, allRecords.name);
    return claimOf(run, "blind spot", range, { mirror: records, sql, note, read_again_by });
  });
}
