import { counted } from "../lib/counted.js";
import { everything } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import { keyOf, openComparison } from "../records/index.js";
import type { Details } from "../resources/types.js";
import { countPresent } from "../state/index.js";
import { readListOf, whyNotWhole } from "../sync/list.js";
import type { SyncRun } from "../sync/run.js";
import { countPending } from "../sync/strategies/details.js";
import { claimOf, listClaim } from "./claims.js";
import type { Finding, MonthResult } from "./report.js";

/** Proves a resource that the API cannot filter: the list is read and compared with the mirror. Nothing is written. */
export async function verifyList(run: SyncRun): Promise<Finding> {
  return await compareList(run, { unread: 0, blind_spot: "" });
}

/** The same of a list with details; details that were not read since their record changed are unproven. */
export async function verifyDetails(run: SyncRun<Details>): Promise<Finding> {
  const blind_spot = "details, which cost a request each: `sync --details all` reads them again";
  return await compareList(run, { unread: countPending(run), blind_spot });
}

async function compareList(
  run: SyncRun,
  { unread, blind_spot }: { unread: number; blind_spot: string },
): Promise<Finding> {
  const { clock, mirror, resource, row } = run;
  const list = await readListOf(run);
  const compare = openComparison(mirror, resource);
  const standing = new Map(
    list.items.map((item, position) => [keyOf(resource, item, position), item] as const),
  );
  const found = [...standing].map(([key, item]) => compare(item, key));
  const here = countPresent(mirror, resource.name);
  const missing = found.filter((one) => one === "missing").length;
  const changed = found.filter((one) => one === "changed").length;
  const gone = Math.max(0, here - (found.length - missing));
  const differing = missing + changed + gone;
  Object.assign(row, { api_total: list.total, mirror_total: here, differing });
  const [state, why]: [MonthResult["state"], string] = !list.isWhole
    ? ["unproven", `the list ${whyNotWhole(list)}`]
    : differing > 0
      ? ["different", `${missing} not in the mirror, ${changed} different, ${gone} no longer in the API`]
      : unread > 0
        ? ["unproven", `the details of ${unread} were not read as they are now`]
        : ["proven", `${counted(found.length, "record")} read, all the same`];
  const month = { month: "all", state, why, read_at: formatInstant(clock.now()) };
  const agrees = state === "unproven" && !list.isWhole ? null : differing === 0;
  const unseen = { mirror: here, note: blind_spot };
  const claims = () => [
    listClaim(run, list, { mirror: here, agrees, note: why }),
    ...(blind_spot === "" ? [] : [claimOf(run, "blind spot", everything, unseen)]),
  ];
  const unsettled = list.isWhole ? {} : { unsettled: true };
  return {
    resource: resource.name,
    state,
    months: [month],
    blind_spot,
    covered_from: null,
    unread,
    claims,
    ...unsettled,
  };
}
