import { Incomplete, NotFound } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { formatInstant } from "../../lib/times.js";
import { noteDetailed, presentDetails, type RecordStore } from "../../records/index.js";
import type { Resource } from "../../resources/types.js";
import { askEach } from "../ask-each.js";
import { type List, readListOf, whyNotWhole } from "../list.js";
import { guardRemovals } from "../removals.js";
import type { SyncRun } from "../run.js";
import { openStore } from "../store.js";
import type { Parent } from "./details.js";

/**
 * Reads details that are records of their own: the results of each survey. They are replaced per survey, in one
 * transaction; those of a survey that is gone are removed.
 */
export async function syncResults(
  run: SyncRun,
  due: readonly Parent[],
  path: (id: string) => string,
  { resource, parent }: { resource: Resource; parent: string },
): Promise<void> {
  const { clock, mirror, reporter, row } = run;
  const store = openStore(run, resource, row, { coverage: [] });
  removeOrphans(run, store, resource, parent);
  let notFound = 0;

  /** Returns the results of a survey; none if the API answers 404. */
  async function ask(survey: Parent): Promise<List> {
    const askedAt = clock.now();
    try {
      return await readListOf({ ...run, resource }, { ...resource, path: path(survey.askBy) });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      notFound += 1;
      return { items: [], answers: [], total: 0, askedAt, distinct: 0, isWhole: true, isTooLong: false };
    }
  }

  function replace(survey: Parent, list: List): void {
    const context = { [parent]: survey.askBy };
    const readAt = formatInstant(list.askedAt);
    const { ids } = store.write(list.items, { readAt, context, keyPrefix: `${survey.key}/` });
    const before = presentDetails(mirror, resource.name, parent).get(survey.askBy) ?? [];
    const gone = before.filter((id) => !ids.includes(id));
    guardRemovals(run, gone.length, gone.length + ids.length);
    store.remove(gone, readAt);
    noteDetailed(mirror, survey.id, readAt);
  }

  await askEach(run, due, async (survey) => {
    const list = await ask(survey);
    if (!list.isWhole)
      throw new Incomplete(`${path(survey.askBy)} ${whyNotWhole(list)}.`, {
        hint: "run the same command again",
      });
    mirror.transaction(() => replace(survey, list));
  });
  if (notFound > 0)
    reporter.note(
      `${run.resource.name}: the API answers 404 for the results of ${counted(notFound, "survey")}`,
    );
}

/** Removes the results of surveys that are no longer there. */
function removeOrphans(
  { clock, mirror, resource: { name } }: SyncRun,
  store: RecordStore,
  resource: Resource,
  parent: string,
): void {
  const at = formatInstant(clock.now());
  const there = mirror.db.prepare(
    "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  const gone = [...presentDetails(mirror, resource.name, parent)].flatMap(([key, ids]) =>
    there.get(name, key) ? [] : ids,
  );
  if (gone.length > 0) mirror.transaction(() => store.remove(gone, at));
}
