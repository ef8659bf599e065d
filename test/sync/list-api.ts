import type { Answer, ApiClient } from "../../src/api/client.js";
import { PlanLacksData } from "../../src/errors.js";
import type { JsonObject, Query, Recognise } from "../../src/resources/types.js";

/** A list of orders in memory that answers like the API, without a socket: for walks of ten thousand pages. */
export interface ListApi extends ApiClient {
  rows: JsonObject[];
  asked: Query[];
  /** Called before each answer. */
  before: ((query: Query) => void) | undefined;
  /** Whether there are figures by day; the plan lacks them otherwise. */
  figures: boolean;
  /** Whether records without a date are listed in every range of dates, or in none. */
  undated: "everywhere" | "apart";
  /** How many characters of an order's date are shown; the API's filters know all of them. */
  shownDate: number;
}

export function listApi(rows: JsonObject[]): ListApi {
  const stats = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  const api: ListApi = {
    rows,
    asked: [],
    before: undefined,
    figures: false,
    undated: "apart",
    shownDate: 30,
    stats,
    close: () => {},
    async get(path, query = {}, { arrived, recognise } = {}) {
      stats.requests += 1;
      if (path !== "/orders" && !api.figures) throw new PlanLacksData("no figures here");
      api.before?.(path === "/orders" ? query : {});
      if (path !== "/orders") return { ...answer([], {}), data: figuresOf(api.rows), items: null };
      api.asked.push(query);
      const rows = select(api.rows, query, api.undated).map(({ at, row }) => ({
        at,
        row: shown(row, api.shownDate),
      }));
      const { pagination } = answer(rows, query);
      await arrived?.(pagination);
      return answer(rows, query, recognise);
    },
  };
  return api;
}

/** The instant in microseconds: dates can be finer than milliseconds. NaN for none. */
function instantOf(text: unknown): number {
  const finer = /\.\d{3}(\d{1,3})/.exec(String(text))?.[1] ?? "";
  return Date.parse(String(text)) * 1_000 + Number(finer.padEnd(3, "0"));
}

/** An order with so much of its date: `2026-01-01T00:00:00.123456Z` as `2026-01-01T00:00:00.123Z`. */
function shown(row: JsonObject, characters: number): JsonObject {
  const date = String(row.order_date);
  return date.length <= characters ? row : { ...row, order_date: `${date.slice(0, characters - 1)}Z` };
}

/** The sum and number of each day's orders, as the API gives them. */
function figuresOf(rows: readonly JsonObject[]): JsonObject {
  const days = new Map<string, { orders: number; revenue: number }>();
  for (const row of rows) {
    const date = String(row.order_date).slice(0, 10);
    const { orders, revenue } = days.get(date) ?? { orders: 0, revenue: 0 };
    days.set(date, { orders: orders + 1, revenue: revenue + Number(row.total_amount) });
  }
  return { timeseries: [...days].map(([date, figures]) => ({ date, ...figures })) };
}

interface Dated {
  at: number;
  row: JsonObject;
}

/** Newest first, worked out once for each list; records without a date stand last. */
const sorted = new WeakMap<readonly JsonObject[], Dated[]>();

function select(
  rows: readonly JsonObject[],
  { start_date, end_date, status }: Query,
  undated: ListApi["undated"],
): Dated[] {
  const list =
    sorted.get(rows) ??
    rows
      .map((row) => ({ at: instantOf(row.order_date), row }))
      .sort((a, b) => (Number.isNaN(a.at) ? 1 : Number.isNaN(b.at) ? -1 : b.at - a.at));
  sorted.set(rows, list);
  if (start_date === undefined && end_date === undefined && status === undefined) return list;
  const from = start_date === undefined ? Number.NEGATIVE_INFINITY : instantOf(start_date);
  const to = end_date === undefined ? Number.POSITIVE_INFINITY : instantOf(end_date);
  return list.filter(
    ({ at, row }) =>
      (Number.isNaN(at) ? undated === "everywhere" : at >= from && at <= to) &&
      (status === undefined || row[`is_${status}`] === true),
  );
}

/** A page of a list, as the API gives it. */
export function answer(found: readonly Pick<Dated, "row">[], query: Query, recognise?: Recognise): Answer {
  const page = Number(query.page ?? 1);
  const perPage = Number(query.per_page ?? 25);
  const pages = Math.ceil(found.length / perPage);
  const items = found.slice((page - 1) * perPage, page * perPage).map(({ row }) => row);
  return {
    data: items,
    json: JSON.stringify(items),
    items: items.map((value) => {
      const json = JSON.stringify(value);
      const held = recognise?.(json);
      return { json, value, ...(held && { held }) };
    }),
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
