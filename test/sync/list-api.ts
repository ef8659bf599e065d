import type { Answer, ApiClient } from "../../src/api/client.js";
import { PlanLacksData } from "../../src/errors.js";
import type { JsonObject, Query } from "../../src/resources/types.js";

/** A list of orders in memory that answers like the API, without a socket: for walks of ten thousand pages. */
export interface ListApi extends ApiClient {
  rows: JsonObject[];
  asked: Query[];
  /** Called before each answer. */
  before: ((query: Query) => void) | undefined;
}

export function listApi(rows: JsonObject[]): ListApi {
  const stats = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  const api: ListApi = {
    rows,
    asked: [],
    before: undefined,
    stats,
    close: () => {},
    async get(path, query = {}) {
      stats.requests += 1;
      if (path !== "/orders") throw new PlanLacksData("no figures here");
      api.asked.push(query);
      api.before?.(query);
      return answer(select(api.rows, query), query);
    },
  };
  return api;
}

interface Dated {
  at: number;
  row: JsonObject;
}

/** Newest first, worked out once for each list. */
const sorted = new WeakMap<readonly JsonObject[], Dated[]>();

function select(rows: readonly JsonObject[], { start_date, end_date, status }: Query): Dated[] {
  const list =
    sorted.get(rows) ??
    rows.map((row) => ({ at: Date.parse(String(row.order_date)), row })).sort((a, b) => b.at - a.at);
  sorted.set(rows, list);
  const from = start_date === undefined ? Number.NEGATIVE_INFINITY : Date.parse(String(start_date));
  const to = end_date === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(end_date));
  if (from === Number.NEGATIVE_INFINITY && to >= (list[0]?.at ?? 0) && status === undefined) return list;
  return list.filter(
    ({ at, row }) => at >= from && at <= to && (status === undefined || row[`is_${status}`] === true),
  );
}

function answer(found: readonly Dated[], query: Query): Answer {
  const page = Number(query.page ?? 1);
  const perPage = Number(query.per_page ?? 25);
  const pages = Math.ceil(found.length / perPage);
  const items = found.slice((page - 1) * perPage, page * perPage).map(({ row }) => row);
  return {
    data: items,
    json: JSON.stringify(items),
    items: items.map((value) => ({ json: JSON.stringify(value), value })),
    pagination: {
      page,
      per_page: perPage,
      total_items: found.length,
      total_pages: pages,
      has_next: page < pages,
      has_prev: page > 1,
    },
    receivedAt: Date.now(),
  };
}
