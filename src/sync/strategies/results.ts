import { counted } from "../../lib/counted.js";
import { formatInstant } from "../../lib/times.js";
import { noteDetailed, presentDetails } from "../../records/index.js";
import type { Resource } from "../../resources/types.js";
import { askEach } from "../ask-each.js";
import { readListOf, whyNotWhole } from "../list.js";
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
  const { clock, mirror, reporter, row, shortfalls } = run;
  const store = openStore(run, resource, row, { coverage: [] });

  function replace(survey: Parent, ids: ReadonlySet<number>, at: string): void {
    const gone = (presentDetails(mirror, resource.name, parent).get(survey.askBy) ?? []).filter(
      (id) => !ids.has(id),
    );
    guardRemovals(run, gone.length, gone.length + ids.size);
    store.remove(gone, at);
    noteDetailed(mirror, survey.id, at);
  }

  const lost = await askEach(run, due, async (survey) => {
    const list = await readListOf({ ...run, resource }, { ...resource, path: path(survey.askBy) });
    if (!list.isWhole) return void shortfalls.push(`${path(survey.askBy)} ${whyNotWhole(list)}`);
    const readAt = formatInstant(list.askedAt);
    mirror.transaction(() => {
      const context = { [parent]: survey.askBy };
      const { ids } = store.write(list.items, { readAt, context, keyPrefix: `${survey.key}/` });
      replace(survey, new Set(ids), readAt);
    });
  });
  const at = formatInstant(clock.now());
  mirror.transaction(() => {
    for (const survey of lost) replace(survey, new Set(), at);
  });
  if (lost.length > 0)
    reporter.note(
      `${run.resource.name}: the API answers 404 for the results of ${counted(lost.length, "survey")}`,
    );
  removeOrphans(run, store, resource, parent, at);
}

/** Removes the results of surveys that are no longer there. */
function removeOrphans(
  { mirror, resource: { name } }: SyncRun,
  store: ReturnType<typeof openStore>,
  resource: Resource,
  parent: string,
  at: string,
): void {
  const there = mirror.db.prepare(
    "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  const gone = [...presentDetails(mirror, resource.name, parent)].flatMap(([key, ids]) =>
    there.get(name, key) ? [] : ids,
  );
  if (gone.length > 0) mirror.transaction(() => store.remove(gone, at));
}
