import { readPages } from "../api/pages.js";
import { countPresent } from "../mirror/counting.js";
import { sameJson } from "../mirror/diff.js";
import { keyOf } from "../mirror/keys.js";
import type { ApiRecord, Json } from "../resources/types.js";
import type { SyncContext } from "../sync/context.js";
import { settle } from "../sync/unknown-list.js";
import { formatInstant } from "../times.js";
import type { MonthResult, Verdict } from "./report.js";

/**
 * Proves a resource that the API cannot filter: the whole of it is read and compared with the mirror, record by
 * record. Nothing is written.
 */
export async function verifyWhole(context: SyncContext): Promise<Omit<Verdict, "requests">> {
  const { mirror, resource, clock } = context;
  const find = mirror.db.prepare(
    "SELECT coalesce(list_json, json) AS json FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL",
  );
  const found = { read: 0, missing: 0, changed: 0 };
  const seen = new Set<string>();
  for await (const { record, key } of everyRecord(context)) {
    if (seen.has(key)) continue;
    seen.add(key);
    found.read += 1;
    const row = find.get(resource.name, key) as { json: string } | undefined;
    if (!row) found.missing += 1;
    else if (row.json !== record.json && !sameJson(JSON.parse(row.json) as Json, record.value))
      found.changed += 1;
  }
  const gone = Math.max(0, countPresent(mirror, resource.name) - (found.read - found.missing));
  const isSame = found.missing + found.changed + gone === 0;
  const month: MonthResult = {
    month: "all",
    state: isSame ? "proven" : "different",
    why: isSame
      ? `all ${found.read} records were read and are the same`
      : `${found.missing} not in the mirror, ${found.changed} different, ${gone} no longer in the API`,
    read_at: formatInstant(clock.now()),
  };
  const blind_spot =
    resource.strategy.kind === "detail"
      ? "details, which cost a request each: `sync --details all` reads them again"
      : "nothing, at the moment of reading";
  return { resource: resource.name, state: isSame ? "proven" : "different", months: [month], blind_spot };
}

async function* everyRecord(context: SyncContext): AsyncGenerator<{ record: ApiRecord; key: string }> {
  const { api, resource, signal } = context;
  if (resource.pagination === "unknown") {
    const { items, keys } = await settle(context, resource, resource.path);
    for (const [index, record] of items.entries()) yield { record, key: keys[index] ?? "" };
    return;
  }
  let position = 0;
  const query = { ...resource.query, per_page: 100 };
  for await (const page of readPages(api, resource.path, query, { scope: resource.scope, signal }))
    for (const record of page.records) {
      yield { record, key: keyOf(resource, record, position) };
      position += 1;
    }
}
