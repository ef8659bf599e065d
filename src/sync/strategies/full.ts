import { clearCheckpoint, readCheckpoint, saveCheckpoint } from "../../mirror/checkpoints.js";
import { recordCoverage } from "../../mirror/coverage.js";
import { countPresent, noteMissing } from "../../mirror/removals.js";
import { formatInstant } from "../../times.js";
import type { StrategyRun, SyncContext } from "../context.js";
import { isWhole, type Pass, readPass } from "../pass.js";
import { removeMissing } from "../removal.js";
import { readUnknownList } from "../unknown-list.js";
import { countItems } from "../walk.js";

/** Every page, every time: the API has no filter that would tell what is new. */
export const full: StrategyRun = {
  async plan(context) {
    const { resource } = context;
    if (resource.pagination === "unknown") return [{ what: "everything, however it is paged", requests: 1 }];
    const items = await countItems(context, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    return [{ what: `everything: ${items} records`, requests: Math.max(1, Math.ceil(items / 100)) }];
  },

  async run(context) {
    await readAll(context);
  },
};

const mostAttempts = 5;

/**
 * Reads a whole list until the distinct records agree with the API's count, and removes what is gone.
 * A list that keeps its total but not its order is put together from several passes.
 */
export async function readAll(context: SyncContext): Promise<void> {
  const { mirror, resource, run } = context;
  const present = countPresent(mirror, resource.name);
  const pass =
    resource.pagination === "unknown" ? await readUnknownList(context) : await readPagedList(context);
  if (!pass) return;
  mirror.db.transaction(() => {
    noteMissing(mirror, resource.name, pass.seen);
    recordCoverage(mirror, resource.name, {
      from: Number.NEGATIVE_INFINITY,
      to: pass.startedAt,
      readAt: pass.startedAt,
      runId: run.run_id,
    });
  })();
  removeMissing(context, { present, left: pass.seen.size });
  clearCheckpoint(mirror, resource.name);
}

/** Where a stopped read of a whole list stands. */
interface ListState {
  page: number;
  startedAt: number;
}

async function readPagedList(context: SyncContext): Promise<Pass | null> {
  const { mirror, resource, shortfalls } = context;
  const stopped = readCheckpoint<ListState>(mirror, resource.name);
  let pass: Pass | undefined;
  let kept = new Map<number, null>();
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const resumed =
      attempt === 1 && stopped ? { from: stopped.state.page, startedAt: stopped.state.startedAt } : {};
    const seen =
      attempt === 1 && stopped ? new Map(stopped.seen.map((id) => [id, null])) : new Map<number, null>();
    const before = pass;
    pass = await readPass(context, resource.query, {
      ...resumed,
      seen,
      checkpoint: ({ nextPage, startedAt, seen: found }) =>
        saveCheckpoint<ListState>(
          mirror,
          resource.name,
          { page: nextPage, startedAt },
          found.keys(),
          formatInstant(startedAt),
        ),
    });
    if (isWhole(pass)) return pass;
    if (pass.shrank || (before && before.total !== pass.total)) kept = new Map();
    for (const id of pass.seen.keys()) kept.set(id, null);
    if (kept.size === pass.total && !pass.shrank) return { ...pass, seen: kept };
    if (kept.size > pass.total) kept = new Map([...pass.seen.keys()].map((id) => [id, null]));
  }
  clearCheckpoint(mirror, resource.name);
  shortfalls.push(
    `the list never settled: ${pass?.seen.size} distinct records were found where the API counts ${pass?.total}`,
  );
  return null;
}
