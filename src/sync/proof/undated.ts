import { noteMissingOf } from "../../state/removals.js";
import { presentApart } from "../../state/undated.js";
import type { SyncContext } from "../context.js";
import { readPass } from "../pass.js";
import { countItems } from "../walk.js";

const mostAttempts = 3;

/**
 * Records without a date, where no range of dates has them: what the API lists beyond all that is dated must be as many.
 * They stand first or last, so that those two pages show who is gone; with `--full` all pages are read. Costs nothing
 * where there are none, and two requests where none is gone.
 */
export async function closeUndated(context: SyncContext): Promise<void> {
  const { mirror, options, resource } = context;
  let counted = 0;
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    if (presentApart(mirror, resource.name).length === 0) return;
    const dated = await countItems(context, Number.NEGATIVE_INFINITY, context.now);
    const first = await readPass(context, resource.query, {
      isLook: true,
      ...(options.full ? {} : { upTo: 1 }),
    });
    const held = presentApart(mirror, resource.name);
    counted = first.total - dated - later(context, first.seen);
    if (counted === held.length) return;
    const last =
      first.nextPage <= first.totalPages
        ? await readPass(context, resource.query, { from: first.totalPages, isLook: true })
        : first;
    const seen = new Map([...first.seen, ...last.seen]);
    const found = [...seen.values()].filter((date) => date === null).length;
    if (first.total === last.total && last.total - dated - later(context, seen) === found) {
      noteMissingOf(mirror, resource.name, held, seen);
      return;
    }
  }
  context.shortfalls.push(
    `the API lists ${Math.max(counted, 0)} records without a date and the mirror holds ${presentApart(mirror, resource.name).length}: \`brandapi sync ${resource.name} --full\` reads them all`,
  );
}

/** How many came after the instant that the run is pinned to. */
function later({ now }: SyncContext, seen: ReadonlyMap<number, number | null>): number {
  return [...seen.values()].filter((date) => date !== null && date > now).length;
}
