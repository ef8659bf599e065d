import type { ApiRecord } from "../resources/types.js";
import { countPresent } from "../state/counting.js";
import type { SyncContext } from "../sync/context.js";
import { hasMoved, isWhole, type Reading, readUntilWhole, whyNotWhole } from "../sync/reading.js";
import { settle } from "../sync/unknown-list.js";
import { formatInstant } from "../times.js";
import { keyed, openComparison, pagesOf, type Standing } from "./compare.js";
import type { MonthResult, Verdict } from "./report.js";

/**
 * Proves a resource that the API cannot filter: the whole of it is read and compared with the mirror, record by
 * record. Nothing is written. A list that keeps its total but not its order is put together from several passes:
 * what one pass missed is no difference.
 */
export async function verifyWhole(context: SyncContext): Promise<Omit<Verdict, "requests">> {
  const { mirror, resource, clock } = context;
  const { seen, total, isSettled } = await findAll(context);
  const missing = count(seen, "missing");
  const changed = count(seen, "changed");
  const gone = Math.max(0, countPresent(mirror, resource.name) - (seen.size - missing));
  const isSame = missing + changed + gone === 0;
  const state: MonthResult["state"] = isSettled ? (isSame ? "proven" : "different") : "unproven";
  const why = {
    proven: `all ${seen.size} records were read and are the same`,
    different: `${missing} not in the mirror, ${changed} different, ${gone} no longer in the API`,
    unproven: `the list ${whyNotWhole({ seen, total })}`,
  };
  const month: MonthResult = { month: "all", state, why: why[state], read_at: formatInstant(clock.now()) };
  const blind_spot =
    resource.strategy.kind === "detail"
      ? "details, which cost a request each: `sync --details all` reads them again"
      : "nothing, at the moment of reading";
  const unsettled = isSettled ? {} : { unsettled: true };
  return { resource: resource.name, state, months: [month], blind_spot, ...unsettled };
}

/** How each record that was found stands, by its key; whether they are as many as the API counts. */
interface Found extends Pick<Reading<string, Standing>, "seen" | "total"> {
  isSettled: boolean;
}

async function findAll(context: SyncContext): Promise<Found> {
  const { resource } = context;
  const compare = openComparison(context);
  if (resource.pagination === "unknown") {
    const { items, keys, isWhole: isSettled, total } = await settle(context, resource, resource.path);
    const seen = new Map(
      items.map((record, index) => [keys[index] ?? "", compare(record, keys[index] ?? "")]),
    );
    return { seen, total: total ?? seen.size, isSettled };
  }
  const { last, seen, isSettled } = await readUntilWhole(() => readList(context, compare));
  return { seen, total: last.total, isSettled };
}

async function readList(
  context: SyncContext,
  compare: (record: ApiRecord, key: string) => Standing,
): Promise<Reading<string, Standing>> {
  const { resource } = context;
  const seen = new Map<string, Standing>();
  const reading: Reading<string, Standing> = { seen, total: 0, shrank: false };
  let pages = 1;
  for await (const page of pagesOf(context, resource.query)) {
    for (const [key, record] of keyed(context, page)) seen.set(key, compare(record, key));
    reading.shrank ||= page.pagination.total_items < reading.total;
    reading.total = page.pagination.total_items;
    pages = page.pagination.total_pages;
  }
  if (isWhole(reading))
    reading.shrank = await hasMoved(reading, pages, async (number) => {
      const again: string[] = [];
      for await (const page of pagesOf(context, resource.query, number))
        again.push(...keyed(context, page).map(([key]) => key));
      return again;
    });
  return reading;
}

function count(seen: Found["seen"], standing: Standing): number {
  return [...seen.values()].filter((each) => each === standing).length;
}
