import type { Resource } from "../resources/resource.js";
import type { Mirror } from "../store/mirror/database.js";
import { countCurrent } from "../store/records/current-records.js";
import { readFinishedRuns } from "../store/state/runs.js";
import type { CountComparison } from "../sync/counts.js";
import { type AmountDrift, driftText } from "../sync/daily-totals.js";
import { rangeQuery } from "../sync/dates.js";
import { earlier } from "../sync/plan.js";
import type { List } from "../sync/read-list.js";
import type { DatedRun, SyncRun } from "../sync/session.js";
import { allTime, clipToCompleteDays, mergeRanges, type Range, utcDay } from "../util/ranges.js";
import { dayMs, formatInstantOrNull } from "../util/times.js";
import type { QueryParameters } from "../util/urls.js";
import type { DatedComparison } from "./dated-check.js";

/** Prints the API's count of a list. */
const printTotalItems = `grep -o '"total_items": *[0-9]*' | grep -o '[0-9]*$'`;

/**
 * Returns a curl command that prints one number. The key and the base URL stay shell variables, and the shell's own
 * `echo` passes the key to curl, because a process list shows arguments.
 */
function curlLine(path: string, query: QueryParameters, printing: string): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const address = `$BRANDAPI_BASE_URL${path}?${given}`.replaceAll("%3A", ":").replace(/\?$/, "");
  return `echo "Authorization: Bearer $BRANDAPI_KEY" | curl -fsS -H @- "${address}" | ${printing}`;
}

/** Returns a line for the sqlite3 shell that opens the mirror read-only and prints what a statement selects. */
function sqliteLine({ path }: Mirror, sql: string): string {
  const escaped = encodeURI(path).replace(/[?#']/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `sqlite3 'file:${escaped}?mode=ro' "${sql.replace(/[\\"$`]/g, "\\$&")}"`;
}

/** Returns SQL that counts a resource's current records in a range. @param also further conditions */
function countingSql({ date, table }: Resource, { from, to }: Range, also: string[] = []): string {
  // Ranges begin and end with whole seconds.
  const second = (ms: number) => formatInstantOrNull(ms)?.slice(0, 19).replace("T", " ");
  const conditions = [...also];
  if (Number.isFinite(from)) conditions.push(`datetime(${date}) >= '${second(from)}'`);
  if (Number.isFinite(to)) conditions.push(`datetime(${date}) <= '${second(to)}'`);
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return `SELECT count(*) FROM ${table}${where}`;
}

/** A number in the API and in the mirror, and the two commands that print them: an item of `evidence`. */
export interface Evidence {
  resource: string;
  check: string;
  /** ISO 8601; null: without an end. */
  from: string | null;
  to: string | null;
  api: number | null;
  mirror: number | null;
  /** Null if the numbers cannot be compared; `note` has the reason. */
  agrees: boolean | null;
  asked_at: string | null;
  /** A curl command, and an sqlite3 command. */
  request: string | null;
  sql: string | null;
  note: string | null;
}

const emptyEvidence = {
  api: null,
  mirror: null,
  agrees: null,
  asked_at: null,
  request: null,
  sql: null,
  note: null,
};

/** @param known.sql the SQL of the sqlite3 command */
export function createEvidence(
  run: SyncRun,
  check: string,
  range: Range,
  known: Partial<Evidence>,
): Evidence {
  const dates = { from: formatInstantOrNull(range.from), to: formatInstantOrNull(range.to) };
  const sql = known.sql ? sqliteLine(run.mirror, known.sql) : null;
  return { resource: run.resource.name, check, ...dates, ...emptyEvidence, ...known, sql };
}

/**
 * Returns the evidence for a list that was compared completely. The request has no parameters, because not every list
 * is paginated.
 */
export function listEvidence(run: SyncRun, { requestedAt, total }: List, known: Partial<Evidence>): Evidence {
  const counting = "jq '.pagination.total_items // ([.data] | flatten(1) | length)'";
  const request = curlLine(run.resource.path, run.resource.query, counting);
  const sql = countingSql(run.resource, allTime);
  const asked_at = formatInstantOrNull(requestedAt);
  return createEvidence(run, "one by one", allTime, { api: total, asked_at, request, sql, ...known });
}

/** Returns the evidence for a resource whose values the API can restate at any time. */
export function restatedEvidence(run: SyncRun): Evidence {
  const mirror = countCurrent(run.mirror, run.resource.name);
  const sql = countingSql(run.resource, allTime);
  return createEvidence(run, "unproven", allTime, {
    mirror,
    sql,
    note: "the API restates it at any time",
  });
}

/** The minimum number of new records per audit request: a page without its overlap with the next. */
const recordsPerRequest = 98;

/** Returns each number that the verification of a dated resource compares, and what it cannot detect. */
export function datedEvidence(run: DatedRun, evidence: DatedComparison): Evidence[] {
  const { differences, undatedCount, filters, counts, future, unread, allDates } = evidence;
  const counted = new Set([...counts, ...differences.flatMap((one) => one.count ?? [])]);
  const days = differences.filter((one) => !one.count);
  const notRead =
    undatedCount > 0 ? `${undatedCount} more than in all dates: not read` : "not all of it was read";
  const isAllRead = undatedCount === 0 && unread.length === 0;
  return [
    ...[...counted].map((one) =>
      filters.includes(one.filter.name)
        ? countEvidence(run, one, { agrees: one.apiCount === one.mirrorCount })
        : countEvidence(run, one, { note: "no evidence: the filter does not count what its records say" }),
    ),
    ...dailyTotalsEvidence(run, evidence),
    ...days.map(({ text, ...range }) => createEvidence(run, "a day", range, { agrees: false, note: text })),
    ...unread.map((one) => countEvidence(run, one, { note: "never read" })),
    ...(future ? [countEvidence(run, future.count, { note: "dated in the future: not due yet" })] : []),
    // If all dates were read, this count shows whether there are records without dates.
    countEvidence(run, allDates, {
      check: "all, without dates",
      agrees: isAllRead ? allDates.apiCount === allDates.mirrorCount : null,
      note: isAllRead ? null : notRead,
    }),
    ...blindSpot(run),
  ];
}

function countEvidence(run: DatedRun, counted: CountComparison, known: Partial<Evidence>): Evidence {
  const { requestedAt, filter, apiCount: api, mirrorCount: mirror, ...range } = counted;
  const { path, query, strategy } = run.resource;
  const asked = { ...query, ...rangeQuery(strategy, range), ...filter.query, page: 1, per_page: 1 };
  const request = curlLine(path, asked, printTotalItems);
  const sql = sqlOf(run, range, filter.name);
  const asked_at = formatInstantOrNull(requestedAt);
  return createEvidence(run, filter.name, range, { api, mirror, asked_at, request, sql, ...known });
}

/** Missing records are not counted. */
function sqlOf({ resource, state }: DatedRun, range: Range, check?: string): string {
  const member = resource.strategy.countedFilters?.find(({ name }) => name === check)?.member;
  const isAnyMissing = state.missing.all().length > 0;
  const also = [member ?? [], isAnyMissing ? "record_id NOT IN (SELECT record_id FROM missing)" : []].flat();
  return countingSql(resource, range, also);
}

/** Returns the number of days with totals, of the days that were read completely. */
function dailyTotalsEvidence(run: DatedRun, { dailyTotals }: DatedComparison): Evidence[] {
  const { resource, state } = run;
  const { dailyTotals: declared } = resource.strategy;
  if (!declared || !dailyTotals) return [];
  const any = [declared.count, ...declared.amounts].map((name) => `.${name}`).join(", ");
  const counting = `jq '[.data.${declared.points}[] | select(any(${any}; (. // 0) != 0))] | length'`;
  const ranges = mergeRanges(state.coverage()).map(clipToCompleteDays);
  const inWholeDays = ranges.filter(({ from, to }) => from < to);
  return inWholeDays.map((range) => {
    const first = Number.isFinite(range.from) ? utcDay(range.from) : "";
    const last = utcDay(range.to);
    const countIn = (days: Iterable<string>) => [...days].filter((day) => day >= first && day <= last).length;
    const differing = countIn(dailyTotals.changed);
    const [start_date, end_date] = [range.from, range.to].map((at) => formatInstantOrNull(at) ?? undefined);
    return createEvidence(run, "days with totals", range, {
      api: countIn(dailyTotals.totals.keys()),
      mirror: countIn(state.dailyTotals.all().keys()),
      agrees: dailyTotals.drift && differing === 0 ? null : differing === 0,
      asked_at: formatInstantOrNull(dailyTotals.requestedAt),
      request: curlLine(declared.path, { ...declared.query, start_date, end_date }, counting),
      sql: `SELECT count(*) FROM day_figures WHERE resource = '${resource.name}' AND day BETWEEN '${first}' AND '${last}'`,
      note: describeDays(differing, dailyTotals.drift),
    });
  });
}

function describeDays(differing: number, drift: AmountDrift | null): string {
  if (differing > 0) return `${differing} differ`;
  return drift ? driftText(drift) : "each as when the day was read";
}

/**
 * Returns the night by which records are read again, even if no count and no daily total changes: those of the window in
 * the next night, then those below the audit's cursor, then those above it.
 */
function blindSpot(run: DatedRun): Evidence[] {
  const { resource, state } = run;
  const used = state.lastOptions();
  const newest = state.coverage().at(-1)?.to;
  if (!used || newest === undefined) return [];
  const finishedUntil = readFinishedRuns(run.mirror, resource.name).until ?? newest;
  const since = earlier(finishedUntil + 1, used.windowMs);
  const cursor = Math.min(state.cursor() ?? since, since - 1);
  const window = { from: since, to: newest };
  const below = { from: Number.NEGATIVE_INFINITY, to: cursor };
  const above = { from: cursor + 1, to: since - 1 };
  const nightsFor = (records: number) => Math.ceil(records / (used.audit * recordsPerRequest));
  const nights = nightsFor(state.count(below));
  // In the meantime other records leave the window, and the audit reads those first.
  const leaving = (state.count(window) * nights * dayMs) / Math.max(used.windowMs, 1);
  const readBy = [1, nights, nights + nightsFor(state.count(above)) + nightsFor(leaving)];
  const ranges = Number.isFinite(since) ? [window, below, above] : [window];
  return ranges.flatMap((range, index) => {
    const mirror = state.count(range);
    if (mirror === 0) return [];
    const by = run.clock.now() + (readBy[index] ?? 1) * dayMs;
    const never = "never read again (`--audit 0`)";
    const note = Number.isFinite(by) ? `read again by the night of ${utcDay(by)}` : never;
    return createEvidence(run, "blind spot", range, { mirror, sql: sqlOf(run, range), note });
  });
}
