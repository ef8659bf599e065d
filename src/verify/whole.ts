import { type Page, readPages } from "../api/pages.js";
import { countPresent } from "../mirror/counting.js";
import { sameJson } from "../mirror/diff.js";
import { keyOf } from "../mirror/keys.js";
import type { ApiRecord, Json } from "../resources/types.js";
import type { SyncContext } from "../sync/context.js";
import { mostPerPage } from "../sync/pass.js";
import { hasMoved, isWhole, type Reading, readUntilWhole, whyNotWhole } from "../sync/reading.js";
import { settle } from "../sync/unknown-list.js";
import { formatInstant } from "../times.js";
import type { MonthResult, Verdict } from "./report.js";

/**
 * Proves a resource that the API cannot filter: the whole of it is read and compared with the mirror, record by
 * record. Nothing is written. A list that keeps its total but not its order is put together from several passes:
 * what one pass missed is no difference.
 */
export async function verifyWhole(context: SyncContext): Promise<Omit<Verdict, "requests">> {
  const { mirror, resource, clock } = context;
  const { seen, total, isWhole } = await findAll(context);
  const missing = count(seen, "missing");
  const changed = count(seen, "changed");
  const gone = Math.max(0, countPresent(mirror, resource.name) - (seen.size - missing));
  const isSame = missing + changed + gone === 0;
  const state: MonthResult["state"] = isWhole ? (isSame ? "proven" : "different") : "unproven";
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
  const unsettled = isWhole ? {} : { unsettled: true };
  return { resource: resource.name, state, months: [month], blind_spot, ...unsettled };
}

/** How a record of the API stands to the mirror's. */
type Standing = "same" | "changed" | "missing";

/** How each record that was found stands, by its key; whether they are as many as the API counts. */
interface Found extends Pick<Reading<string, Standing>, "seen" | "total"> {
  isWhole: boolean;
}

async function findAll(context: SyncContext): Promise<Found> {
  const { resource } = context;
  const compare = openComparison(context);
  if (resource.pagination === "unknown") {
    const { items, keys, isWhole, total } = await settle(context, resource, resource.path);
    const seen = new Map(
      items.map((record, index) => [keys[index] ?? "", compare(record, keys[index] ?? "")]),
    );
    return { seen, total: total ?? seen.size, isWhole };
  }
  const { last, seen, isWhole } = await readUntilWhole(() => readList(context, compare));
  return { seen, total: last.total, isWhole };
}

async function readList(
  context: SyncContext,
  compare: (record: ApiRecord, key: string) => Standing,
): Promise<Reading<string, Standing>> {
  const seen = new Map<string, Standing>();
  const reading: Reading<string, Standing> = { seen, total: 0, shrank: false };
  let pages = 1;
  for await (const page of readPagesOf(context)) {
    for (const [key, record] of keyed(context, page)) seen.set(key, compare(record, key));
    reading.shrank ||= page.pagination.total_items < reading.total;
    reading.total = page.pagination.total_items;
    pages = page.pagination.total_pages;
  }
  if (isWhole(reading))
    reading.shrank = await hasMoved(reading, pages, async (number) => {
      const again: string[] = [];
      for await (const page of readPagesOf(context, number))
        again.push(...keyed(context, page).map(([key]) => key));
      return again;
    });
  return reading;
}

/** All pages, or one. */
function readPagesOf({ api, resource, signal }: SyncContext, only?: number): AsyncIterable<Page> {
  const query = { ...resource.query, per_page: mostPerPage };
  const range = only === undefined ? {} : { from: only, upTo: only };
  return readPages(api, resource.path, query, { scope: resource.scope, signal, ...range });
}

function keyed({ resource }: SyncContext, { page, pagination, records }: Page): [string, ApiRecord][] {
  const before = (page - 1) * pagination.per_page;
  return records.map((record, index) => [keyOf(resource, record, before + index), record]);
}

function openComparison({ mirror, resource }: SyncContext) {
  const find = mirror.db.prepare(
    "SELECT coalesce(list_json, json) AS json FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  return (record: ApiRecord, key: string): Standing => {
    const row = find.get(resource.name, key) as { json: string } | undefined;
    if (!row) return "missing";
    if (row.json === record.json || sameJson(JSON.parse(row.json) as Json, record.value)) return "same";
    return "changed";
  };
}

function count(seen: Found["seen"], standing: Standing): number {
  return [...seen.values()].filter((each) => each === standing).length;
}
