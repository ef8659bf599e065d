import { counted } from "../../lib/counted.js";
import { everything } from "../../lib/ranges.js";
import { countListed } from "../counts.js";
import { removeMissing } from "../removals.js";
import { type PlanStep, pagesFor, type Reader, type SyncRun } from "../run.js";
import { syncList } from "../sync-list.js";

/** Every page, every time: the API has no filter that says what is new. */
export const full: Reader = {
  plan: async (run) => [planOf(await countAll(run))],
  read: readAll,
};

/** Returns how many records a list has; null if the API document shows no way to ask. */
export async function countAll(run: SyncRun): Promise<number | null> {
  return run.resource.pagination === "unknown" ? null : (await countListed(run, {})).total;
}

export function planOf(listed: number | null): PlanStep {
  return listed === null
    ? { what: "everything: its paging is not documented", requests: 1, open: true }
    : { what: `everything: ${counted(listed, "record")}`, requests: pagesFor(listed) };
}

/** Reads a whole list, and removes the records that are no longer on it. */
export async function readAll(run: SyncRun): Promise<void> {
  const { mirror, resource, row, state } = run;
  const shown = await syncList(run, `the list of ${resource.name}`, {}, everything);
  if (!shown) return;
  const range = { from: Number.NEGATIVE_INFINITY, to: shown.askedAt };
  mirror.transaction(() => state.cover({ ...shown, range }, everything));
  row.api_total = row.mirror_total = shown.ids.size;
  row.differing = 0;
  removeMissing(run);
}
