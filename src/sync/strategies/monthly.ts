import type { Answer } from "../../api/client.js";
import { ConfigurationError, UnexpectedAnswer } from "../../errors.js";
import { monthsOf, type Range } from "../../ranges.js";
import { presentKeys, presentValues, sameJson, valueAt } from "../../records/index.js";
import type { Json } from "../../resources/types.js";
import { readCoverage, recordCoverage } from "../../state/index.js";
import { dayMs, formatInstant } from "../../times.js";
import { inOrder } from "../ask.js";
import { askPoints } from "../figures.js";
import { type PlanStep, progressed, type StrategyRun, type SyncRun } from "../run.js";

/**
 * One answer a calendar month: unique counts do not add up over days, so a month's summary must be asked for as such.
 * A run reads the months that the window touches, and older ones whose days are no longer what they were: late orders
 * and the filtering of bots restate the past.
 */
export const monthly: StrategyRun = {
  async plan(run) {
    const series = seriesOf(run);
    const months = series.reduce((sum, one) => sum + dueMonths(run, one, firstKnown(run, one)).length, 0);
    const steps: PlanStep[] = [
      { what: "each day's clicks, to learn which months moved", requests: 1, open: true },
    ];
    return months > 0 ? [{ what: `${months} months`, requests: months }, ...steps] : steps;
  },

  async run(run) {
    const { reporter, resource, options } = run;
    const { strategy } = resource;
    if (strategy.kind !== "monthly") return;
    const { days: points } = await askPoints(run, strategy.figures);
    const [first] = [...points.keys()].sort();
    const series = seriesOf(run);
    const due = series.map((one) => {
      const known = firstKnown(run, one) ?? (first === undefined ? null : Date.parse(first));
      const moved = one.groupBy === "day" && one.hostId === null ? movedMonths(run, points) : [];
      return { one, months: dueMonths(run, one, known, moved) };
    });
    const requests = due.reduce((sum, { months }) => sum + months.length, 0);
    if (options.perHost) reporter.note(`${resource.name}: ${series.length} hosts, ${requests} requests`);
    for (const { one, months } of due) await readMonths(run, one, months);
  },
};

/** What is counted: all hosts or one, in buckets of a day, a week or a month. */
interface Series {
  groupBy: string;
  hostId: string | null;
}

type Month = ReturnType<typeof monthsOf>[number];

/** Older months that a run reads again because their days moved, those read longest ago first. */
const mostMoved = 12;

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
function coverageName({ resource }: SyncRun, { groupBy, hostId }: Series): string {
  return groupBy === "day" && hostId === null ? resource.name : `${resource.name}/${groupBy}/${hostId ?? ""}`;
}

/** The first month that the mirror holds, or that `--since` names. */
function firstKnown(run: SyncRun, series: Series): number | null {
  const { mirror, options } = run;
  if (options.since !== undefined) return options.since;
  return options.full ? null : (readCoverage(mirror, coverageName(run, series))[0]?.from ?? null);
}

/** Months from `first` to now that were not read yet, that the window touched when they were read last, or that moved. */
function dueMonths(
  run: SyncRun,
  series: Series,
  first: number | null,
  moved: readonly string[] = [],
): Month[] {
  if (first === null) return [];
  const { mirror, now, options } = run;
  const covered = readCoverage(mirror, coverageName(run, series));
  const readAt = ({ from, to }: Range) => covered.find((one) => one.from <= from && one.to >= to)?.readAt;
  const older = monthsOf({ from: first, to: now })
    .filter(({ month }) => moved.includes(month))
    .sort((a, b) => (readAt(a) ?? 0) - (readAt(b) ?? 0))
    .slice(0, mostMoved)
    .map(({ month }) => month);
  return monthsOf({ from: first, to: Math.min(options.until ?? now, now) }).filter((month) => {
    if (options.full || options.since !== undefined || older.includes(month.month)) return true;
    return (readAt(month) ?? Number.NEGATIVE_INFINITY) - options.windowMs <= month.to;
  });
}

/** Mirrored months of which some day is no longer what it was. @param points each day's, by its name */
function movedMonths({ mirror, resource }: SyncRun, points: ReadonlyMap<string, Json>): string[] {
  const moved = new Set<string>();
  for (const { key, value } of presentValues(mirror, resource.name, "/day/#0")) {
    const days = valueAt(value, ["timeseries"]);
    for (const point of Array.isArray(days) ? (days as Json[]) : []) {
      const day = String(valueAt(point, ["date"]));
      if (!sameJson(points.get(day) ?? null, point)) moved.add(key.slice(0, 7));
    }
  }
  return [...moved];
}

async function readMonths(run: SyncRun, series: Series, months: readonly Month[]): Promise<void> {
  const { now, progress, row } = run;
  let left = months.length;
  await inOrder(
    months,
    (month) => ask(run, series, month),
    (answer, month) => {
      row.rows_read += 1;
      progress.rows += 1;
      writeMonth(run, series, month, answer);
      left -= 1;
      progressed(run, left);
    },
  );
  const since = months[0] && formatInstant(months[0].from);
  if (since !== undefined && (row.since === null || since < row.since)) row.since = since;
  row.until = formatInstant(now);
}

async function ask(
  { api, resource, signal }: SyncRun,
  { groupBy, hostId }: Series,
  month: Month,
): Promise<Answer> {
  const range = { start_date: formatInstant(month.from), end_date: formatInstant(month.to) };
  const query = { ...resource.query, ...range, group_by: groupBy, host_id: hostId ?? undefined };
  const answer = await api.get(resource.path, query, { scope: resource.scope, signal });
  const summary = valueAt(answer.data, ["summary"]);
  if (typeof summary !== "object" || summary === null || !Array.isArray(valueAt(answer.data, ["timeseries"])))
    throw new UnexpectedAnswer(
      `The API's answer to ${resource.path} has no \`summary\` or no \`timeseries\`.`,
    );
  return answer;
}

function writeMonth(run: SyncRun, series: Series, month: Month, { data, json, receivedAt }: Answer): void {
  const { mirror, row, store } = run;
  const start = formatInstant(month.from).slice(0, 10);
  const end = formatInstant(month.to + 1 - dayMs).slice(0, 10);
  mirror.db.transaction(() => {
    const written = store.write([{ json, value: data }], {
      readAt: formatInstant(receivedAt),
      context: { period_start: start, period_end: end, group_by: series.groupBy, host_id: series.hostId },
      keyPrefix: `${start}/${series.groupBy}/${series.hostId ?? ""}`,
      touch: true,
    });
    row.rows_new += written.added;
    row.rows_changed += written.changed;
    recordCoverage(mirror, coverageName(run, series), {
      from: month.from,
      to: Math.min(month.to, receivedAt),
      readAt: receivedAt,
      runId: row.run_id,
    });
  })();
}
