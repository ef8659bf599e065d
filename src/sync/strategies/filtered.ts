import { formatInstant } from "../../lib/times.js";
import type { Query } from "../../resources/types.js";
import { readListOf, whyNotWhole } from "../list.js";
import type { DatedRun } from "../run.js";
import { checkDates, rangeQuery } from "../seek.js";

/** Returns a query for each combination of filter values, with at most as many values as the API takes. */
export function filterQueries({ options, resource }: Pick<DatedRun, "options" | "resource">): Query[] {
  const { filters = [] } = resource.strategy;
  const chosen = filters.filter(({ parameter }) => (options.filters[parameter]?.length ?? 0) > 0);
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

/** A partial run: it covers no dates and removes nothing. */
export async function readFiltered(run: DatedRun, queries: readonly Query[]): Promise<void> {
  const { mirror, now, options, resource, shortfalls, state, store } = run;
  const range = { from: options.since ?? Number.NEGATIVE_INFINITY, to: options.until ?? now };
  run.isPartial = true;
  for (const query of queries) {
    const asked = { ...rangeQuery(resource.strategy, range), ...query };
    const list = await readListOf(run, resource, asked, (records) => void checkDates(run, records, range));
    mirror.transaction(() => {
      const { ids } = store.write(list.items, { readAt: formatInstant(list.askedAt) });
      state.missing.forget(ids);
    });
    if (!list.isWhole) shortfalls.push(`the filtered list ${whyNotWhole(list)}`);
  }
}
