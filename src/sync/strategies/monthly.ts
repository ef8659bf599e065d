import type { Answer } from "../../api/client.js";
import { counted } from "../../counted.js";
import { ConfigurationError, UnexpectedAnswer } from "../../errors.js";
import { inParts } from "../../in-parts.js";
import { isSetBack, transactInParts } from "../../mirror/index.js";
import { dayOf, gaps, monthsOf, type Range, touches } from "../../ranges.js";
import { presentKeys, presentRecords, sameJson, valueAt } from "../../records/index.js";
import type { Json } from "../../resources/types.js";
import { ageParts, forgetAhead, isAhead, readCoverage, recordCoverage } from "../../state/index.js";
import { formatInstant } from "../../times.js";
import { askPoints } from "../figures.js";
import { inOrder } from "../in-order.js";
import { doubtClock, progressed, type StrategyRun, type SyncRun, warnOfGaps } from "../run.js";

/**
 * One answer a calendar month: unique counts do not add up over days, so a month's summary must be asked for as such.
 * A run reads the months that the window touches, and older ones whose days are no longer what they were: late orders
 * and the filtering of bots restate the past.
 */
export const monthly: StrategyRun = {
  async plan(run) {
    const requests = seriesOf(run).flatMap((one) => dueMonths(run, one)).length;
    const days = { what: "each day's clicks, to learn which months moved", requests: 1, open: true };
    return requests > 0 ? [{ what: counted(requests, "month"), requests }, days] : [days];
  },

  async run(run) {
    const { mirror, now, options, reporter, resource, row } = run;
    const { strategy } = resource;
    if (strategy.kind !== "monthly") return;
    if (isAhead(mirror, resource.name, now) && isSetBack(mirror, row))
      doubtClock(run, "months that were read are", "all months");
    else mirror.transaction(() => forgetAhead(mirror, resource.name, now));
    const { days } = await askPoints(run, strategy.figures);
    const series = seriesOf(run);
    const moved = await inParts(movedMonths(run, days), run);
    // A series of its own leaves the mirror's months as they are.
    if (!series.some(isPlain)) run.isPartial = true;
    const due = series.flatMap((one) => dueMonths(run, one, days, moved));
    if (options.perHost)
      reporter.note(`${resource.name}: ${counted(series.length, "host")}, ${counted(due.length, "request")}`);
    let left = due.length;
    await inOrder(
      due,
      (month) => ask(run, month),
      async (answer, month) => {
        await transactInParts(mirror, writeMonth(run, month, answer), run);
        left -= 1;
        progressed(run, 1, left);
      },
    );
    if (series.some(isPlain)) warnOfGaps(run, gaps(readCoverage(mirror, resource.name)));
    if (due.length > 0) row.since = formatInstant(Math.min(...due.map(({ from }) => from)));
    row.until = formatInstant(Math.min(now, options.until ?? now));
  },
};

/** What is counted: all hosts or one, in buckets of a day, a week or a month. */
interface Series {
  groupBy: string;
  hostId: string | null;
}

type Month = ReturnType<typeof monthsOf>[number] & Series;

function seriesOf({ mirror, options }: SyncRun): Series[] {
  const ids = options.perHost ? presentKeys(mirror, "roster", "host.id") : options.hosts;
  if (options.perHost && ids.length === 0)
    throw new ConfigurationError("The mirror holds no roster, so there are no hosts to ask for.", {
      hint: "run `brandapi sync roster` first",
    });
  const hosts = ids.length > 0 ? ids : [null];
  return hosts.map((hostId) => ({ groupBy: options.groupBy, hostId }));
}

/** Coverage is kept a series; the plain one is the resource's own. */
function coverageName({ resource }: SyncRun, series: Series): string {
  const { groupBy, hostId } = series;
  return isPlain(series) ? resource.name : `${resource.name}/${groupBy}/${hostId ?? ""}`;
}

function isPlain({ groupBy, hostId }: Series): boolean {
  return groupBy === "day" && hostId === null;
}

/**
 * Months that were not read yet, that the window touched when they were read last, or that moved: from the first that
 * the mirror holds or `--since` names, else from the first day there is.
 * @param points each day's, by its name; none where nobody asked
 */
function dueMonths(
  run: SyncRun,
  series: Series,
  points: ReadonlyMap<string, Json> = new Map(),
  moved: readonly string[] = [],
): Month[] {
  const { mirror, now, options } = run;
  const covered = readCoverage(mirror, coverageName(run, series));
  const [firstDay] = [...points.keys()].sort();
  const { full, since, until = now, windowMs } = options;
  const mirrored = covered[0]?.from ?? Number.POSITIVE_INFINITY;
  const isAll = full || covered.length === 0;
  const known = isAll && firstDay !== undefined ? Date.parse(firstDay) : Number.POSITIVE_INFINITY;
  // What a clock that was ahead has read is not believed to be of that time.
  const readAt = ({ from, to }: Range) =>
    covered.find((one) => one.from <= from && one.to >= to && one.readAt <= now)?.readAt ?? 0;
  // What is dated before 1970 is a mistake: no months are asked for because of it.
  return monthsOf({ from: Math.max(0, Math.min(mirrored, since ?? known)), to: now })
    .filter((one) => {
      const isMoved = moved.includes(one.month);
      const isAsked = one.from <= until && one.to >= (since ?? one.to);
      // What is known to differ is read, whatever was asked for.
      if (!isAsked) return isMoved && covered.some((read) => touches(read, one));
      return isMoved || full || since !== undefined || readAt(one) - windowMs <= one.to;
    })
    .map((one) => ({ ...one, ...series }));
}

/** Mirrored months of which some day came, or is no longer what it was. @param points each day's, by its name */
function* movedMonths(
  { mirror, resource }: SyncRun,
  points: ReadonlyMap<string, Json>,
): Generator<void, string[]> {
  const moved = new Set<string>();
  const months = new Set<string>();
  const mirrored = new Set<string>();
  for (const { key, value } of presentRecords(mirror, resource.name, "/day/#0")) {
    const days = valueAt(value, ["timeseries"]);
    const month = key.slice(0, 7);
    months.add(month);
    for (const point of Array.isArray(days) ? (days as Json[]) : []) {
      const day = String(valueAt(point, ["date"]));
      // An answer may have zeros for days that nobody asked for.
      if (!day.startsWith(month)) continue;
      mirrored.add(day);
      const now = points.get(day) ?? null;
      if (now === null ? !isIdle(point) : !sameJson(now, point)) moved.add(month);
    }
    yield;
  }
  for (const [day, point] of points) {
    const month = day.slice(0, 7);
    if (months.has(month) && !mirrored.has(day) && !isIdle(point)) moved.add(month);
  }
  return [...moved];
}

/** A day on which nothing happened: the API may leave it out, or give zeros. */
function isIdle(point: Json): boolean {
  return !Object.values(point ?? {}).some((figure) => Number(figure));
}

async function ask({ api, resource, signal }: SyncRun, month: Month): Promise<Answer> {
  const { from, to, groupBy, hostId } = month;
  const range = { start_date: formatInstant(from), end_date: formatInstant(to) };
  const query = { ...resource.query, ...range, group_by: groupBy, host_id: hostId ?? undefined };
  const answer = await api.get(resource.path, query, { scope: resource.scope, signal });
  const summary = valueAt(answer.data, ["summary"]);
  if (typeof summary !== "object" || summary === null || !Array.isArray(valueAt(answer.data, ["timeseries"])))
    throw new UnexpectedAnswer(
      `The API's answer to ${resource.path} has no \`summary\` or no \`timeseries\`.`,
    );
  return answer;
}

function* writeMonth(run: SyncRun, month: Month, { data, json, askedAt }: Answer): Generator<void> {
  const { mirror, row, store } = run;
  const { from, to, groupBy, hostId } = month;
  const [start, end] = [dayOf(from), dayOf(to)];
  const { added, changed } = yield* store.write([{ json, value: data }], {
    readAt: formatInstant(askedAt),
    context: { period_start: start, period_end: end, group_by: groupBy, host_id: hostId },
    keyPrefix: `${start}/${groupBy}/${hostId ?? ""}`,
    touch: true,
  });
  const read = { from, to: Math.min(to, askedAt), readAt: askedAt, runId: row.run_id };
  recordCoverage(mirror, coverageName(run, month), read);
  // What else was read of it is no longer so.
  if (isPlain(month) && added + changed > 0) ageParts(mirror, run.resource.name, month, row.run_id);
}
