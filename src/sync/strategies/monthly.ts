import type { Answer } from "../../api/client.js";
import { type BrandapiError, NotFound, RequestRefused, UnexpectedAnswer } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { inParts } from "../../lib/in-parts.js";
import { dayOf } from "../../lib/ranges.js";
import { dayMs, formatInstant, instantOrNull } from "../../lib/times.js";
import { isSetBack } from "../../mirror/index.js";
import { valueAt } from "../../records/index.js";
import type { Json, Monthly } from "../../resources/types.js";
import { ageParts, forgetAhead, isAhead, readCoverage, recordCoverage } from "../../state/index.js";
import { askPoints, dayNameOf } from "../figures.js";
import { transactInParts } from "../former.js";
import { inOrder } from "../in-order.js";
import { refuseImplausible } from "../removals.js";
import { doubtClock, progressed, type StrategyRun, type SyncRun, warnOfGaps } from "../run.js";
import {
  begunAtOf,
  coverageName,
  dueMonths,
  floorOf,
  isPlain,
  type Month,
  progressOf,
  runningMonth,
  type Series,
  seriesOf,
  unreadMonths,
  type Wanted,
} from "./due-months.js";
import { compareMonths, contradicted, isIdle } from "./moved-months.js";

/**
 * One answer a calendar month: unique counts do not add up over days, so a month's summary must be asked for as such.
 * A run reads the months that the window touches, and older ones whose days are no longer what they were: late orders
 * and the filtering of bots restate the past.
 */
export const monthly: StrategyRun<Monthly> = {
  async plan(run) {
    // Nobody asks for the days yet: the mirror's first month stands for the first one that there is.
    const [oldest] = readCoverage(run.mirror, run.resource.name);
    const points = new Map(oldest ? [[dayOf(oldest.from), null]] : []);
    const wanted = { floor: floorOf(run), points, moved: [] };
    const requests = seriesOf(run).flatMap((one) => dueMonths(run, one, wanted).months).length;
    const days = { what: "each day's clicks, to learn which months moved", requests: 1, open: true };
    return requests > 0 ? [{ what: counted(requests, "month"), requests }, days] : [days];
  },

  async run(run) {
    const { mirror, now, options, reporter, resource, row, state } = run;
    const floor = floorOf(run);
    const isDoubted = isSetBack(mirror, row) && (floor > now || isAhead(mirror, resource.name, now));
    if (isDoubted) doubtClock(run, "months that were asked for are", "all months");
    else mirror.transaction(() => forgetAhead(mirror, resource.name, now));
    const { days: points } = await askPoints(run, resource.strategy.figures);
    const { moved, known, gone } = await inParts(compareMonths(run, points), run);
    const what = "days that have clicks here";
    // One day can be a robot's.
    if (known > 1) refuseImplausible(run, { removals: gone, present: known, left: known - gone, what });
    const wanted = { floor, points, moved };
    const series = seriesOf(run);
    const each = series.map((one) => dueMonths(run, one, wanted));
    const found = each.flatMap(({ months }) => months);
    // That there is no click at all is not believed of one answer.
    const isPart = options.since !== undefined || options.until !== undefined;
    const due = found.length > 0 || isPart ? found : series.flatMap((one) => runningMonth(now, one));
    const isOwn = series.some(isPlain);
    // A series of its own leaves the mirror's months as they are.
    if (!isOwn) run.isPartial = true;
    else if (state.floor() === null) mirror.transaction(() => state.setGoal(floor, state.goal()));
    if (options.full) await transactInParts(mirror, noteFull(run, series), run);
    if (options.perHost)
      reporter.note(`${resource.name}: ${counted(series.length, "host")}, ${counted(due.length, "request")}`);
    const here = each.reduce((sum, one) => sum + one.here, 0);
    if (here > 0)
      reporter.note(`${resource.name}: goes on with a stopped read: ${counted(here, "month")} already here`);
    await readMonths(run, due);
    if (options.full) await transactInParts(mirror, noteFull(run, series, true), run);
    if (isOwn) {
      // What lies below an earlier one is claimed when it was read. A stopped `--full` counts for a day.
      const isOver = begunAtOf(run, { groupBy: "day", hostId: null }) === now;
      mirror.transaction(() => state.setGoal(floor, isOver ? null : state.goal()));
      await tellDoubts(run, wanted, due);
    }
    if (due.length > 0) row.since = formatInstant(Math.min(...due.map(({ from }) => from)));
    row.until = formatInstant(Math.min(now, options.until ?? now));
  },
};

/** Notes since when all of each series is being read, or that it was. */
function* noteFull(run: SyncRun, all: readonly Series[], isDone = false): Generator<void> {
  for (const series of all) {
    const { floor, setGoal } = progressOf(run, series);
    setGoal(floor(), isDone ? null : { ranges: [], begunAt: begunAtOf(run, series) });
    yield;
  }
}

/** One host that the API refuses keeps no other out: its months are left unread, and the run says so. */
async function readMonths(run: SyncRun<Monthly>, months: readonly Month[]): Promise<void> {
  const refused = new Map<string, BrandapiError>();
  let left = months.length;
  const askUnlessRefused = async (month: Month) => {
    const { hostId } = month;
    if (hostId === null) return await ask(run, month);
    if (refused.has(hostId)) return null;
    try {
      return await ask(run, month);
    } catch (error) {
      if (!(error instanceof RequestRefused || error instanceof NotFound)) throw error;
      refused.set(hostId, error);
      return null;
    }
  };
  await inOrder(months, askUnlessRefused, async (answer, month) => {
    if (answer) await transactInParts(run.mirror, writeMonth(run, month, answer), run);
    left -= 1;
    progressed(run, answer ? 1 : 0, left);
  });
  const [first] = refused;
  if (!first) return;
  if (months.every(({ hostId }) => hostId !== null && refused.has(hostId))) throw first[1];
  const others = refused.size > 1 ? ` (and ${refused.size - 1} more)` : "";
  run.shortfalls.push(`host ${first[0]}${others}, no longer there perhaps: ${first[1].message}`);
}

/** What is left unread, and what the answers say against each other. */
async function tellDoubts(run: SyncRun<Monthly>, wanted: Wanted, due: readonly Month[]): Promise<void> {
  const { now, reporter, resource, row, shortfalls } = run;
  const gaps = unreadMonths(run, wanted);
  row.covered_from = instantOrNull(Math.max(wanted.floor, ...gaps.map(({ to }) => to + 1)));
  warnOfGaps(run, gaps);
  if (due.length === 0 && !run.options.full) {
    run.isPartial = true;
    reporter.note(`${resource.name}: nothing up to then is left to read: \`--since\` reads it again`);
  }
  const differing = async (points: Wanted["points"]) => {
    const months = await inParts(contradicted(run, points, dayOf(now - dayMs)), run);
    return due.filter((one) => isPlain(one) && months.includes(one.month));
  };
  const first = await differing(wanted.points);
  if (first.length === 0) return;
  // Something may have come between the two answers: both are asked for again, one right after the other.
  await readMonths(run, first);
  run.points.clear();
  const again = await differing((await askPoints(run, resource.strategy.figures)).days);
  if (again.length > 0)
    shortfalls.push(
      `the API's days of ${again.map(({ month }) => month).join(", ")} are other ones where it is asked for the month than for all days`,
    );
}

/** @throws UnexpectedAnswer also for days of other months: a day aside, which is as far as time zones go */
async function ask({ api, resource, signal }: SyncRun<Monthly>, month: Month): Promise<Answer> {
  const { from, to, groupBy, hostId } = month;
  const range = { start_date: formatInstant(from), end_date: formatInstant(to) };
  const query = { ...resource.query, ...range, group_by: groupBy, host_id: hostId ?? undefined };
  const answer = await api.get(resource.path, query, { scope: resource.scope, signal });
  const summary = valueAt(answer.data, ["summary"]);
  const points = valueAt(answer.data, ["timeseries"]);
  if (typeof summary !== "object" || summary === null || !Array.isArray(points))
    throw new UnexpectedAnswer(
      `The API's answer to ${resource.path} has no \`summary\` or no \`timeseries\`.`,
    );
  const isElsewhere = (day: number) => day < from - dayMs || day > to + dayMs;
  if (
    groupBy === "day" &&
    points.some(
      (one: Json) => !isIdle(one) && isElsewhere(Date.parse(dayNameOf(one, resource.strategy.figures))),
    )
  )
    throw new UnexpectedAnswer(
      `The API's answer to ${resource.path} for ${month.month} has clicks of other months.`,
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
