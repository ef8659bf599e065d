import { countPresent } from "../../state/counting.js";
import { quietInstant } from "../../state/cuts.js";
import { dateOfNth } from "../../state/removals.js";
import { rangeQuery, type SyncContext } from "../context.js";
import { readPass } from "../pass.js";
import type { Goal } from "../plan.js";
import { range, spread } from "../spread.js";
import { countItems, readAgain } from "../walk.js";
import { isSame, newestId, reachesEnd } from "./beyond.js";
import { allRecords, countHere } from "./counts.js";
import { rereadDiffering } from "./differing.js";

/** How to look again at a read. */
export interface Looks {
  /** The first page to look at. */
  first: number;
  /** The most pages to look at, a request each. */
  most: number;
  /** Look at what a page holds, not only at the count of what lies below its first record. */
  isWhole: boolean;
}

/**
 * A count that agrees with the distinct records proves a read only if none of them has gone meanwhile: one that left a
 * page already read, between the same two answers as another came, keeps the count and the number of distinct records
 * as they were. The mirror then holds one that is gone, and lacks either the one that came (behind the reader) or one
 * that was drawn past the reader (from the top of the next page to the bottom of the last).
 *
 * So what lies behind the reader is looked at again when it has come to the end. Where the API has figures by day,
 * they are asked for a second time (`closeOldChanges`), and one count divides the read: what moved within one half and
 * in no figure is not seen. Without them a few pages are looked at, spread over the read: each must hold what it held,
 * and as much must lie below it as did. In a read of no more pages than are looked at, nothing is left unseen but a
 * record that left and came back; in a longer one a record that left and one that came, between the same two answers,
 * both between the same two pages looked at.
 * @returns whether every page was looked at, or all came in one answer
 */
export async function takeSoundings(context: SyncContext, goal: Goal, looks: Looks): Promise<boolean> {
  const { mirror, perPage: size, resource } = context;
  const count = countPresent(mirror, resource.name, goal);
  // What the last page holds is of the moment of the last count.
  const behind = range(looks.first, Math.ceil(count / size) - 1);
  for (const page of spread(behind, looks.most)) {
    const newest = dateOfNth(mirror, resource.name, goal, count - (page - 1) * size);
    if (newest === null) continue;
    const at = Math.min(goal.to, quietInstant(mirror, resource.name, newest));
    if (!(await (looks.isWhole ? lookAt : countBelow)(context, goal, at)))
      for (const half of [
        { from: goal.from, to: at },
        { from: at, to: goal.to },
      ])
        await rereadDiffering(context, half, [allRecords]);
  }
  return count <= size || (looks.isWhole && behind.length <= looks.most);
}

async function countBelow(context: SyncContext, { from }: Goal, at: number): Promise<boolean> {
  return (await countItems(context, from, at)) === countHere(context, { from, to: at }, allRecords);
}

/** Looks at the page that begins at a date, and at the count of what lies below; what differs on it is read. */
async function lookAt(context: SyncContext, { from }: Goal, at: number): Promise<boolean> {
  const newest = newestId(context);
  const held = countHere(context, { from, to: at }, allRecords);
  const pass = await readPass(context, rangeQuery(context.resource, from, at), {
    upTo: 1,
    isLook: true,
  });
  const seen = { from: reachesEnd(pass) ? from : Math.max(from, pass.oldest), to: at };
  const isExact = isSame(context, pass, seen, newest);
  if (!isExact) await readAgain(context, seen);
  return isExact && pass.total === held;
}
