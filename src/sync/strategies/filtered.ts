import type { Query } from "../../resources/types.js";
import { rangeQuery } from "../first-page.js";
import type { DatedRun } from "../run.js";
import { readWhole } from "../whole.js";

/** One query for each combination of filter values, at most as many values in each as the API takes. */
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

/** A partial run: it claims no coverage and removes nothing. */
export async function readFiltered(run: DatedRun, queries: readonly Query[]): Promise<void> {
  const { options, resource, shortfalls } = run;
  const { since: from = Number.NEGATIVE_INFINITY, until: to = Number.POSITIVE_INFINITY } = options;
  run.isPartial = true;
  const range = rangeQuery(resource.strategy, { from, to });
  for (const query of queries) {
    const { isWhole } = await readWhole(run, { ...range, ...query });
    if (!isWhole) shortfalls.push("the filtered list moved while it was read: run the same command again");
  }
}
