import { valueAt } from "../../records/values.js";
import type { Query } from "../../resources/types.js";
import { parseTimestamp } from "../../times.js";
import { rangeQuery, type SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { countItems } from "../walk.js";

const pageSize = 100;

/**
 * What a filter selects is not stated (the API document, "4. GET /orders", `status`): it is measured. The newest page
 * of a range is looked at, and its records that say so of themselves are counted against the API's count of the same
 * dates. The mirror has no say in it: it may be what is wrong. Two requests.
 */
export async function countsItsMember(
  context: SyncContext,
  filter: Query,
  member: string,
  range: Goal,
): Promise<boolean> {
  const { api, resource, signal } = context;
  const { strategy } = resource;
  if (strategy.kind !== "window") return true;
  const query = { ...rangeQuery(resource, range.from, range.to), page: 1, per_page: pageSize };
  const { items, pagination } = await api.get(resource.path, query, { scope: resource.scope, signal });
  const records = (items ?? []).map(({ value }) => ({
    dated: dateOf(valueAt(value, [strategy.date])),
    selected: valueAt(value, [member]) === true,
  }));
  const isAll = (pagination?.total_items ?? records.length) <= records.length;
  const oldest = records.reduce((first, { dated }) => Math.min(first, dated), Number.POSITIVE_INFINITY);
  // The page may end among records of one instant: only newer ones are there for certain.
  const from = isAll ? range.from : Math.floor(oldest) + 1;
  if (!isAll && !Number.isFinite(from)) return true;
  const selected = records.filter((record) => record.selected && (isAll || record.dated >= from)).length;
  return (await countItems(context, from, range.to, filter)) === selected;
}

function dateOf(value: unknown): number {
  return typeof value === "string" ? (parseTimestamp(value) ?? Number.NaN) : Number.NaN;
}
