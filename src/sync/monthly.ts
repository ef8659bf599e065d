import { ConfigurationError, UnexpectedResponse } from "../errors.js";
import type { MonthlyStrategy } from "../resources/resource.js";
import { findHostId } from "../store/ranking-history.js";
import { isSameJson } from "../store/record-diff.js";
import { loadCurrentRecords, positionKey } from "../store/records.js";
import { updateRun } from "../store/runs.js";
import { pluralize } from "../util/format-text.js";
import { asObject, isObject, type Json, valueAt } from "../util/json-value.js";
import { amountsEqual } from "../util/numbers.js";
import {
  allTime,
  clipRanges,
  monthRange,
  overlaps,
  subtractRanges,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { formatInstant } from "../util/timestamps.js";
import { findCoveredDates } from "./covered-from.js";
import { parseDay, requestRawTotals } from "./daily-totals.js";
import { chooseFloor } from "./plan.js";
import type {
  RawTotalsByDay,
  RequestEstimate,
  ResourceSession,
  SyncOptions,
  SyncResult,
  SyncRun,
} from "./session.js";
import { storeReading } from "./store-reading.js";

type MonthlySession = ResourceSession<MonthlyStrategy>;

interface MonthRequest extends TimeRange {
  groupBy: string;
  hostId: string | null;
}

export async function estimateMonthly(session: MonthlySession): Promise<RequestEstimate[]> {
  const rawTotals = await requestRawTotals(session, session.resource.strategy.totalsSource);
  const requests = findDueMonths(session, rawTotals).length;
  const days = { what: "daily clicks, to find the months that changed", requests: 1 };
  return requests > 0 ? [{ what: pluralize(requests, "month"), requests }, days] : [days];
}

/**
 * Reads clicks with one request per calendar month, because a month's unique clicks are not the sum of its days' unique
 * clicks. Late orders and bot filtering change past clicks, so a month is re-read if any of its days has changed.
 */
export async function readMonthly(run: SyncRun<MonthlyStrategy>): Promise<SyncResult> {
  const { runId, mirror, options, progress, reporter, requested, resource, state } = run;
  const due = findDueMonths(run, await requestRawTotals(run, resource.strategy.totalsSource));
  const since = due[0] ? formatInstant(Math.min(...due.map(({ from }) => from))) : null;
  const until = formatInstant(requested.until);
  mirror.transaction(() => {
    updateRun(mirror, runId, { since, until });
    if (isDailyForAllHosts(options)) state.saveFloor(chooseFloor(options, requested, state.loadFloor()));
  });
  if (options.perHost) reporter.note(`${resource.name}: ${pluralize(due.length, "request")}`);
  for (const [index, month] of due.entries()) {
    await readMonth(run, month);
    progress.advance(due.length - index - 1);
  }
  if (!isDailyForAllHosts(options)) return { incompleteReasons: [], isVerified: false, columns: {} };
  coverIdleMonths(run);
  const { covered_from, hasGaps, isEndCovered } = findCoveredDates(run);
  return { incompleteReasons: [], isVerified: isEndCovered, columns: { covered_from }, hasGaps };
}

/**
 * True if the options request clicks by day and for all hosts. Reads with other options return different data, so they
 * do not extend the coverage.
 */
function isDailyForAllHosts({ groupBy, hosts, perHost }: SyncOptions): boolean {
  return groupBy === "day" && hosts.length === 0 && !perHost;
}

/**
 * Returns the months to read. Candidates are the current month and all months with clicks or changed totals. With
 * `--full`, `--since` or an option that changes the requested data, all candidates in the requested range are read.
 * Otherwise, a candidate is read if it has changed, was never read, or was last read within one window after its end.
 */
function findDueMonths(session: MonthlySession, rawTotals: RawTotalsByDay): MonthRequest[] {
  const { readableUntil, options, requested, state } = session;
  const { full, groupBy, windowMs } = options;
  const range = chooseRange(session);
  const isAllRequested = full || requested.since !== undefined || !isDailyForAllHosts(options);
  const changed = isDailyForAllHosts(options) ? findChangedMonths(session, rawTotals) : new Set<string>();
  const coverage = state.loadCoverage();
  function isDue(name: string): boolean {
    const month = monthRange(name);
    if (!overlaps(month, range)) return false;
    const lastRead = coverage.find((part) => overlaps(part, month));
    return isAllRequested || changed.has(name) || !lastRead || lastRead.requestedAt - windowMs <= month.to;
  }
  const active = [...rawTotals].flatMap(([day, totals]) => (isIdle(totals) ? [] : day.slice(0, 7)));
  // The changed months include those that the API omits because all of their clicks have been removed.
  const months = new Set([...active, ...changed, utcDay(readableUntil).slice(0, 7)]);
  const due = [...months].sort().filter(isDue).map(monthRange);
  return selectHosts(session).flatMap((hostId) => due.map(({ from, to }) => ({ from, to, groupBy, hostId })));
}

function chooseRange({ options, requested, state }: ResourceSession): TimeRange {
  const { since, until } = requested;
  return { from: since ?? chooseFloor(options, requested, state.loadFloor()), to: until };
}

/** Adds the requested idle months to the coverage, because the daily totals show that they have no clicks. */
function coverIdleMonths(run: SyncRun): void {
  const { mirror, readableUntil, runId, state } = run;
  const requested = clipRanges([chooseRange(run)], allTime);
  mirror.transaction(() => {
    for (const range of subtractRanges(requested, state.loadCoverage()))
      state.applyReading({ runId, range, requestedAt: readableUntil, isComplete: true, ids: [] });
  });
}

function selectHosts({ mirror, options, resource }: MonthlySession): (string | null)[] {
  const { hostResource } = resource.strategy;
  const listed = options.perHost ? [...loadCurrentRecords(mirror, hostResource)] : [];
  const ids = options.perHost ? listed.flatMap(({ value }) => findHostId(value) ?? []) : options.hosts;
  if (options.perHost && ids.length === 0)
    throw new ConfigurationError(`The mirror has no ${hostResource}, so there are no hosts to request.`, {
      hint: `run \`brandapi sync ${hostResource}\` first`,
    });
  return ids.length > 0 ? [...new Set(ids)] : [null];
}

/**
 * Returns the months with at least one day whose totals differ from the mirrored totals. The API may omit the totals of
 * idle days.
 */
function findChangedMonths({ mirror, resource }: MonthlySession, rawTotals: RawTotalsByDay): Set<string> {
  const { totalsSource } = resource.strategy;
  const mirrored = new Map<string, Json>();
  for (const { value } of loadCurrentRecords(mirror, resource.name, `/day/${positionKey(0)}`))
    for (const totals of (valueAt(value, [totalsSource.totalsField]) ?? []) as Json[])
      mirrored.set(parseDay(totals, totalsSource), totals);
  const isChanged = (day: string) => {
    const [was, is] = [mirrored.get(day) ?? null, rawTotals.get(day) ?? null];
    return isIdle(was) ? !isIdle(is) : !isSameDay(was, is, totalsSource.amountFields);
  };
  const days = new Set([...mirrored.keys(), ...rawTotals.keys()]);
  return new Set([...days].filter(isChanged).map((day) => day.slice(0, 7)));
}

function isSameDay(a: Json, b: Json, amounts: readonly string[]): boolean {
  const isSameAmount = (name: string) => {
    const [one, other] = [valueAt(a, [name]), valueAt(b, [name])];
    return typeof one === "number" && typeof other === "number" ? amountsEqual(one, other) : one === other;
  };
  const without = (totals: Json) =>
    Object.fromEntries(Object.entries(asObject(totals)).filter(([name]) => !amounts.includes(name)));
  return amounts.every(isSameAmount) && isSameJson(without(a), without(b));
}

function isIdle(totals: Json): boolean {
  return !Object.values(totals ?? {}).some((value) => typeof value !== "boolean" && Number(value));
}

/** Reads one month. See "2. GET /analytics/clicks" in the API documentation. */
async function readMonth(
  run: SyncRun<MonthlyStrategy>,
  { from, to, groupBy, hostId }: MonthRequest,
): Promise<void> {
  const { api, mirror, options, resource } = run;
  const range = { start_date: formatInstant(from), end_date: formatInstant(to) };
  const query = { ...resource.query, ...range, group_by: groupBy, host_id: hostId ?? undefined };
  const { data, requestedAt } = await api.get(resource.path, query, resource.scope);
  const { totalsField } = resource.strategy.totalsSource;
  if (!isObject(valueAt(data, ["summary"])) || !Array.isArray(valueAt(data, [totalsField])))
    throw new UnexpectedResponse(
      `The API's response to ${resource.path} lacks \`summary\` or \`${totalsField}\`.`,
    );
  const [start, end] = [utcDay(from), utcDay(to)];
  const parameters = { period_start: start, period_end: end, group_by: groupBy, host_id: hostId };
  const keyPrefix = `${start}/${groupBy}/${hostId ?? ""}`;
  mirror.transaction(() =>
    storeReading(run, {
      range: { from, to: Math.min(to, requestedAt) },
      requestedAt,
      isComplete: isDailyForAllHosts(options),
      responses: [{ items: [data], requestedAt, parameters, keyPrefix }],
    }),
  );
}
