import { addressPart } from "../../api/address.js";
import type { Answer } from "../../api/client.js";
import { UnexpectedAnswer } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { inParts } from "../../lib/in-parts.js";
import { formatInstant, minuteOf } from "../../lib/times.js";
import {
  idText,
  isPresent,
  listedRecord,
  noteOutdated,
  type Present,
  presentRecords,
  valueAt,
} from "../../records/index.js";
import type { Details, Json, JsonObject } from "../../resources/types.js";
import { transactInParts } from "../former.js";
import { askEach, type Detailed } from "../in-order.js";
import { freshMs } from "../plan.js";
import type { StrategyRun, SyncRun } from "../run.js";
import { keepBeside } from "./beside.js";
import { countAll, planOf, readAll } from "./full.js";

type DetailsRun = SyncRun<Details>;

/** Every page of the list, then one request for each record whose details can have changed. */
export const details: StrategyRun<Details> = {
  async plan(run) {
    const listed = await countAll(run);
    if (run.options.details === "none") return [planOf(listed)];
    const known = await inParts(readDetailed(run), run);
    const come = Math.max(0, (listed ?? 0) - known.length);
    const requests = known.filter(({ isDue }) => isDue).length + come;
    const which = run.options.details === "all" ? "" : " that are new, changed or still open";
    const step = { what: `details of ${requests}${which}`, requests };
    return [planOf(listed), ...(requests > 0 ? [step] : [])];
  },

  async run(run) {
    const { strategy } = run.resource;
    await readAll(run);
    if (run.options.details === "none") {
      run.isPartial = true;
      return;
    }
    const parents = await openDue(run);
    if (strategy.into === "merge") await mergeDetails(run, parents.due, strategy);
    else await keepBeside(run, parents, strategy.path, strategy.into);
    run.state.setGoal(Number.NEGATIVE_INFINITY, null);
  },
};

/**
 * Details take a request each. A run that is stopped before the last is gone on with, and one that is stopped every
 * time comes to all of them in turn: those read longest ago come first. Until they are read those are pending that may
 * be others by now: that nobody could read them stays known.
 */
async function openDue(run: DetailsRun): Promise<{ due: Detailed[]; others: Detailed[] }> {
  const { mirror, now, reporter, resource, state } = run;
  const stopped = state.goal();
  const begunAt = stopped && Math.abs(now - stopped.begunAt) <= freshMs ? stopped.begunAt : now;
  state.setGoal(Number.NEGATIVE_INFINITY, { ranges: [{ from: Number.NEGATIVE_INFINITY, to: now }], begunAt });
  const known = await inParts(readDetailed(run), run);
  const nameless = known.filter(({ askBy }) => askBy === null).length;
  if (nameless > 0)
    reporter.note(
      `${resource.name}: ${counted(nameless, "record")} without an id that more could be asked by`,
    );
  const readAt = ({ detailedAt }: Detailed) => Date.parse(detailedAt ?? "");
  // What a clock that was ahead has read was not read by the stopped run.
  const isFresh = (record: Detailed) =>
    stopped !== null && !record.pending && readAt(record) >= begunAt && readAt(record) <= now;
  const isDue = (record: Detailed) => record.isDue && !isFresh(record);
  const due = known.filter(isDue).sort((a, b) => ((a.detailedAt ?? "") < (b.detailedAt ?? "") ? -1 : 1));
  const fresh = known.filter((record) => record.isDue && isFresh(record)).length;
  if (fresh > 0)
    reporter.note(
      `${resource.name}: goes on with the read begun ${minuteOf(begunAt)}: the details of ${fresh} are already here`,
    );
  mirror.transaction(() => {
    for (const { id, isOpen } of due) if (isOpen) noteOutdated(mirror, id);
  });
  return { due, others: known.filter((record) => !isDue(record)) };
}

/** The mirrored records of a list, and what of their details is still to be read. */
function* readDetailed(run: DetailsRun): Generator<void, Detailed[]> {
  const { mirror, resource } = run;
  const known: Detailed[] = [];
  for (const record of presentRecords(mirror, resource.name)) {
    const { id, key, detailedAt, isOutdated } = record;
    const pending = detailedAt === null || isOutdated;
    const named = idText(resource, record.value);
    const askBy = named !== null && addressPart(named) !== null ? named : null;
    const isOpen = pending || isUnsettled(run, record);
    const isDue = askBy !== null && (isOpen || run.options.details === "all");
    known.push({ id, key, askBy, detailedAt, pending, isOpen, isDue });
    yield;
  }
  return known;
}

/** How many mirrored records have details that were not read since they came or changed. */
export async function countUnread(run: DetailsRun): Promise<number> {
  const known = await inParts(readDetailed(run), run);
  return known.filter(({ askBy, pending }) => askBy !== null && pending).length;
}

/** Also where only what the list says makes it so: its details may have lagged behind. */
function isUnsettled({ mirror, resource }: DetailsRun, { id, value }: Present): boolean {
  const { strategy } = resource;
  if (strategy.open(value as JsonObject)) return true;
  return strategy.open({ ...(value as JsonObject), ...(listedRecord(mirror, id) as JsonObject | null) });
}

async function mergeDetails(
  run: DetailsRun,
  due: readonly Detailed[],
  { path, revised }: { path(id: string): string; revised?: string },
): Promise<void> {
  const { api, mirror, resource, shortfalls, signal, store } = run;
  const revisedAt = (value: Json) => Date.parse(String(revised && valueAt(value, [revised])));
  const named = (some: readonly Detailed[]) =>
    some.length === 1 ? some[0]?.key : `${some.length} ${resource.name}`;
  const stale: Detailed[] = [];
  const pathOf = ({ askBy }: Detailed) => path(askBy ?? "");
  const ask = (record: Detailed) => api.get(pathOf(record), {}, { scope: resource.scope, signal });
  async function take(answer: Answer, listed: Detailed): Promise<void> {
    const record = { json: answer.json, value: answer.data };
    if (store.keyOf(record, 0) !== listed.key)
      throw new UnexpectedAnswer(`The API's answer to ${pathOf(listed)} is another record.`);
    if (revisedAt(record.value) < revisedAt(listedRecord(mirror, listed.id))) {
      stale.push(listed);
      return;
    }
    const options = { readAt: formatInstant(answer.askedAt), isDetail: true };
    await transactInParts(mirror, store.write([record], options), run);
  }
  let lost = await askEach(run, due, ask, take);
  if (lost.length > 0 && shortfalls.length === 0) {
    // Gone since the list was read, or there without details: only the list can tell, and who has come meanwhile.
    await readAll(run);
    const again = new Set([...lost, ...stale.splice(0)].map(({ id }) => id));
    const isLeft = ({ askBy, id, pending }: Detailed) => askBy !== null && (pending || again.has(id));
    const known = await inParts(readDetailed(run), run);
    lost = await askEach(run, known.filter(isLeft), ask, take);
  }
  if (stale.length > 0) shortfalls.push(`the API's details of ${named(stale)} are older than its list`);
  const still = lost.filter(({ key }) => isPresent(mirror, resource.name, key));
  mirror.transaction(() => {
    for (const { id } of [...still, ...stale]) noteOutdated(mirror, id);
  });
  if (still.length > 0) shortfalls.push(`the API lists ${named(still)}, but answers 404 for the details`);
}
