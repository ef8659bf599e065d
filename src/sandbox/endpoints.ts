import { clicksOf, clicksRules, hostRows } from "./analytics.js";
import { timeText } from "./brand.js";
import { type Asked, type Endpoint, Refusal, type Reply } from "./endpoint.js";
import { signedUrl } from "./file-host.js";
import { content, opportunities, orders, pageOf, plainList, whole } from "./listing.js";
import { oneOf, paging, readQuery } from "./parameters.js";

const analytics = { scope: "analytics:read", plan: true };

/** The document's table of endpoints, in its order. */
export const endpoints: readonly Endpoint[] = [
  { path: "/me", scope: null, answer: me },
  { path: "/analytics/clicks", ...analytics, answer: clicks },
  { path: "/analytics/hosts", ...analytics, answer: ranking },
  { path: "/orders", ...analytics, answer: orders },
  { path: "/opportunities", scope: "opportunities:read", answer: opportunities },
  { path: "/opportunities/{id}", scope: "opportunities:read", answer: opportunity },
  { path: "/content", scope: "content:read", answer: content },
  { path: "/content/{source}/{item_id}/download", scope: "content:read", answer: download },
  plainList("roster", "roster:read"),
  plainList("recommendations", "recommendations:read"),
  plainList("gifts", "gifts:read"),
  plainList("codes", "codes:read"),
  plainList("surveys", "surveys:read"),
  { path: "/surveys/{id}/results", scope: "surveys:read", answer: results },
];

function me({ brand: { id, name }, key, query }: Asked): Reply {
  readQuery({}, query);
  const { id: keyId, scopes, expiresAt } = key;
  return { data: { brand: { id, name }, key: { id: keyId, scopes, expires_at: timeText(expiresAt) } } };
}

function clicks({ brand, query, doubts, now }: Asked): Reply {
  const asked = readQuery(clicksRules, query);
  if (doubts.figures === "absent") throw new Refusal(402, "plan_required", "The plan has no figures.");
  return { data: clicksOf(doubts.figuresOf ?? brand, asked, doubts, now) };
}

function ranking({ brand, query: given, doubts, now }: Asked): Reply {
  const rules = {
    ...paging,
    sort: oneOf(["clicks", "buy_now_clicks", "actions", "sale_amount"], "sale_amount"),
    order: oneOf(["asc", "desc"], "desc"),
  };
  const query = readQuery(rules, given);
  const { sort } = query;
  const member = sort === "actions" ? "orders" : sort === "sale_amount" ? "sales" : sort;
  const sign = query.order === "asc" ? 1 : -1;
  const rows = hostRows(brand, doubts, now).sort((a, b) => sign * (a[member] - b[member]));
  return pageOf(whole(rows), query, doubts);
}

function opportunity({ brand, query, params: [id = ""] }: Asked): Reply {
  readQuery({}, query);
  return {
    data: found(brand.opportunities, (one) => one.id.toLowerCase() === id.toLowerCase(), "opportunity"),
  };
}

function download({ brand, query, params: [source, id = ""], filesUrl, now }: Asked): Reply {
  readQuery({}, query);
  const item = found(brand.content, (one) => one.source === source && one.id === id.toLowerCase(), "item");
  return { data: signedUrl(brand, item, filesUrl, now) };
}

function results({ brand, query, params: [id = ""] }: Asked): Reply {
  readQuery({}, query);
  found(brand.surveys, (one) => String(one.id) === id, "survey");
  return { data: brand.results[id] ?? {} };
}

function found<T>(records: readonly T[], isIt: (record: T) => boolean, noun: string): T {
  const record = records.find(isIt);
  if (!record) throw new Refusal(404, "not_found", `The brand has no such ${noun}.`);
  return record;
}
