import { readPages } from "../api/pages.js";
import { countPresent } from "../mirror/counting.js";
import { sameJson } from "../mirror/diff.js";
import { keyOf } from "../mirror/keys.js";
import type { ApiRecord, Json } from "../resources/types.js";
import type { SyncContext } from "../sync/context.js";
import { mostPerPage } from "../sync/pass.js";
import { type Reading, readUntilWhole, whyNotWhole } from "../sync/reading.js";
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
  { api, resource, signal }: SyncContext,
  compare: (record: ApiRecord, key: string) => Standing,
): Promise<Reading<string, Standing>> {
  const seen = new Map<string, Standing>();
  let position = 0;
  let total = 0;
  let shrank = false;
  const query = { ...resource.query, per_page: mostPerPage };
  for await (const page of readPages(api, resource.path, query, { scope: resource.scope, signal })) {
    for (const record of page.records) {
      const key = keyOf(resource, record, position);
      seen.set(key, compare(record, key));
      position += 1;
    }
    shrank ||= page.pagination.total_items < total;
    total = page.pagination.total_items;
  }
  return { seen, total, shrank };
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
