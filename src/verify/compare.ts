import { dayOf, includes, type Range } from "../ranges.js";
import { datedOf, keyOf, openComparison } from "../records/index.js";
import type { SyncRun } from "../sync/run.js";
import { seek } from "../sync/seek.js";

/**
 * Reads a range and compares it with the mirror, record by record. Nothing is written.
 * @returns the days on which they differ, if that is known
 */
export async function compareRecords(
  run: SyncRun,
  range: Range,
): Promise<"same" | { differOn: readonly string[] }> {
  const { mirror, resource, state } = run;
  const compare = openComparison(mirror, resource);
  const inside = new Set<string>();
  const differOn = new Set<string>();
  let isWhole = true;
  const givenUp = () => {
    isWhole = false;
  };
  for await (const { found, records } of seek(run, range, { givenUp }))
    for (const record of records) {
      const key = keyOf(resource, record, 0);
      const dated = datedOf(resource, record);
      found.add(key);
      // Those without a date count in every range, or in none.
      if (dated !== null && !includes(range, dated)) continue;
      inside.add(key);
      if (dated !== null && compare(record, key) !== "same") differOn.add(dayOf(dated));
    }
  const isSame = isWhole && differOn.size === 0 && inside.size === state.count(range);
  return isSame ? "same" : { differOn: [...differOn] };
}
