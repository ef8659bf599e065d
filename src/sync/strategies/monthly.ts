import { UnexpectedAnswer } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { dayOf } from "../../lib/ranges.js";
import { formatInstant } from "../../lib/times.js";
import { valueAt } from "../../records/index.js";
import type { Monthly } from "../../resources/types.js";
import { recordCoverage } from "../../state/index.js";
import { askPoints } from "../figures.js";
import { progressed, type StrategyRun, type SyncRun } from "../run.js";
import { dueMonths, isPlain, type Month, seriesOf } from "./months.js";

/**
 * One answer per calendar month, because unique counts do not add up over days. Late orders and the filtering of bots
 * restate the past: a month whose days are not the mirror's is read again.
 */
export const monthly: StrategyRun<Monthly> = {
  async plan(run) {
    // Nobody asks for the points yet: the mirror's oldest month stands for the first day that has one.
    const oldest = run.state.coverage()[0]?.from ?? run.now;
    const points = new Map([[dayOf(oldest), null]]);
    const requests = seriesOf(run).flatMap((series) => dueMonths(run, series, points)).length;
    const days = { what: "each day's clicks, to learn which months moved", requests: 1, open: true };
    return requests > 0 ? [{ what: counted(requests, "month"), requests }, days] : [days];
  },

  async run(run) {
    const { mirror, now, options, resource, row, state } = run;
    const series = seriesOf(run);
    const days = await askPoints(run, resource.strategy.figures);
    if (series.some(isPlain)) mirror.transaction(() => state.setFloor(floorOf(run)));
    else run.isPartial = true;
    const due = series.flatMap((one) => dueMonths(run, one, days));
    if (options.perHost)
      run.reporter.note(
        `${resource.name}: ${counted(series.length, "host")}, ${counted(due.length, "request")}`,
      );
    for (const [index, month] of due.entries()) {
      await readMonth(run, month);
      progressed(run, 1, due.length - index - 1);
    }
    if (due[0]) row.since = formatInstant(Math.min(...due.map(({ from }) => from)));
    row.until = formatInstant(Math.min(now, options.until ?? now));
  },
};

/** Returns the oldest date that was ever asked for, this run included. */
function floorOf({ options, state }: SyncRun): number {
  const { full, since } = options;
  if (full) return Number.NEGATIVE_INFINITY;
  return Math.min(since ?? Number.POSITIVE_INFINITY, state.floor() ?? since ?? Number.NEGATIVE_INFINITY);
}

/** Reads one month. Source: the API document, "2. GET /analytics/clicks". */
async function readMonth(run: SyncRun, { from, to, groupBy, hostId }: Month): Promise<void> {
  const { api, mirror, resource, row, signal, store } = run;
  const range = { start_date: formatInstant(from), end_date: formatInstant(to) };
  const query = { ...resource.query, ...range, group_by: groupBy, host_id: hostId ?? undefined };
  const { data, askedAt } = await api.get(resource.path, query, { scope: resource.scope, signal });
  const summary = valueAt(data, ["summary"]);
  if (typeof summary !== "object" || summary === null || !Array.isArray(valueAt(data, ["timeseries"])))
    throw new UnexpectedAnswer(
      `The API's answer to ${resource.path} has no \`summary\` or no \`timeseries\`.`,
    );
  const [start, end] = [dayOf(from), dayOf(to)];
  mirror.transaction(() => {
    store.write([data], {
      readAt: formatInstant(askedAt),
      context: { period_start: start, period_end: end, group_by: groupBy, host_id: hostId },
      keyPrefix: `${start}/${groupBy}/${hostId ?? ""}`,
      touch: true,
    });
    if (isPlain({ groupBy, hostId }))
      recordCoverage(mirror, resource.name, {
        from,
        to: Math.min(to, askedAt),
        readAt: askedAt,
        runId: row.run_id,
      });
  });
}
