import { type Page, readPages } from "../api/pages.js";
import { keyOf } from "../records/keys.js";
import { sameRecord } from "../records/same.js";
import type { ApiRecord, Json, Query } from "../resources/types.js";
import { countPresent } from "../state/counting.js";
import { rangeQuery, type SyncContext } from "../sync/context.js";
import { mostPerPage } from "../sync/pass.js";
import { mostRequests, requestsFor } from "../sync/proof/close.js";
import { joinDays } from "../sync/proof/days.js";

/** How a record of the API stands to the mirror's. */
export type Standing = "same" | "changed" | "missing";

export function openComparison({ mirror, resource }: SyncContext) {
  const find = mirror.db.prepare(
    "SELECT coalesce(list_json, json) AS json FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  return (record: ApiRecord, key: string): Standing => {
    const row = find.get(resource.name, key) as { json: string } | undefined;
    if (!row) return "missing";
    if (row.json === record.json || sameRecord(JSON.parse(row.json) as Json, record.value, resource))
      return "same";
    return "changed";
  };
}

/** The pages of a query, or one of them; nothing is written. */
export function pagesOf(
  { api, resource, signal }: SyncContext,
  query: Query,
  only?: number,
): AsyncIterable<Page> {
  const pages = only === undefined ? {} : { from: only, upTo: only };
  const asked = { ...query, per_page: mostPerPage };
  return readPages(api, resource.path, asked, { scope: resource.scope, signal, ...pages });
}

export function keyed({ resource }: SyncContext, { page, pagination, records }: Page): [string, ApiRecord][] {
  const before = (page - 1) * pagination.per_page;
  return records.map((record, index) => [keyOf(resource, record, before + index), record]);
}

/**
 * Of days whose figures moved, those whose records are not the mirror's: figures are a hint, and may be restated alone.
 * Days that would take too many requests are taken for different.
 */
export async function differingDays(context: SyncContext, days: readonly string[]): Promise<string[]> {
  const { mirror, resource } = context;
  const compare = openComparison(context);
  const differing: string[] = [];
  let left = mostRequests;
  for (const range of joinDays(days)) {
    left -= requestsFor(context, range);
    const seen = new Set<string>();
    let isSame = left >= 0;
    if (isSame)
      for await (const page of pagesOf(context, rangeQuery(resource, range.from, range.to)))
        for (const [key, record] of keyed(context, page)) {
          seen.add(key);
          if (compare(record, key) !== "same") isSame = false;
        }
    if (!isSame || seen.size !== countPresent(mirror, resource.name, range))
      differing.push(...days.filter((day) => isWithin(Date.parse(day), range)));
  }
  return differing;
}

function isWithin(at: number, { from, to }: { from: number; to: number }): boolean {
  return at >= from && at <= to;
}
