import { everything as allDates, dayOf, join } from "../lib/ranges.js";
import { dayMs, instantOrNull } from "../lib/times.js";
import { allRecords, type Check, type Counted } from "../sync/counts.js";
import type { DatedRun } from "../sync/run.js";
import { rangeQuery } from "../sync/seek.js";
import { type Claim, claimOf } from "./claim.js";
import type { Evidence } from "./evidence.js";
import { figuresOfDay, figuresOfDays } from "./figure-claims.js";
import { rereadings } from "./nights.js";
import { countingSql, curlLine, sqliteLine, totalItems } from "./repeat.js";

/** Returns everything that a proof of a dated resource goes by, and what it does not prove. */
export function datedClaims(run: DatedRun, evidence: Evidence): Claim[] {
  const { against, beside, checks, counts, everything, figures, unread } = evidence;
  const ofCount = (one: Counted) => {
    const isTrusted = checks.includes(one.check.name);
    const note = isTrusted ? null : "the filter does not count what its records say: no evidence";
    return countClaim(run, one, { agrees: isTrusted ? one.api === one.mirror : null, note });
  };
  const parts = against.flatMap(({ counted }) => (counted && !counts.includes(counted) ? [counted] : []));
  const noLonger = against.filter(({ counted, day }) => !counted && !day);
  const isAll = beside === 0 && unread.every(({ api, mirror }) => api === mirror);
  const whole = { ...everything, mirror: run.state.count(allDates), check: allRecords, ...allDates };
  const note =
    beside > 0 ? `${beside} more than in all dates: not read` : isAll ? null : "not all of it was read";
  return [
    ...counts.map(ofCount),
    ...parts.map(ofCount),
    ...(figures ? join(run.state.coverage()).flatMap((range) => figuresOfDays(run, range, figures)) : []),
    ...(figures?.moved.flatMap((day) => figuresOfDay(run, day, figures)) ?? []),
    ...noLonger.map(({ text, ...range }) => claimOf(run, "all", range, { agrees: false, note: text })),
    ...unread
      .filter(({ api, mirror }) => api !== mirror)
      .map((one) => countClaim(run, one, { note: "never read" })),
    countClaim(run, whole, {
      check: "all, without dates",
      agrees: isAll ? whole.api === whole.mirror : null,
      note,
    }),
    ...blindSpot(run),
  ];
}

function countClaim(
  run: DatedRun,
  { askedAt, check, api, mirror, ...range }: Counted,
  known: Partial<Claim>,
): Claim {
  const { path, query, strategy } = run.resource;
  const asked = { ...query, ...rangeQuery(strategy, range), ...check.query, page: 1, per_page: 1 };
  const request = curlLine(path, asked, totalItems);
  const sql = sqliteLine(run.mirror, countingSql(run.resource, range, conditionsOf(run, check)));
  return claimOf(run, check.name, range, {
    api,
    mirror,
    asked_at: instantOrNull(askedAt),
    request,
    sql,
    ...known,
  });
}

/** Records that the last reading did not show are not counted. */
function conditionsOf({ resource, state }: DatedRun, { name }: Pick<Check, "name">): string[] {
  const member = resource.strategy.counts?.find((one) => one.name === name)?.member;
  const isAnyMissing = state.missing.all().length > 0;
  return [member ?? [], isAnyMissing ? "record_id NOT IN (SELECT record_id FROM missing)" : []].flat();
}

/** Returns how many records are read again by which night, because a change may move no count and no figure. */
function blindSpot(run: DatedRun): Claim[] {
  return rereadings(run).map(({ night, records, ...range }) => {
    const by = night === null ? null : dayOf(run.clock.now() + night * dayMs);
    const again =
      by === null ? "no nightly sync reads them again (`--audit 0`)" : `read again by the night of ${by}`;
    const sql = sqliteLine(run.mirror, countingSql(run.resource, range, conditionsOf(run, allRecords)));
    return claimOf(run, "blind spot", range, { mirror: records, sql, note: again });
  });
}
