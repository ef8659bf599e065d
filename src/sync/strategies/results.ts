import { Incomplete, NotFound } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { formatInstant } from "../../lib/times.js";
import { isPresent, noteDetailed, openRecords, presentDetails } from "../../records/index.js";
import type { Json, Resource } from "../../resources/types.js";
import { askEach, type Parent } from "../ask-each.js";
import { readList, whyIncomplete } from "../list.js";
import { guardRemovals } from "../removals.js";
import type { SyncRun } from "../run.js";

/**
 * Reads details that are records of their own: the results of each survey. They are replaced per survey, in one
 * transaction; those of a survey that is gone are removed.
 */
export async function syncResults(
  run: SyncRun,
  due: readonly Parent[],
  pathOf: (id: string) => string,
  { resource, parent }: { resource: Resource; parent: string },
): Promise<void> {
  const { clock, mirror, reporter, row } = run;
  const { name } = run.resource;
  const store = openRecords(mirror, resource, { run: row, reporter, coverage: [] });
  let notFound = 0;

  function replace(survey: Parent, results: readonly Json[], readAt: string): void {
    const context = { [parent]: survey.askBy };
    const ids = store.write(results, { readAt, context, keyPrefix: `${survey.key}/` });
    const before = presentDetails(mirror, resource.name, parent).get(survey.askBy) ?? [];
    const gone = before.filter((id) => !ids.includes(id));
    guardRemovals(run, gone.length, gone.length + ids.length);
    store.remove(gone, readAt);
    noteDetailed(mirror, survey.id, readAt);
  }

  const orphans = [...presentDetails(mirror, resource.name, parent)].flatMap(([survey, ids]) =>
    isPresent(mirror, name, survey) ? [] : ids,
  );
  if (orphans.length > 0) mirror.transaction(() => store.remove(orphans, formatInstant(clock.now())));
  await askEach(run, due, async (survey) => {
    const readAt = formatInstant(clock.now());
    const path = pathOf(survey.askBy);
    const list = await readList({ ...run, resource }, { path }).catch((error: unknown) => {
      if (error instanceof NotFound) return null;
      throw error;
    });
    if (list === null) notFound += 1;
    else if (!list.isComplete)
      throw new Incomplete(`${path} ${whyIncomplete(list)}.`, { hint: "run the same command again" });
    const results = [...(list?.records.values() ?? [])].map(({ record }) => record);
    mirror.transaction(() => replace(survey, results, readAt));
  });
  if (notFound > 0)
    reporter.note(`${name}: the API answers 404 for the results of ${counted(notFound, "survey")}`);
}
