import { clicksRules, createClicks, createHostRanking } from "./analytics.js";
import { timeText } from "./brand.js";
import { type Endpoint, type EndpointContext, ErrorResponse, type ResponseData } from "./endpoint.js";
import { signedUrl } from "./file-host.js";
import { content, fullSlice, opportunities, orders, plainList, respondWithPage } from "./listing.js";
import { oneOf, paging, readQuery } from "./parameters.js";

const analytics = { scope: "analytics:read", needsAnalyticsPlan: true };

/** The document's table of endpoints, in its order. */
export const endpoints: readonly Endpoint[] = [
  { path: "/me", scope: null, handle: me },
  { path: "/analytics/clicks", ...analytics, handle: clicks },
  { path: "/analytics/hosts", ...analytics, handle: ranking },
  { path: "/orders", ...analytics, handle: orders },
  { path: "/opportunities", scope: "opportunities:read", handle: opportunities },
  { path: "/opportunities/{id}", scope: "opportunities:read", handle: opportunity },
  { path: "/content", scope: "content:read", handle: content },
  { path: "/content/{source}/{item_id}/download", scope: "content:read", handle: download },
  plainList("roster", "roster:read"),
  plainList("recommendations", "recommendations:read"),
  plainList("gifts", "gifts:read"),
  plainList("codes", "codes:read"),
  plainList("surveys", "surveys:read"),
  { path: "/surveys/{id}/results", scope: "surveys:read", handle: results },
];

function me({ brand: { id, name }, key, query }: EndpointContext): ResponseData {
  readQuery({}, query);
  const { id: keyId, scopes, expiresAt } = key;
  return { data: { brand: { id, name }, key: { id: keyId, scopes, expires_at: timeText(expiresAt) } } };
}

function clicks({ brand, query, variants, now }: EndpointContext): ResponseData {
  const asked = readQuery(clicksRules, query);
  if (variants.dailyTotals === "absent")
    throw new ErrorResponse(402, "plan_required", "The plan has no figures.");
  return { data: createClicks(variants.dailyTotalsFrom ?? brand, asked, variants, now) };
}

function ranking({ brand, query: given, variants, now }: EndpointContext): ResponseData {
  const rules = {
    ...paging,
    sort: oneOf(["clicks", "buy_now_clicks", "actions", "sale_amount"], "sale_amount"),
    order: oneOf(["asc", "desc"], "desc"),
  };
  const query = readQuery(rules, given);
  const { sort } = query;
  const member = sort === "actions" ? "orders" : sort === "sale_amount" ? "sales" : sort;
  const sign = query.order === "asc" ? 1 : -1;
  const rows = createHostRanking(brand, variants, now).sort((a, b) => sign * (a[member] - b[member]));
  return respondWithPage(fullSlice(rows), query, variants);
}

function opportunity({ brand, query, params: [id = ""] }: EndpointContext): ResponseData {
  readQuery({}, query);
  return {
    data: found(brand.opportunities, (one) => one.id.toLowerCase() === id.toLowerCase(), "opportunity"),
  };
}

function download({ brand, query, params: [source, id = ""], filesUrl, now }: EndpointContext): ResponseData {
  readQuery({}, query);
  const item = found(brand.content, (one) => one.source === source && one.id === id.toLowerCase(), "item");
  return { data: signedUrl(brand, item, filesUrl, now) };
}

function results({ brand, query, params: [id = ""] }: EndpointContext): ResponseData {
  readQuery({}, query);
  found(brand.surveys, (one) => String(one.id) === id, "survey");
  return { data: brand.results[id] ?? {} };
}

function found<T>(records: readonly T[], isIt: (record: T) => boolean, noun: string): T {
  const record = records.find(isIt);
  if (!record) throw new ErrorResponse(404, "not_found", `The brand has no such ${noun}.`);
  return record;
}
