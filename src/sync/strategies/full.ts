import { whyNotWhole } from "../../api/list.js";
import { counted } from "../../lib/counted.js";
import { everything } from "../../lib/ranges.js";
import { countListed } from "../counts.js";
import { missTwice, removeMissing } from "../removals.js";
import { type PlanStep, pagesFor, type StrategyRun, type SyncRun } from "../run.js";
import { readUnknownList } from "../unknown-list.js";
import { type Listed, readWhole } from "../whole.js";

/** Every page, every time: the API has no filter that would tell what is new. */
export const full: StrategyRun = {
  async plan(run) {
    return [planOf(await countAll(run))];
  },

  async run(run) {
    await readAll(run);
  },
};

/** How many records a list has; null where the API document shows no way to ask. */
export async function countAll(run: SyncRun): Promise<number | null> {
  return run.resource.pagination === "unknown" ? null : await countListed(run, {});
}

export function planOf(listed: number | null): PlanStep {
  return listed === null
    ? { what: "everything: its paging is not documented", requests: 1, open: true }
    : { what: `everything: ${counted(listed, "record")}`, requests: pagesFor(listed) };
}

/** Reads a whole list, and removes who is gone: not before one more reading has missed them too. */
export async function readAll(run: SyncRun): Promise<void> {
  const { mirror, resource, row, state } = run;
  const read = async () => {
    const listed = await readListed(run);
    if (!listed) return null;
    const { askedAt, found } = listed;
    const proof = { range: everything, found, askedAt, runId: row.run_id };
    mirror.transaction(() => state.cover(proof, askedAt, null));
    return state.missing().map(({ id }) => id);
  };
  const first = await read();
  if (first && (await missTwice(run, `the list of ${resource.name}`, first, read))) await removeMissing(run);
}

/** Null when it says nothing of who is gone: the shortfalls say why. */
async function readListed(run: SyncRun): Promise<Listed | null> {
  const { resource, shortfalls } = run;
  if (resource.pagination === "unknown") return await readUnknownList(run);
  const reading = await readWhole(run);
  if (reading.isWhole) return reading;
  shortfalls.push(`the list ${whyNotWhole(reading)}`);
  return null;
}
