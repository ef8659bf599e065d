import { clicksOf, hostRows } from "./analytics.js";
import { type Endpoint, endpoint } from "./endpoint.js";
import { signedUrl } from "./files.js";
import { content, opportunities, orders, ordersRange, plainList } from "./lists.js";
import { instant, integer, oneOf, oneUuid, paging } from "./parameters.js";
import { Refusal } from "./refusal.js";
import { pageOf, whole } from "./reply.js";
import { timeText } from "./time.js";

const me = endpoint({
  path: "/me",
  rules: {},
  answer: ({ brand: { id, name }, key }) =>
    whole({
      brand: { id, name },
      key: { id: key.id, scopes: key.scopes, expires_at: timeText(key.expiresAt) },
    }),
});

const clicks = endpoint({
  path: "/analytics/clicks",
  scope: "analytics:read",
  plan: true,
  rules: {
    start_date: instant,
    end_date: instant,
    group_by: oneOf(["day", "week", "month"], "day"),
    host_id: oneUuid,
    limit: integer(20, 1, 100),
  },
  answer({ brand, query, doubts, now }) {
    if (doubts.figures === "absent") throw new Refusal(402, "plan_required", "The plan has no figures.");
    const range = ordersRange(query.start_date, query.end_date);
    const asked = { range, groupBy: query.group_by, hostId: query.host_id, limit: query.limit };
    return whole(clicksOf(doubts.figuresOf ?? brand, asked, doubts, now));
  },
});

const ranking = endpoint({
  path: "/analytics/hosts",
  scope: "analytics:read",
  plan: true,
  rules: {
    ...paging,
    sort: oneOf(["clicks", "buy_now_clicks", "actions", "sale_amount"], "sale_amount"),
    order: oneOf(["asc", "desc"], "desc"),
  },
  answer({ brand, query, doubts, now }) {
    const { sort } = query;
    const member = sort === "actions" ? "orders" : sort === "sale_amount" ? "sales" : sort;
    const sign = query.order === "asc" ? 1 : -1;
    const rows = hostRows(brand, doubts, now).sort((a, b) => sign * (a[member] - b[member]));
    return pageOf(rows, query, doubts);
  },
});

const opportunity = endpoint({
  path: "/opportunities/{id}",
  scope: "opportunities:read",
  rules: {},
  answer: ({ brand, params: [id = ""] }) =>
    whole(found(brand.opportunities, (one) => one.id.toLowerCase() === id.toLowerCase(), "opportunity")),
});

const download = endpoint({
  path: "/content/{source}/{item_id}/download",
  scope: "content:read",
  rules: {},
  answer({ brand, params: [source, id = ""], filesUrl, now }) {
    const item = found(brand.content, (one) => one.source === source && one.id === id.toLowerCase(), "item");
    return whole(signedUrl(brand, item, filesUrl, now));
  },
});

const results = endpoint({
  path: "/surveys/{id}/results",
  scope: "surveys:read",
  rules: {},
  answer({ brand, params: [id = ""] }) {
    found(brand.surveys, (one) => String(one.id) === id, "survey");
    return whole(brand.results[id] ?? {});
  },
});

function found<T>(records: readonly T[], isIt: (record: T) => boolean, noun: string): T {
  const record = records.find(isIt);
  if (!record) throw new Refusal(404, "not_found", `The brand has no such ${noun}.`);
  return record;
}

/** The document's table of endpoints, in its order. */
export const endpoints: readonly Endpoint[] = [
  me,
  clicks,
  ranking,
  orders,
  opportunities,
  opportunity,
  content,
  download,
  plainList("roster", "roster:read"),
  plainList("recommendations", "recommendations:read"),
  plainList("gifts", "gifts:read"),
  plainList("codes", "codes:read"),
  plainList("surveys", "surveys:read"),
  results,
];
