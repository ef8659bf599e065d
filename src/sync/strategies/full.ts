import { clearCheckpoint, readCheckpoint, saveCheckpoint } from "../../state/checkpoints.js";
import { countPresent } from "../../state/counting.js";
import { recordCoverage } from "../../state/coverage.js";
import { candidates, clearCandidates, noteMissing, openForgetting } from "../../state/removals.js";
import { formatInstant } from "../../times.js";
import type { StrategyRun, SyncContext } from "../context.js";
import { type Pass, type PassOptions, readPass } from "../pass.js";
import { hasMoved, isWhole, readUntilWhole, whyNotWhole } from "../reading.js";
import { removeMissing } from "../removal.js";
import { findStand, isFresh } from "../resume.js";
import { readUnknownList } from "../unknown-list.js";
import { countItems } from "../walk.js";

/** Every page, every time: the API has no filter that would tell what is new. */
export const full: StrategyRun = {
  async plan(context) {
    const { resource } = context;
    if (resource.pagination === "unknown")
      return [{ what: "everything, however it is paged", requests: 1, open: true }];
    const items = await countItems(context, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    return [{ what: `everything: ${items} records`, requests: Math.max(1, Math.ceil(items / 100)) }];
  },

  async run(context) {
    await readAll(context);
  },
};

/**
 * Reads a whole list until the distinct records agree with the API's count, and removes what is gone.
 * A list that keeps its total but not its order is put together from several passes.
 */
export async function readAll(context: SyncContext): Promise<void> {
  const { mirror, resource, run } = context;
  const present = countPresent(mirror, resource.name);
  const read = () => (resource.pagination === "unknown" ? readUnknownList(context) : readPagedList(context));
  const pass = await read();
  if (!pass) return;
  mirror.db.transaction(() => {
    clearCandidates(mirror, resource.name);
    clearCheckpoint(mirror, resource.name);
    noteMissing(mirror, resource.name, pass.seen);
    recordCoverage(mirror, resource.name, {
      from: Number.NEGATIVE_INFINITY,
      to: pass.startedAt,
      readAt: pass.startedAt,
      runId: run.run_id,
    });
  })();
  // One that came while another left, between two pages, pushes a third past the reader: look again before removing.
  if ((pass.total > pageSize || pass.nextPage > 2) && candidates(mirror, resource.name).length > 0) {
    const again = await read();
    if (!again) return;
    openForgetting(mirror, resource.name)(again.seen.keys());
    clearCheckpoint(mirror, resource.name);
  }
  removeMissing(context, { present, left: pass.seen.size });
}

/** A list that came in one answer is of one moment. What a read was put together from may have been of several. */
const pageSize = 25;

/** Where a stopped read of a whole list stands. */
interface ListState {
  page: number;
  startedAt: number;
}

async function readPagedList(context: SyncContext): Promise<Pass | null> {
  const { mirror, resource, shortfalls } = context;
  let resumed = await readStopped(context);
  const { last, seen, isSettled } = await readUntilWhole(async () => {
    const pass = await readPass(context, resource.query, {
      ...resumed,
      checkpoint: ({ nextPage, startedAt, seen: found }) =>
        saveCheckpoint<ListState>(
          mirror,
          resource.name,
          { page: nextPage, startedAt },
          found.keys(),
          formatInstant(startedAt),
        ),
    });
    resumed = {};
    const again = async (page: number) => {
      const look = await readPass(context, resource.query, { from: page, upTo: page, isLook: true });
      return look.seen.keys();
    };
    if (isWhole(pass)) pass.shrank = await hasMoved(pass, pass.totalPages, again);
    return pass;
  });
  if (isSettled) return { ...last, seen };
  clearCheckpoint(mirror, resource.name);
  shortfalls.push(`the list ${whyNotWhole(last)}`);
  return null;
}

/** What a read that was stopped a short while ago has left to go on from; nothing when it must begin anew. */
async function readStopped(context: SyncContext): Promise<Pick<PassOptions, "from" | "seen" | "startedAt">> {
  const { mirror, resource } = context;
  const stopped = readCheckpoint<ListState>(mirror, resource.name);
  if (!stopped || !isFresh(context, stopped.state.startedAt)) return {};
  const { page, startedAt } = stopped.state;
  const stand = await findStand(context, resource.query, { page, seen: stopped.seen });
  return stand ? { ...stand, seen: new Map(stopped.seen.map((id) => [id, null])), startedAt } : {};
}
