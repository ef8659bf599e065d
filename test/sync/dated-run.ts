import type { ApiClient } from "../../src/api/client.js";
import type { ApiResponse } from "../../src/api/response.js";
import { systemClock } from "../../src/deps.js";
import { orders } from "../../src/resources/orders.js";
import type { DatedStrategy, Resource } from "../../src/resources/resource.js";
import type { Mirror } from "../../src/store/database.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import type { TotalsByDay } from "../../src/store/sync-state.js";
import { type DatedRun, defaultOptions, type SyncOptions, startRun } from "../../src/sync/session.js";
import { UnsettledSlices } from "../../src/sync/unsettled-slices.js";
import type { Json, JsonObject } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";
import { makeMirror } from "../support/mirror.js";
import { noon, orderAt } from "../support/records.js";

/** An order in the API. `at` is the date that the API's date filter uses, in milliseconds since the Unix epoch. */
export interface ListedOrder {
  at: number;
  record: Json;
}

export function listedAt(id: string, at: number, fields: JsonObject = {}): ListedOrder {
  return { at, record: orderAt(id, at, fields) as unknown as Json };
}

interface Query {
  [parameter: string]: string | number | undefined;
}

interface DatedRunOptions {
  mirror?: Mirror;
  apiTotals?: TotalsByDay | null;
  options?: Partial<SyncOptions>;
  /** Returns the orders that a response contains. By default, these are all orders in the requested date range. */
  respond?: (matching: readonly ListedOrder[], query: Query) => readonly ListedOrder[];
}

/**
 * Creates a run that syncs orders from an API that lists them in the given order. `requests` contains each request's
 * query, and `warnings` contains the printed warnings.
 */
export async function makeDatedRun(
  listed: readonly ListedOrder[],
  { apiTotals = null, options, respond = (matching) => matching, ...given }: DatedRunOptions = {},
) {
  const mirror = given.mirror ?? (await makeMirror());
  const stats = { requests: 0, retries: 0 };
  const requests: Query[] = [];
  const warnings: string[] = [];
  const get = async (_: string, query: Query = {}): Promise<ApiResponse> => {
    stats.requests += 1;
    requests.push(query);
    const { end_date: end, page, per_page: perPage, start_date: start, status } = query;
    const [from, to] = [start ? Date.parse(`${start}`) : -Infinity, end ? Date.parse(`${end}`) : Infinity];
    const matching = listed.filter(
      ({ at, record }) =>
        at >= from && at <= to && (!status || (record as JsonObject)[`is_${status}`] === true),
    );
    const all = respond(matching, query).map(({ record }) => record);
    const [number, size] = [Number(page), Number(perPage)];
    const items = all.slice((number - 1) * size, number * size);
    const pagination = {
      page: number,
      per_page: size,
      total_items: all.length,
      total_pages: Math.max(1, Math.ceil(all.length / size)),
      has_next: number * size < all.length,
      has_prev: number > 1,
    };
    return { data: items, items, pagination, requestedAt: noon + stats.requests, serverTime: null };
  };
  const reporter = { ...silentReporter, warn: (text: string) => void warnings.push(text) };
  const session = {
    mirror,
    api: { get, stats } as unknown as ApiClient,
    clock: { ...systemClock, now: () => noon },
    signal: new AbortController().signal,
    apiKeys: new Set<string>(),
    reporter,
    options: { ...defaultOptions, ...options },
    cachedTotals: new Map(),
  };
  const resource: Resource<DatedStrategy> = orders;
  const started = startRun(session, resource, silentReporter.begin({ name: "orders" }));
  const writer = new RecordWriter(mirror, resource, { runId: started.runId, reporter });
  const run: DatedRun = { ...started, resource, writer, apiTotals, unsettledSlices: new UnsettledSlices() };
  return { run, requests, warnings };
}
