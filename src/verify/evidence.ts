import type { Resource } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import { countCurrent } from "../store/records.js";
import { loadFinishedUntil } from "../store/runs.js";
import { type AmountDrift, describeDrift } from "../sync/amount-drift.js";
import type { CountComparison } from "../sync/counts.js";
import { rangeQuery } from "../sync/dates.js";
import { subtractWindow } from "../sync/plan.js";
import type { List } from "../sync/read-list.js";
import type { DatedSession, ResourceSession } from "../sync/session.js";
import { allTime, clipToCompleteDays, mergeRanges, type TimeRange, utcDay } from "../util/time-ranges.js";
import { dayMs, formatInstantOrNull } from "../util/timestamps.js";
import type { QueryParameters } from "../util/urls.js";
import type { DatedComparison } from "./dated-check.js";

const printTotalItems = `grep -o '"total_items": *[0-9]*' | grep -o '[0-9]*$'`;

/**
 * Returns a curl command that prints one number. The key and the base URL are shell variables. The key is passed on
 * stdin, because other users can see a process's arguments.
 */
function formatCurlLine(path: string, query: QueryParameters, filter: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const url = `$BRANDAPI_BASE_URL${path}?${parameters}`.replaceAll("%3A", ":").replace(/\?$/, "");
  return `echo "Authorization: Bearer $BRANDAPI_KEY" | curl -fsS -H @- "${url}" | ${filter}`;
}

function formatSqliteLine({ path }: Mirror, sql: string): string {
  const escaped = encodeURI(path).replace(/[?#']/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `sqlite3 'file:${escaped}?mode=ro' "${sql.replace(/[\\"$`]/g, "\\$&")}"`;
}

/** Returns SQL that counts a resource's current records in a range. The range must not split a second. */
function countingSql(
  { dateColumn, table }: Resource,
  { from, to }: TimeRange,
  moreConditions: string[] = [],
): string {
  const second = (ms: number) => formatInstantOrNull(ms)?.slice(0, 19).replace("T", " ");
  const conditions = [...moreConditions];
  if (Number.isFinite(from)) conditions.push(`datetime(${dateColumn}) >= '${second(from)}'`);
  if (Number.isFinite(to)) conditions.push(`datetime(${dateColumn}) <= '${second(to)}'`);
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return `SELECT count(*) FROM ${table}${where}`;
}

/** The names of all checks except filtered counts, which are named after their filters. */
export const checks = {
  allDates: "all, without dates",
  dailyTotals: "days with totals",
  day: "single day",
  list: "every record",
  restated: "unproven",
  undetected: "blind spot",
} as const;

/** A number from the API and its counterpart in the mirror, with the commands that print them. */
export interface Evidence {
  resource: string;
  check: string;
  /** The first and last dates (ISO 8601) of the range. A date is null if the range is open at that end. */
  from: string | null;
  to: string | null;
  api: number | null;
  mirror: number | null;
  /** True if the two numbers agree, or null if they cannot be compared (`note` gives the reason). */
  agrees: boolean | null;
  asked_at: string | null;
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

/** @param known the fields that are not null; `sql` is the SQL statement, without the shell command around it */
export function createEvidence(
  session: ResourceSession,
  check: string,
  range: TimeRange,
  known: Partial<Evidence>,
): Evidence {
  const dates = { from: formatInstantOrNull(range.from), to: formatInstantOrNull(range.to) };
  const sql = known.sql ? formatSqliteLine(session.mirror, known.sql) : null;
  return { resource: session.resource.name, check, ...dates, ...emptyEvidence, ...known, sql };
}

/**
 * Returns the evidence for a list without dates. The request has no page parameters, because some lists are not
 * paginated.
 */
export function undatedEvidence(
  session: ResourceSession,
  { requestedAt, total }: List,
  known: Partial<Evidence>,
): Evidence {
  const counting = "jq '.pagination.total_items // ([.data] | flatten(1) | length)'";
  const request = formatCurlLine(session.resource.path, session.resource.query, counting);
  const sql = countingSql(session.resource, allTime);
  const asked_at = formatInstantOrNull(requestedAt);
  return createEvidence(session, checks.list, allTime, { api: total, asked_at, request, sql, ...known });
}

export function restatedEvidence(session: ResourceSession): Evidence {
  const mirrorTotal = countCurrent(session.mirror, session.resource.name);
  const sql = countingSql(session.resource, allTime);
  const note = "the API may restate these values at any time";
  return createEvidence(session, checks.restated, allTime, { mirror: mirrorTotal, sql, note });
}

/** The number of records per audit request, not counting the overlap between adjacent pages. */
const recordsPerRequest = 98;

export function datedEvidence(session: DatedSession, comparison: DatedComparison): Evidence[] {
  const { allDates, counts, dayDifferences, differingParts, filters, future, unreachable, unread } =
    comparison;
  const allCounts = new Set([...counts, ...differingParts]);
  const notRead =
    unreachable > 0 ? `${unreachable} more than in all date ranges combined` : "not everything has been read";
  const isAllRead = unreachable === 0 && unread.length === 0;
  return [
    ...[...allCounts].map((count) =>
      filters.includes(count.filter.name)
        ? countEvidence(session, count, { agrees: count.apiCount === count.mirrorCount })
        : countEvidence(session, count, {
            note: "the API's count for this filter does not match the number of records with the status",
          }),
    ),
    ...dailyTotalsEvidence(session, comparison),
    ...dayDifferences.map(({ day, text, ...range }) =>
      createEvidence(session, checks.day, range, { agrees: false, note: `${day}: ${text}` }),
    ),
    ...unread.map((count) => countEvidence(session, count, { note: "never read" })),
    ...(future
      ? [countEvidence(session, future.count, { note: "dated in the future, so not due yet" })]
      : []),
    // If everything has been read, a difference in this count means that some records have no date.
    countEvidence(session, allDates, {
      check: checks.allDates,
      agrees: isAllRead ? allDates.apiCount === allDates.mirrorCount : null,
      note: isAllRead ? null : notRead,
    }),
    ...undetectedEvidence(session),
  ];
}

function countEvidence(session: DatedSession, count: CountComparison, known: Partial<Evidence>): Evidence {
  const { requestedAt, filter, apiCount: api, mirrorCount: mirror, ...range } = count;
  const { path, query, strategy } = session.resource;
  const parameters = { ...query, ...rangeQuery(strategy, range), ...filter.query, page: 1, per_page: 1 };
  const request = formatCurlLine(path, parameters, printTotalItems);
  const sql = filterSql(session, range, filter.name);
  const asked_at = formatInstantOrNull(requestedAt);
  return createEvidence(session, filter.name, range, { api, mirror, asked_at, request, sql, ...known });
}

function filterSql({ resource, state }: DatedSession, range: TimeRange, filter?: string): string {
  const conditions: string[] = [];
  const field = resource.strategy.statusFilters?.find(({ name }) => name === filter)?.field;
  if (field) conditions.push(field);
  if (state.missing.load().length > 0) conditions.push("record_id NOT IN (SELECT record_id FROM missing)");
  return countingSql(resource, range, conditions);
}

/** Returns evidence for each range of complete days: the number of days with totals, in the API and in the mirror. */
function dailyTotalsEvidence(session: DatedSession, { dailyTotals }: DatedComparison): Evidence[] {
  const { resource, state } = session;
  const { totalsSource } = resource.strategy;
  if (!totalsSource || !dailyTotals) return [];
  const fields = [totalsSource.countField, ...totalsSource.amountFields].map((name) => `.${name}`).join(", ");
  const filter = `jq '[.data.${totalsSource.totalsField}[] | select(any(${fields}; (. // 0) != 0))] | length'`;
  const ranges = mergeRanges(state.loadCoverage()).map(clipToCompleteDays);
  const completeDays = ranges.filter(({ from, to }) => from < to);
  return completeDays.map((range) => {
    const first = Number.isFinite(range.from) ? utcDay(range.from) : "";
    const last = utcDay(range.to);
    const countIn = (days: Iterable<string>) => [...days].filter((day) => day >= first && day <= last).length;
    const differing = countIn(dailyTotals.changed);
    const [start_date, end_date] = [range.from, range.to].map((ms) => formatInstantOrNull(ms) ?? undefined);
    return createEvidence(session, checks.dailyTotals, range, {
      api: countIn(dailyTotals.totals.keys()),
      mirror: countIn(state.storedTotals.load().keys()),
      agrees: dailyTotals.drift && differing === 0 ? null : differing === 0,
      asked_at: formatInstantOrNull(dailyTotals.requestedAt),
      request: formatCurlLine(totalsSource.path, { ...totalsSource.query, start_date, end_date }, filter),
      sql: `SELECT count(*) FROM stored_totals WHERE resource = '${resource.name}' AND day BETWEEN '${first}' AND '${last}'`,
      note: describeDays(differing, dailyTotals.drift),
    });
  });
}

function describeDays(differing: number, drift: AmountDrift | null): string {
  if (differing > 0) return `${differing} ${differing === 1 ? "differs" : "differ"}`;
  return drift ? describeDrift(drift) : "unchanged since each day was last read";
}

/**
 * Returns the dates by which syncs will have re-read all records, and therefore found every change that affects neither
 * a count nor a daily total. Assumes one sync per day. The next sync re-reads the window. The audits of later syncs
 * re-read older records: first from the audit's cursor down to the oldest date, and then from the window down to the
 * cursor.
 */
function undetectedEvidence(session: DatedSession): Evidence[] {
  const { clock, mirror, resource, state } = session;
  const options = state.loadLastOptions();
  const newest = state.loadCoverage().at(-1)?.to;
  if (!options || newest === undefined) return [];
  const finishedUntil = loadFinishedUntil(mirror, resource.name) ?? newest;
  const since = subtractWindow(finishedUntil + 1, options.windowMs);
  const cursor = Math.min(state.loadAuditCursor() ?? since, since - 1);
  const window = { from: since, to: newest };
  const older = { from: Number.NEGATIVE_INFINITY, to: cursor };
  const newer = { from: cursor + 1, to: since - 1 };
  const daysFor = (records: number) => Math.ceil(records / (options.auditRequests * recordsPerRequest));
  const daysForOlder = daysFor(state.count(older));
  // While the audit works back to the oldest date, more records leave the window. When the audit starts over, it reads
  // those records first.
  const leaving = (state.count(window) * daysForOlder * dayMs) / Math.max(options.windowMs, 1);
  const daysForNewer = daysForOlder + daysFor(state.count(newer)) + daysFor(leaving);
  const parts = [{ ...window, days: 1 }];
  if (Number.isFinite(since)) parts.push({ ...older, days: daysForOlder }, { ...newer, days: daysForNewer });
  return parts.flatMap(({ days, ...range }) => {
    const count = state.count(range);
    if (count === 0) return [];
    const by = clock.now() + days * dayMs;
    const note = Number.isFinite(by) ? `re-read by ${utcDay(by)}` : "never re-read (`--audit 0`)";
    return createEvidence(session, checks.undetected, range, {
      mirror: count,
      sql: filterSql(session, range),
      note,
    });
  });
}
