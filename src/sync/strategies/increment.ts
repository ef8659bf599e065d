import type { Query } from "../../resources/types.js";
import { formatInstant } from "../../times.js";
import type { StrategyRun, SyncContext } from "../context.js";
import { readPass } from "../pass.js";
import { window } from "./window.js";

/**
 * New items by date with the window's overlap. Deletions, and items dated before the window, show in the count only,
 * and are found where the count differs, as for a window. With filters a run is partial.
 */
export const increment: StrategyRun = {
  async plan(context) {
    const queries = filterQueries(context);
    if (queries.length > 0) return [{ what: "what the filters select", requests: queries.length }];
    return await window.plan(context);
  },

  async run(context) {
    const queries = filterQueries(context);
    if (queries.length > 0) return await readFiltered(context, queries);
    await window.run(context);
  },
};

/** One query for each combination of filter values, at most as many values in each as the API takes. */
export function filterQueries({ options, resource }: Pick<SyncContext, "options" | "resource">): Query[] {
  const { strategy } = resource;
  if (strategy.kind !== "increment") return [];
  const chosen = strategy.filters.filter(({ parameter }) => (options.filters[parameter]?.length ?? 0) > 0);
  if (chosen.length === 0) return [];
  return chosen.reduce<Query[]>(
    (queries, { parameter, atMost }) =>
      chunks(options.filters[parameter] ?? [], atMost).flatMap((values) =>
        queries.map((query) => ({ ...query, [parameter]: values.join(",") })),
      ),
    [{}],
  );
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** A partial run: it claims no coverage and removes nothing. */
async function readFiltered(context: SyncContext, queries: readonly Query[]): Promise<void> {
  const { options, resource, shortfalls } = context;
  const { strategy } = resource;
  if (strategy.kind !== "increment") return;
  const range: Query = {
    [strategy.from]: options.since === undefined ? undefined : formatInstant(options.since),
    [strategy.until]: options.until === undefined ? undefined : formatInstant(options.until + 1),
  };
  for (const query of queries) {
    const pass = await readPass(context, { ...resource.query, ...range, ...query });
    if (pass.seen.size !== pass.total)
      shortfalls.push("the filtered list moved while it was read: run the same command again");
  }
}
