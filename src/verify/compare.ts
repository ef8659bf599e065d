import { dayOf, includes, type Range, startOfDay, within } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import { countPresent } from "../state/index.js";
import { datedOf, keyOf, openComparison } from "../sync/former.js";
import type { DatedRun } from "../sync/run.js";
import { seek } from "../sync/seek.js";
import { countEach } from "./against.js";

/**
 * Reads a range and compares it with the mirror, record by record. Nothing is written.
 * @returns the days on which they differ: those of records that came, changed or are gone; none where nobody knows
 */
export async function compareRecords(
  run: DatedRun,
  range: Range,
): Promise<"same" | { differOn: readonly string[] }> {
  const { mirror, resource, state } = run;
  const compare = openComparison(mirror, resource);
  /** The day of each record that was found in the range; null for those without a date. */
  const inside = new Map<string, string | null>();
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
      inside.set(key, dated === null ? null : dayOf(dated));
      if (dated !== null && compare(record, key) !== "same") differOn.add(dayOf(dated));
    }
  if (!isWhole) return { differOn: [] };
  if (differOn.size === 0 && inside.size === state.count(range)) return "same";
  const found = countEach(inside.values());
  const oldestFrom = (from: number) => state.oldest({ from, to: range.to });
  for (let at = oldestFrom(range.from); at !== null; at = oldestFrom(startOfDay(at) + dayMs)) {
    const from = startOfDay(at);
    const [part = range] = within([{ from, to: from + dayMs - 1 }], range);
    if (countPresent(mirror, resource.name, part) !== (found.get(dayOf(at)) ?? 0)) differOn.add(dayOf(at));
  }
  return { differOn: [...differOn] };
}
