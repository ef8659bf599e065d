import { AccessForbidden, Incomplete, Stopped } from "../errors.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { indexTables } from "../store/projection.js";
import { openRecords } from "../store/records.js";
import { blankRun, confirmedCoverage, type Outcome, type RunEnd, recordRun, wasRead } from "../store/runs.js";
import { SyncState } from "../store/sync-state.js";
import { unexpectedWarning } from "../store/unexpected-values.js";
import { startOfSecond } from "../util/ranges.js";
import { silentReporter } from "../util/reporter.js";
import { formatInstant, formatInstantOrNull } from "../util/times.js";
import { dated } from "./dated.js";
import { details } from "./details.js";
import { full } from "./full.js";
import { monthly } from "./monthly.js";
import { ranking } from "./ranking.js";
import { runLine } from "./run-line.js";
import {
  affectsAllResources,
  type PlanStep,
  type SyncRun,
  type SyncSession,
  type SyncStrategy,
} from "./session.js";

/** How each kind of resource is read. */
export const strategies: Record<Strategy["kind"], SyncStrategy> = {
  dated,
  details,
  full,
  monthly,
  snapshot: ranking,
} satisfies {
  [Kind in Strategy["kind"]]: SyncStrategy<Strategy & { kind: Kind }>;
} as Record<Strategy["kind"], SyncStrategy>;

/** Reads one resource into the mirror, and records the run however it ends: what ended it is in the result. */
export async function syncResource(session: SyncSession, resource: Resource, named = true): Promise<RunEnd> {
  const task = session.reporter.begin({ name: resource.name });
  let floor: string | null = null;
  let comparesTotals = true;
  const { run: row, error } = await recordRun(session, resource.name, {
    async work(row) {
      const run = openRun(session, resource, row, task);
      await strategies[resource.strategy.kind].read(run).catch((error: unknown) => {
        if (named || !(error instanceof AccessForbidden) || affectsAllResources(error)) throw error;
        const isKnown = row.rows_read > 0 || wasRead(session.mirror, resource.name);
        throw isKnown ? lostAccess(resource, error) : error;
      });
      indexTables(session.mirror, resource);
      if (run.incompleteReasons.length > 0) throw incomplete(resource, run.incompleteReasons);
      row.verified = !run.isPartial;
      comparesTotals = !lacksTotals(run);
      floor = formatInstantOrNull(run.state.floor() ?? Number.NEGATIVE_INFINITY);
      return "done";
    },
    outcomeOf: (error) => outcomeOf(error, named),
  });
  task.end(runLine(row, { floor, comparesTotals }));
  warnOfUnexpectedValues(session, resource);
  return { run: row, error };
}

/** Warns if the mirror has records of a resource with values of an unexpected type: on every run, not only the first. */
export function warnOfUnexpectedValues(
  { mirror, reporter }: Pick<SyncSession, "mirror" | "reporter">,
  resource: Resource,
): void {
  for (const { name } of [resource, detailsResource(resource) ?? []].flat()) {
    const warning = unexpectedWarning(mirror, name);
    if (warning !== null) reporter.warn(warning);
  }
}

/** Returns what a sync of this resource would do. */
export async function planResource(session: SyncSession, resource: Resource): Promise<PlanStep[]> {
  return await strategies[resource.strategy.kind].plan(openRun(session, resource));
}

/** Without a row nothing is recorded, without a task nothing is shown. */
export function openRun(
  session: SyncSession,
  resource: Resource,
  row = blankRun(resource.name, formatInstant(session.clock.now())),
  task = silentReporter.begin({ name: resource.name }),
): SyncRun {
  const { options } = session;
  const { since, until } = options;
  const state = new SyncState(session.mirror, resource.name);
  return {
    ...session,
    resource,
    row,
    task,
    state,
    now: startOfSecond(session.clock.now()) - 1,
    // The API shows no more of a date than its second, so a second is read whole or not at all.
    options: {
      ...options,
      since: since === undefined ? undefined : startOfSecond(since),
      until: until === undefined ? undefined : startOfSecond(until + 1) - 1,
    },
    dailyTotals: null,
    ignoresAmounts: false,
    responses: 0,
    isPartial: false,
    incompleteReasons: [],
    store: openRecords(session.mirror, resource, {
      run: row,
      reporter: session.reporter,
      coverage: confirmedCoverage(session.mirror, resource.name),
      lastSeen: (id) => state.missing.lastSeen(id),
    }),
  };
}

/** True if the API offers daily totals of a resource, and this run could not compare them. */
function lacksTotals({ dailyTotals, ignoresAmounts, resource: { strategy } }: SyncRun): boolean {
  return (
    strategy.kind === "dated" &&
    strategy.dailyTotals !== undefined &&
    (dailyTotals === null || ignoresAmounts)
  );
}

function outcomeOf(error: unknown, named: boolean): Outcome {
  if (error instanceof Stopped) return "stopped";
  if (error instanceof AccessForbidden && !named) return "skipped";
  return error instanceof Incomplete ? "incomplete" : "failed";
}

/** Returns the error of a resource that was read before, or in part, and that the key or the plan no longer allows. */
export function lostAccess({ name }: Resource, cause: AccessForbidden): Incomplete {
  const message = `${name} was read before, and is refused now: ${cause.message}`;
  return new Incomplete(message, { hint: cause.hint, cause });
}

function incomplete(resource: Resource, shortfalls: readonly string[]): Incomplete {
  const told = shortfalls.map((one) => one.replace(/\.$/, "")).join("; ");
  return new Incomplete(`${resource.name} is incomplete: ${told}.`, {
    hint: "what was read is kept; run the same command again",
  });
}
