import {
  apiRoot,
  createSandboxApi,
  respond,
  type SandboxApi,
  type SandboxApiOptions,
  type SandboxRequest,
} from "../../src/sandbox/api.js";
import type { Brand } from "../../src/sandbox/brand.js";
import { ErrorResponse, type ResponseData, toMicroseconds } from "../../src/sandbox/endpoint.js";
import type { Order } from "../../src/sandbox/orders-endpoint.js";
import { hash, mixBits } from "../../src/sandbox/random.js";
import { dayMs, formatInstant, hourMs } from "../../src/util/timestamps.js";

/**
 * The ways in which a real server could differ from the sandbox. Some variants are different interpretations of the API
 * documentation, and others violate it. The first value of each variant is the sandbox's behavior.
 */
export const documentedBehavior = {
  /** The maximum page size. If `per_page` is larger, `pagination.per_page` contains the maximum. */
  maxPerPage: 100,
  /**
   * The order of records with equal dates, and of lists without dates. `random` reorders some of these records in each
   * response.
   */
  ties: oneOf("stable", "reversed", "random"),
  /** The sort order for orders and content. `attribution` lists the most recently added record first. */
  order: oneOf("date", "id", "attribution"),
  /**
   * The precision of dates in responses. Filters always use the exact dates. `rounded` rounds to the nearest second,
   * `minutes` sets the seconds to 0, `no seconds` omits them, and `invalid` sets the hour of some dates to 24.
   */
  datePrecision: oneOf(
    "exact",
    "milliseconds",
    "seconds",
    "rounded",
    "minutes",
    "no seconds",
    "midnight",
    "days",
    "invalid",
  ),
  /** Whether records without a date are listed in every range, or only if no range is requested. */
  undated: oneOf("without range", "in every range"),
  ignoresDateFilters: oneOf(false, true),
  /** True if each list includes one record dated before the requested range. */
  includesRecordBelow: oneOf(false, true),
  /** The maximum value of `total_items`, which also limits `total_pages`. */
  maxTotal: Number.POSITIVE_INFINITY,
  /** An earlier state of the brand. If set, `total_items` is the number of records in this state. */
  totalsFrom: oneOf<Brand | null>(null),
  /** The days for which `GET /analytics/clicks` returns totals: all days, the last 90 days, or none (status 402). */
  dailyTotals: oneOf("all", "recent", "absent"),
  /** An earlier state of the brand. If set, `GET /analytics/clicks` returns the totals for this state. */
  dailyTotalsFrom: oneOf<Brand | null>(null),
  revenue: oneOf("net", "gross"),
  /** Whether the totals exclude or include cancelled orders. */
  cancelled: oneOf("out", "in"),
  /** True if the revenue for most days changes every hour even though no order changes. */
  dailyTotalsDrift: oneOf(false, true),
  /** Whether the time series contains a data point with zeros for a day without activity, or no data point. */
  emptyDays: oneOf("zero", "missing"),
  /** Whether `status=refunded` selects only fully refunded orders or all orders with a refund. */
  refundedFilter: oneOf("fully", "any"),
  /** Whether a cancelled and refunded order matches both statuses, or only `cancelled`. */
  statusFilters: oneOf("overlap", "partition"),
  /** Whether a request for a page past the end returns an empty list or status 400. */
  pastEnd: oneOf("empty", "refused"),
  pagesWhenEmpty: oneOf(0, 1),
  /** Whether gifts, codes and surveys are paginated, or returned in a single response. */
  undocumentedLists: oneOf("paged", "complete"),
};

export type ApiVariants = typeof documentedBehavior;

function oneOf<const V>(value: V, ..._others: V[]): V {
  return value;
}

export interface VariantApi extends SandboxApi {
  brands: readonly Brand[];
  variants: Partial<ApiVariants>;
}

export function createVariantApi({
  variants = {},
  ...options
}: SandboxApiOptions & { variants?: Partial<ApiVariants> | undefined }): VariantApi {
  const api: VariantApi = Object.assign(
    createSandboxApi({
      ...options,
      respond: (request, brand, context) => respondWithVariants(request, brand, context, api.variants),
    }),
    { brands: options.brands, variants },
  );
  return api;
}

type Context = Parameters<typeof respond>[2];
type Fields = Record<string, unknown>;

function respondWithVariants(
  request: SandboxRequest,
  brand: Brand,
  context: Context,
  variants: Partial<ApiVariants>,
): ResponseData {
  if (Object.keys(variants).length === 0) return respond(request, brand, context);
  const behavior = { ...documentedBehavior, ...variants };
  const name = request.url.split("?")[0]?.slice(apiRoot.length + 1) ?? "";
  if (name === "analytics/clicks") return respondWithClicks(request, brand, context, behavior);
  if (name === "analytics/hosts") brand = { ...brand, orders: countedOrders(brand, behavior, context.now) };
  const documented = respond(request, brand, context);
  if (!documented.pagination) return documented;
  if (behavior.undocumentedLists === "complete" && ["gifts", "codes", "surveys"].includes(name)) {
    if (request.url.includes("?"))
      throw new ErrorResponse(400, "unknown_parameter", "This endpoint accepts no parameters.");
    return { data: brand[name as "gifts"] };
  }
  const records = selectRecords({ request, brand, context, behavior, name });
  return paginate(records, { request, brand, context, behavior });
}

function respondWithClicks(
  request: SandboxRequest,
  current: Brand,
  context: Context,
  behavior: ApiVariants,
): ResponseData {
  const brand = behavior.dailyTotalsFrom ? { ...behavior.dailyTotalsFrom, keys: current.keys } : current;
  const orders = countedOrders(brand, behavior, context.now);
  const clicksOf = (some: readonly Order[], url = request.url) =>
    respond({ ...request, url }, { ...brand, orders: some }, context).data as Clicks;
  const isOld = (order: Order) => Date.parse(order.order_date) < context.now - 10 * 365 * dayMs;
  const old = behavior.emptyDays === "missing" ? orders.filter(isOld) : [];
  const clicks = clicksOf(old.length > 0 ? orders.filter((order) => !isOld(order)) : orders);
  if (behavior.dailyTotals === "absent")
    throw new ErrorResponse(402, "plan_required", "The brand's plan does not include totals.");
  if (behavior.emptyDays === "zero") return { data: clicks };
  // Requests each old day with orders separately, because a single range could start in the year 1 and contain 700,000
  // days.
  const url = new URL(request.url, "http://api");
  const [start, end] = ["start_date", "end_date"].map((name) => url.searchParams.get(name)?.slice(0, 10));
  const oldDays = [...new Set(old.map((order) => order.order_date.slice(0, 10)))].sort();
  const oldPoints = oldDays.flatMap((date) => {
    if ((start && date < start) || (end && date > end)) return [];
    for (const name of ["start_date", "end_date"]) url.searchParams.set(name, date);
    return clicksOf(old, url.pathname + url.search).timeseries;
  });
  const timeseries = [...oldPoints, ...clicks.timeseries].filter(hasActivity);
  return { data: { ...clicks, timeseries } };
}

interface Clicks {
  timeseries: Record<string, number>[];
}

function hasActivity(point: Clicks["timeseries"][number]): boolean {
  return Boolean(point.orders || point.total_clicks || point.profile_views);
}

/** Changes the orders so that the documented API reports the same totals as the variant. */
function countedOrders({ orders }: Brand, behavior: ApiVariants, now: number): readonly Order[] {
  const { cancelled, dailyTotals, dailyTotalsDrift, revenue } = behavior;
  if (cancelled === "out" && dailyTotals === "all" && !dailyTotalsDrift && revenue === "net") return orders;
  const oldest = dailyTotals === "recent" ? now - 90 * dayMs : Number.NEGATIVE_INFINITY;
  return orders.flatMap((order) => {
    const start = Math.floor(Date.parse(order.order_date) / dayMs) * dayMs;
    if (start < oldest) return [];
    const refund = revenue === "net" ? Number(order.refund_amount ?? 0) : 0;
    const rate = dailyTotalsDrift ? exchangeRate(start, now) : 1;
    return {
      ...order,
      total_amount: (Number(order.total_amount ?? 0) - refund) * rate,
      refund_amount: 0,
      is_cancelled: cancelled === "out" && order.is_cancelled,
    };
  });
}

/** Returns a day's exchange rate, which changes every hour on four out of five days. */
function exchangeRate(start: number, now: number): number {
  if (hash(3, "rate", start / dayMs) % 5 === 0) return 1;
  return 1 + (hash(4, "hour", Math.floor(now / hourMs)) % 1_000) / 20_000;
}

interface ListRequest {
  request: SandboxRequest;
  brand: Brand;
  context: Context;
  behavior: ApiVariants;
  name: string;
}

const dateMembers: Record<string, { date: string; from: string; to: string }> = {
  orders: { date: "order_date", from: "start_date", to: "end_date" },
  content: { date: "created_at", from: "uploaded_after", to: "uploaded_before" },
};

function selectRecords(list: ListRequest): Fields[] {
  const { behavior, name } = list;
  const members = dateMembers[name];
  const select = (...ignored: string[]) => collectPages(list, ignored);
  if (!members) return select();
  const { date, from, to } = members;
  const query = new URL(list.request.url, "http://api").searchParams;
  const records = behavior.ignoresDateFilters ? select(from, to) : select();
  if (behavior.includesRecordBelow && query.has(from))
    records.push(...select(from).slice(records.length, records.length + 1));
  if (behavior.undated === "in every range" && (query.has(from) || query.has(to)))
    records.push(...select(from, to).filter((record) => Number.isNaN(toMicroseconds(record[date]))));
  return sortRecords(records, list).map((record) => {
    const text = record[date];
    return typeof text === "string"
      ? { ...record, [date]: formatDate(text, behavior.datePrecision) }
      : record;
  });
}

/** Reads all pages of the documented list, without the request parameters in `ignored`. */
function collectPages(list: ListRequest, ignored: readonly string[]): Fields[] {
  const { request, context } = list;
  const url = new URL(request.url, "http://api");
  for (const parameter of ignored) url.searchParams.delete(parameter);
  const brand = brandForSelection(list, url.searchParams);
  const records: Fields[] = [];
  for (let page = 1; ; page += 1) {
    url.searchParams.set("page", String(page));
    url.searchParams.set("per_page", "100");
    const { data, pagination } = respond({ ...request, url: url.pathname + url.search }, brand, context);
    records.push(...(data as Fields[]));
    if (!pagination?.has_next) break;
  }
  if (brand.orders === list.brand.orders || list.name !== "orders" || !url.searchParams.has("status"))
    return records;
  // The changed orders determine only which records match. The response contains the original orders.
  const originals = new Map(list.brand.orders.map((order) => [order.id, order]));
  return records.map((record) => originals.get(String(record.id)) ?? record);
}

/** Changes the brand so that the documented API selects and sorts records as the variant does. */
function brandForSelection({ brand, behavior, context, name }: ListRequest, query: URLSearchParams): Brand {
  const { refundedFilter, statusFilters, ties } = behavior;
  let changed = brand;
  if (ties !== "stable" && name in brand) {
    const records = brand[name as "gifts"];
    const ordered =
      ties === "reversed"
        ? records.toReversed()
        : records
            .map((record, index) => ({ record, rank: index + (mixBits(index + context.now * 7_919) % 20) }))
            .sort((a, b) => a.rank - b.rank)
            .map(({ record }) => record);
    changed = { ...changed, [name]: ordered };
  }
  if (query.has("status") && name === "orders" && (refundedFilter === "any" || statusFilters === "partition"))
    changed = {
      ...changed,
      orders: changed.orders.map((order) => {
        const hasRefund =
          order.is_refunded || (refundedFilter === "any" && Number(order.refund_amount ?? 0) > 0);
        const isExcluded =
          statusFilters === "partition" && order.is_cancelled && query.get("status") === "refunded";
        return { ...order, is_refunded: hasRefund && !isExcluded };
      }),
    };
  return changed;
}

function sortRecords(records: Fields[], { behavior, brand, name }: ListRequest): Fields[] {
  if (behavior.order === "date") return records;
  if (behavior.order === "id") return records.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  const positions = new Map(brand[name as "gifts"].map(({ id }, index) => [id, index]));
  const positionOf = (record: Fields) => positions.get(record.id as string) ?? 0;
  return records.sort((a, b) => positionOf(a) - positionOf(b));
}

export function formatDate(text: string, precision: ApiVariants["datePrecision"]): string {
  if (precision === "exact" || !text.includes("T")) return text;
  if (precision === "milliseconds") return text.replace(/(\.\d{3})\d+/, "$1");
  if (precision === "seconds") return `${text.slice(0, 19)}Z`;
  if (precision === "rounded")
    return `${formatInstant(Math.round(toMicroseconds(text) / 1_000_000) * 1_000).slice(0, 19)}Z`;
  if (precision === "minutes") return `${text.slice(0, 16)}:00Z`;
  if (precision === "no seconds") return `${text.slice(0, 16)}Z`;
  if (precision === "midnight") return `${text.slice(0, 10)}T00:00:00Z`;
  if (precision === "days") return text.slice(0, 10);
  return /[048]$/.test(text.slice(0, 16)) ? `${text.slice(0, 11)}24:00:00Z` : text;
}

function paginate(
  records: readonly Fields[],
  { request, brand: { keys }, context, behavior }: Omit<ListRequest, "name">,
): ResponseData {
  const { maxPerPage, maxTotal, pagesWhenEmpty, pastEnd, totalsFrom } = behavior;
  const query = new URL(request.url, "http://api").searchParams;
  const page = Number(query.get("page") ?? 1);
  const per_page = Math.min(Number(query.get("per_page") ?? 25), maxPerPage);
  const total = totalsFrom
    ? (respond(request, { ...totalsFrom, keys }, context).pagination?.total_items ?? 0)
    : records.length;
  const total_items = Math.min(total, maxTotal);
  const total_pages = Math.ceil(total_items / per_page) || pagesWhenEmpty;
  if (page > Math.max(1, total_pages) && pastEnd === "refused")
    throw new ErrorResponse(400, "invalid_parameter", `page must be at most ${total_pages}.`);
  return {
    data: records.slice((page - 1) * per_page, page * per_page),
    pagination: {
      page,
      per_page,
      total_items,
      total_pages,
      has_next: page < total_pages,
      has_prev: page > 1,
    },
  };
}
