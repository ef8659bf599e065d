import type { Answer } from "../../api/client.js";
import { ConfigurationError, UnexpectedAnswer } from "../../errors.js";
import { presentKeys } from "../../records/read.js";
import { valueAt } from "../../records/values.js";
import { readCoverage, recordCoverage } from "../../state/coverage.js";
import { dayMs, formatInstant } from "../../times.js";
import type { StrategyRun, SyncContext } from "../context.js";
import { inOrder } from "../pool.js";

/**
 * One answer a calendar month: unique counts do not add up over days, so a month's summary must be asked for as
 * such. The first run asks for the whole range once, to learn where it begins; later runs re-read the months that
 * the window touches.
 */
export const monthly: StrategyRun = {
  async plan(context) {
    const series = seriesOf(context);
    const months = series.reduce(
      (sum, one) => sum + (monthsToRead(context, one, firstKnown(context, one))?.length ?? 0),
      0,
    );
    const unknown = series.filter((one) => firstKnown(context, one) === null).length;
    return [
      ...(months > 0 ? [{ what: `${months} months`, requests: months }] : []),
      ...(unknown > 0
        ? [
            {
              what: "the whole range, to learn where it begins; then its months",
              requests: unknown,
              open: true,
            },
          ]
        : []),
    ];
  },

  async run(context) {
    const series = seriesOf(context);
    if (context.options.perHost) context.reporter.note(priceOf(context, series));
    for (const one of series) await readSeries(context, one);
  },
};

/** What is counted: all hosts or one, in buckets of a day, a week or a month. */
interface Series {
  groupBy: string;
  hostId: string | null;
}

/** Milliseconds: a calendar month's first instant and its last. */
interface Month {
  start: number;
  end: number;
}

function seriesOf({ mirror, options }: SyncContext): Series[] {
  const ids = options.perHost ? presentKeys(mirror, "roster", "host.id") : options.hosts;
  if (options.perHost && ids.length === 0)
    throw new ConfigurationError("The mirror holds no roster, so there are no hosts to ask for.", {
      hint: "run `brandapi sync roster` first",
    });
  const hosts = ids.length > 0 ? ids : [null];
  return hosts.map((hostId) => ({ groupBy: options.groupBy, hostId }));
}

/** What `--per-host` costs, said before it is spent. */
function priceOf(context: SyncContext, series: readonly Series[]): string {
  const longest = readCoverage(context.mirror, context.resource.name)[0]?.from;
  const requests = series.reduce((sum, one) => {
    const first = firstKnown(context, one);
    return (
      sum + (first === null ? 1 : 0) + monthsToRead(context, one, first ?? longest ?? context.now).length
    );
  }, 0);
  return `${context.resource.name}: ${series.length} hosts, at most ${requests} requests`;
}

/** Coverage is kept a series; the plain one is the resource's own. */
function coverageName({ resource }: SyncContext, { groupBy, hostId }: Series): string {
  return groupBy === "day" && hostId === null ? resource.name : `${resource.name}/${groupBy}/${hostId ?? ""}`;
}

async function readSeries(context: SyncContext, series: Series): Promise<void> {
  const first = firstKnown(context, series) ?? (await askForBeginning(context, series));
  if (first === null) return;
  const months = monthsToRead(context, series, first);
  const { progress, run, task } = context;
  const total = progress.pages + months.length;
  await inOrder(
    months,
    ({ start, end }) =>
      ask(context, series, {
        start_date: formatInstant(start),
        end_date: formatInstant(end),
        group_by: series.groupBy,
      }),
    (answer, month) => {
      progress.pages += 1;
      run.rows_read += 1;
      writeMonth(context, series, month, answer);
      task.update({ done: progress.pages, total, rows: run.rows_read });
    },
  );
  const oldest = months[0];
  if (oldest && (run.since === null || formatInstant(oldest.start) < run.since))
    run.since = formatInstant(oldest.start);
  run.until = formatInstant(context.now);
}

/** The first month that the mirror holds, or that `--since` names. */
function firstKnown(context: SyncContext, series: Series): number | null {
  if (context.options.since !== undefined) return context.options.since;
  if (context.options.full) return null;
  return readCoverage(context.mirror, coverageName(context, series))[0]?.from ?? null;
}

async function askForBeginning(context: SyncContext, series: Series): Promise<number | null> {
  const answer = await ask(context, series, { group_by: "month" });
  const points = valueAt(answer.data, ["timeseries"]);
  const dates = (Array.isArray(points) ? points : []).map((point) =>
    Date.parse(String(valueAt(point, ["date"]))),
  );
  const first = Math.min(...dates.filter(Number.isFinite));
  return Number.isFinite(first) ? first : null;
}

/** Months from `first` to now that were not read yet, or that the window touched when they were read last. */
function monthsToRead(context: SyncContext, series: Series, first: number | null): Month[] {
  if (first === null) return [];
  const { now, options } = context;
  const spans = readCoverage(context.mirror, coverageName(context, series));
  const until = Math.min(options.until ?? now, now);
  return calendarMonths(first, until).filter(({ start, end }) => {
    if (options.full || options.since !== undefined) return true;
    const span = spans.find(({ from, to }) => from <= start && to >= end);
    return !span || span.readAt - options.windowMs <= end;
  });
}

/** The calendar months (UTC) that a range touches, oldest first. */
export function calendarMonths(from: number, to: number): Month[] {
  const date = new Date(from);
  const months: Month[] = [];
  for (let year = date.getUTCFullYear(), month = date.getUTCMonth(); Date.UTC(year, month) <= to; month += 1)
    months.push({ start: Date.UTC(year, month), end: Date.UTC(year, month + 1) - 1 });
  return months;
}

async function ask(
  { api, resource, signal }: SyncContext,
  { hostId }: Series,
  query: Record<string, string>,
): Promise<Answer> {
  const answer = await api.get(
    resource.path,
    { ...resource.query, ...query, host_id: hostId ?? undefined },
    { scope: resource.scope, signal },
  );
  const summary = valueAt(answer.data, ["summary"]);
  if (typeof summary !== "object" || summary === null || !Array.isArray(valueAt(answer.data, ["timeseries"])))
    throw new UnexpectedAnswer(
      `The API's answer to ${resource.path} has no \`summary\` or no \`timeseries\`.`,
    );
  return answer;
}

function writeMonth(context: SyncContext, series: Series, month: Month, answer: Answer): void {
  const { mirror, run, store } = context;
  const start = formatInstant(month.start).slice(0, 10);
  const end = formatInstant(month.end + 1 - dayMs).slice(0, 10);
  mirror.db.transaction(() => {
    const written = store.write([{ json: answer.json, value: answer.data }], {
      readAt: formatInstant(answer.receivedAt),
      context: { period_start: start, period_end: end, group_by: series.groupBy, host_id: series.hostId },
      keyPrefix: `${start}/${series.groupBy}/${series.hostId ?? ""}`,
      touch: true,
    });
    run.rows_new += written.added;
    run.rows_changed += written.changed;
    recordCoverage(mirror, coverageName(context, series), {
      from: month.start,
      to: Math.min(month.end, answer.receivedAt),
      readAt: answer.receivedAt,
      runId: run.run_id,
    });
  })();
}
