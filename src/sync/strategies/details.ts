import { addressPart } from "../../api/index.js";
import { UnexpectedAnswer } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { formatInstant } from "../../lib/times.js";
import { idText, keyOf, listedRecord, type Present, presentRecords } from "../../records/index.js";
import type { Details, JsonObject } from "../../resources/types.js";
import { finishedRuns } from "../../state/index.js";
import { askEach, type Parent } from "../ask-each.js";
import { freshMs, type Reader, type SyncRun } from "../run.js";
import { countAll, planOf, readAll } from "./full.js";
import { syncResults } from "./results.js";

type DetailsRun = SyncRun<Details>;

/** Every page of the list, then one request for each record whose details can have changed. */
export const details: Reader<Details> = {
  async plan(run) {
    const listed = await countAll(run);
    const known = parentsOf(run);
    const requests = known.filter(({ isDue }) => isDue).length + Math.max(0, (listed ?? 0) - known.length);
    const step = { what: `details of ${counted(requests, "record")}`, requests };
    return [planOf(listed), ...(requests > 0 && run.options.details !== "none" ? [step] : [])];
  },

  async read(run) {
    const { options, resource } = run;
    await readAll(run);
    if (options.details === "none") {
      run.isPartial = true;
      return;
    }
    const { into, path } = resource.strategy;
    if (into === "merge") await mergeDetails(run, path);
    else await syncResults(run, dueParents(run), path, into);
  },
};

/** Returns the mirrored records of a list that details can be asked for, in the order in which they came. */
function parentsOf(run: DetailsRun): Parent[] {
  const { clock, mirror, options, resource } = run;
  const freshSince = formatInstant(Math.max(finishedRuns(mirror, resource.name).at, clock.now() - freshMs));
  const parents: Parent[] = [];
  for (const record of presentRecords(mirror, resource.name)) {
    const { id, key, detailedAt, isOutdated } = record;
    const askBy = idText(resource, record.value);
    if (askBy === null || addressPart(askBy) === null) continue;
    const isPending = detailedAt === null || isOutdated;
    const isOpen = options.details === "all" || isUnsettled(run, record);
    const isDue = isPending || (isOpen && detailedAt <= freshSince);
    parents.push({ id, key, askBy, detailedAt, isPending, isDue });
  }
  return parents;
}

/** Returns those whose details are to be read. A run that is stopped every time comes to all of them in turn. */
function dueParents(run: DetailsRun): Parent[] {
  const due = parentsOf(run).filter(({ isDue }) => isDue);
  return due.sort((a, b) => ((a.detailedAt ?? "") < (b.detailedAt ?? "") ? -1 : 1));
}

/** True if the details can change although the list's record does not. */
function isUnsettled({ mirror, resource }: DetailsRun, { id, value }: Present): boolean {
  const whole = value as JsonObject;
  const listed = listedRecord(mirror, id) as JsonObject | null;
  return resource.strategy.open(whole) || resource.strategy.open({ ...whole, ...listed });
}

async function mergeDetails(run: DetailsRun, path: (id: string) => string): Promise<void> {
  const ask = async (parent: Parent) => await askDetails(run, parent, path(parent.askBy));
  const lost = await askEach(run, dueParents(run), ask);
  if (lost > 0)
    run.shortfalls.push(`the API lists ${counted(lost, "record")}, but answers 404 for the details`);
}

async function askDetails(run: DetailsRun, parent: Parent, path: string): Promise<void> {
  const { api, mirror, resource, store } = run;
  const { data, askedAt } = await api.get(path, {}, resource.scope);
  if (keyOf(resource, data, 0) !== parent.key)
    throw new UnexpectedAnswer(`The API's answer to ${path} is another record.`);
  mirror.transaction(() => store.write([data], { readAt: formatInstant(askedAt), isDetail: true }));
}

/** Returns how many mirrored records have details that were not read since they came or changed. */
export function countPending(run: DetailsRun): number {
  return parentsOf(run).filter(({ isPending }) => isPending).length;
}
