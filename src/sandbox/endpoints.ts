import { formatInstant } from "../util/times.js";
import { clicksParameters, createClicks, createHostRanking } from "./analytics.js";
import type { ListName, Order } from "./brand.js";
import { campaignStates } from "./data/campaign-data.js";
import { contentSources, mediaTypes } from "./data/library-data.js";
import { createDownloadUrl } from "./file-host.js";
import {
  fullSlice,
  instant,
  oneOf,
  ordersRange,
  paging,
  readQuery,
  respondWithPage,
  selectRange,
  someOf,
  uuids,
} from "./listing.js";
import { type Endpoint, type EndpointContext, ErrorResponse, type ResponseData } from "./protocol.js";

const analytics = { scope: "analytics:read", needsAnalyticsPlan: true };

export const endpoints: readonly Endpoint[] = [
  { path: "/me", scope: null, handle: getMe },
  { path: "/analytics/clicks", ...analytics, handle: getClicks },
  { path: "/analytics/hosts", ...analytics, handle: getHostRanking },
  { path: "/orders", ...analytics, handle: listOrders },
  { path: "/opportunities", scope: "opportunities:read", handle: listOpportunities },
  { path: "/opportunities/{id}", scope: "opportunities:read", handle: getOpportunity },
  { path: "/content", scope: "content:read", handle: listContent },
  { path: "/content/{source}/{item_id}/download", scope: "content:read", handle: getDownload },
  unfilteredList("roster"),
  unfilteredList("recommendations"),
  unfilteredList("gifts"),
  unfilteredList("codes"),
  unfilteredList("surveys"),
  { path: "/surveys/{id}/results", scope: "surveys:read", handle: getSurveyResults },
];

function getMe({ brand: { id, name }, key, query }: EndpointContext): ResponseData {
  readQuery({}, query);
  const { id: keyId, scopes, expiresAt } = key;
  return { data: { brand: { id, name }, key: { id: keyId, scopes, expires_at: formatInstant(expiresAt) } } };
}

function getClicks({ brand, query, now }: EndpointContext): ResponseData {
  return { data: createClicks(brand, readQuery(clicksParameters, query), now) };
}

function getHostRanking({ brand, query, now }: EndpointContext): ResponseData {
  const { sort, order, ...page } = readQuery(
    {
      ...paging,
      sort: oneOf(["clicks", "buy_now_clicks", "actions", "sale_amount"], "sale_amount"),
      order: oneOf(["asc", "desc"], "desc"),
    },
    query,
  );
  const member = sort === "actions" ? "orders" : sort === "sale_amount" ? "sales" : sort;
  const sign = order === "asc" ? 1 : -1;
  const rows = createHostRanking(brand, now).sort((a, b) => sign * (a[member] - b[member]));
  return respondWithPage(fullSlice(rows), page);
}

function listOrders({ brand, query }: EndpointContext): ResponseData {
  const { start_date, end_date, status, ...page } = readQuery(
    {
      ...paging,
      start_date: instant,
      end_date: instant,
      status: oneOf(["all", "active", "cancelled", "refunded"], "all"),
    },
    query,
  );
  const slice = selectRange(brand.orders, "order_date", ordersRange(start_date, end_date));
  if (status === "all") return respondWithPage(slice, page);
  const matching = slice.list.slice(slice.start, slice.end).filter((order) => hasStatus(order, status));
  return respondWithPage(fullSlice(matching), page);
}

function hasStatus(order: Order, status: "active" | "cancelled" | "refunded"): boolean {
  if (status === "cancelled") return order.is_cancelled === true;
  if (status === "refunded") return order.is_refunded === true;
  return order.is_cancelled !== true && order.is_refunded !== true;
}

function listOpportunities({ brand, query }: EndpointContext): ResponseData {
  const { status, ...page } = readQuery(
    { ...paging, status: someOf(campaignStates, (text) => text.toUpperCase()) },
    query,
  );
  const { list } = selectRange(brand.opportunities, "created_at", { from: null, to: null });
  const matching = list.filter((campaign) => isSelected(status, campaign.status));
  const listed = matching.map(({ deliverables, assignments, ...campaign }) => campaign);
  return respondWithPage(fullSlice(listed), page);
}

function getOpportunity({ brand, query, params: [id = ""] }: EndpointContext): ResponseData {
  readQuery({}, query);
  const campaign = brand.opportunities.find((one) => one.id.toLowerCase() === id.toLowerCase());
  return { data: campaign ?? notFound("opportunity") };
}

function listContent({ brand, query }: EndpointContext): ResponseData {
  const { uploaded_after, uploaded_before, sort, page, per_page, ...filters } = readQuery(
    {
      ...paging,
      source: someOf(contentSources),
      media_type: someOf(mediaTypes),
      opportunity_id: uuids,
      host_id: uuids,
      uploaded_after: instant,
      uploaded_before: instant,
      sort: oneOf(["newest", "oldest"], "newest"),
    },
    query,
  );
  const slice = selectRange(brand.content, "created_at", {
    from: uploaded_after?.at ?? null,
    // `uploaded_before` is exclusive (see "GET /content" in the API documentation).
    to: uploaded_before ? uploaded_before.at - 1 : null,
  });
  const matching = slice.list
    .slice(slice.start, slice.end)
    .filter(
      (item) =>
        isSelected(filters.source, item.source) &&
        isSelected(filters.media_type, item.media_type) &&
        isSelected(filters.opportunity_id, item.opportunity?.id) &&
        isSelected(filters.host_id, item.host?.id),
    );
  if (sort === "oldest") matching.reverse();
  return respondWithPage(fullSlice(matching), { page, per_page });
}

function isSelected(filter: readonly string[] | null, value: string | undefined): boolean {
  return filter?.some((selected) => selected === value) ?? true;
}

function getDownload({
  brand,
  query,
  params: [source, id = ""],
  filesUrl,
  now,
}: EndpointContext): ResponseData {
  readQuery({}, query);
  const item = brand.content.find((one) => one.source === source && one.id === id.toLowerCase());
  return { data: createDownloadUrl(brand, item ?? notFound("item"), filesUrl, now) };
}

function getSurveyResults({ brand, query, params: [id = ""] }: EndpointContext): ResponseData {
  readQuery({}, query);
  if (!brand.surveys.some((survey) => String(survey.id) === id)) notFound("survey");
  return { data: brand.results[id] ?? {} };
}

function unfilteredList(name: ListName): Endpoint {
  return {
    path: `/${name}`,
    scope: `${name}:read`,
    handle: ({ brand, query }) => respondWithPage(fullSlice<object>(brand[name]), readQuery(paging, query)),
  };
}

function notFound(noun: string): never {
  throw new ErrorResponse(404, "not_found", `The brand has no such ${noun}.`);
}
