import { formatInstant } from "../../lib/times.js";
import { hostIdOf, keepSnapshot } from "../../records/index.js";
import { countPresent, presentIds, recordCoverage } from "../../state/index.js";
import { readList, readOnce, whyNotWhole } from "../list.js";
import { guardRemovals } from "../removals.js";
import { mostPerPage, type StrategyRun } from "../run.js";
import { full } from "./full.js";

/**
 * A ranking as it stands. It reorders while it is read, and several rows can have no host: a row is its place. The whole
 * is believed if rows and hosts are as many as the API counts, and is kept as it was ranked.
 */
export const snapshot: StrategyRun = {
  plan: (run) => full.plan(run),

  async run(run) {
    const { mirror, resource, row, shortfalls, store } = run;
    const query = { ...resource.query, sort: "sale_amount", order: "desc", per_page: mostPerPage };
    const list = await readList(() => readOnce(run, resource.path, query), hostIdOf);
    if (!list.isWhole) return void shortfalls.push(`the ranking ${whyNotWhole(list)}`);
    const present = countPresent(mirror, resource.name);
    guardRemovals(run, Math.max(0, present - list.items.length), present);
    const at = formatInstant(list.askedAt);
    mirror.transaction(() => {
      const ids = new Set<number>();
      for (const [position, record] of list.items.entries()) {
        const options = { readAt: at, position, context: { position }, touch: true };
        for (const id of store.write([record], options).ids) ids.add(id);
      }
      store.remove(
        presentIds(mirror, resource.name).filter((id) => !ids.has(id)),
        at,
      );
      keepSnapshot(mirror, at.slice(0, 10), at, list.items);
      const range = { from: Number.NEGATIVE_INFINITY, to: list.askedAt };
      recordCoverage(mirror, resource.name, { ...range, readAt: list.askedAt, runId: row.run_id });
    });
  },
};
