import { type Reading, whyNotWhole } from "../api/list.js";
import { counted } from "../lib/counted.js";
import { formatInstant } from "../lib/times.js";
import type { Standing } from "../records/index.js";
import type { Details } from "../resources/types.js";
import { countPresent } from "../state/index.js";
import { keyOf, openComparison } from "../sync/former.js";
import { progressed, type SyncRun } from "../sync/run.js";
import { countUnread } from "../sync/strategies/details.js";
import { settle } from "../sync/unknown-list.js";
import { listOf } from "../sync/whole.js";
import type { Finding, MonthResult } from "./report.js";

/** Proves a resource that the API cannot filter: all of it is read and compared with the mirror. Nothing is written. */
export async function verifyList(run: SyncRun): Promise<Finding> {
  return await verifyWhole(run, { unread: 0, blind_spot: "nothing, at the moment of reading" });
}

/** The same of one with details: those that were read stay as they were when their record was, for all that is known. */
export async function verifyDetails(run: SyncRun<Details>): Promise<Finding> {
  const blind_spot = "details, which cost a request each: `sync --details all` reads them again";
  return await verifyWhole(run, { unread: await countUnread(run), blind_spot });
}

/** @param unread details that were not read since their record came or changed */
async function verifyWhole(
  run: SyncRun,
  { unread, blind_spot }: { unread: number; blind_spot: string },
): Promise<Finding> {
  const { clock, mirror, resource } = run;
  const { found, isTooLong, isWhole, standing, total } = await findAll(run);
  const count = (wanted: Standing) => [...found].filter((key) => standing.get(key) === wanted).length;
  const missing = count("missing");
  const changed = count("changed");
  const gone = Math.max(0, countPresent(mirror, resource.name) - (found.size - missing));
  const isSame = missing + changed + gone === 0;
  const [state, why]: [MonthResult["state"], string] = !isWhole
    ? ["unproven", `the list ${whyNotWhole({ found, isTooLong, total })}`]
    : !isSame
      ? ["different", `${missing} not in the mirror, ${changed} different, ${gone} no longer in the API`]
      : unread > 0
        ? ["unproven", `the details of ${unread} were not read as they are now`]
        : ["proven", `${counted(found.size, "record")} read, all the same`];
  const month = { month: "all", state, why, read_at: formatInstant(clock.now()) };
  const left = { unread, ...(isWhole ? {} : { unsettled: true }) };
  return { resource: resource.name, state, months: [month], blind_spot, covered_from: null, ...left };
}

/** Who is on the list, and how each record stands that was read, by its key. */
interface Found extends Pick<Reading<string>, "found" | "isTooLong" | "isWhole" | "total"> {
  standing: ReadonlyMap<string, Standing>;
}

async function findAll(run: SyncRun): Promise<Found> {
  const { mirror, resource } = run;
  const compare = openComparison(mirror, resource);
  const standing = new Map<string, Standing>();
  if (resource.pagination === "unknown") {
    const { items, keys, isWhole, total } = await settle(run, resource, resource.path);
    for (const [index, key] of keys.entries()) {
      const item = items[index];
      if (item) standing.set(key, compare(item, key));
    }
    return { found: new Set(standing.keys()), total: total ?? standing.size, isWhole, standing };
  }
  const pages = listOf<string>(run, {});
  for (;;) {
    const { value, done } = await pages.next();
    if (done) return { ...value, standing };
    progressed(run, 0, value.pagination.total_pages - value.page);
    for (const record of value.records) {
      const key = keyOf(resource, record, 0);
      value.found.add(key);
      standing.set(key, compare(record, key));
    }
  }
}
