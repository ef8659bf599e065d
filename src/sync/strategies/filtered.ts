import { UsageError } from "../../errors.js";
import type { Query } from "../../resources/types.js";
import type { DatedRun } from "../run.js";
import { checkDates, rangeQuery } from "../seek.js";
import { syncList } from "../sync-list.js";

/** Returns the filters of a run as a query; null if it has none. @throws UsageError for more values than the API takes */
export function filterQuery({ options, resource }: Pick<DatedRun, "options" | "resource">): Query | null {
  const chosen = (resource.strategy.filters ?? []).flatMap(({ parameter, atMost }) => {
    const values = options.filters[parameter] ?? [];
    if (values.length > atMost)
      throw new UsageError(
        `The API takes at most ${atMost} values of \`${parameter}\`, not ${values.length}.`,
        {
          hint: "divide them among several runs",
        },
      );
    return values.length > 0 ? [[parameter, values.join(",")] as const] : [];
  });
  return chosen.length > 0 ? Object.fromEntries(chosen) : null;
}

/** A partial run: it covers no dates and removes nothing. */
export async function readFiltered(run: DatedRun, query: Query): Promise<void> {
  const { now, options, resource } = run;
  const range = { from: options.since ?? Number.NEGATIVE_INFINITY, to: options.until ?? now };
  run.isPartial = true;
  const asked = { ...rangeQuery(resource.strategy, range), ...query };
  await syncList(run, "the filtered list", asked, null, (records) => void checkDates(run, records, range));
}
