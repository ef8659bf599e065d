import { clicksOf, hostRows } from "./analytics.js";
import type { Brand, ListName } from "./brand.js";
import { campaignStates } from "./data/campaigns.js";
import { contentSources, mediaTypes } from "./data/library.js";
import { inRange, type Range, shownDate } from "./dated.js";
import type { Doubts } from "./doubts.js";
import { type Endpoint, endpoint } from "./endpoint.js";
import { signedUrl } from "./files.js";
import {
  type Instant,
  instant,
  integer,
  lastOf,
  oneOf,
  oneUuid,
  paging,
  someOf,
  someStates,
  uuids,
} from "./parameters.js";
import type { Campaign, ContentItem, Order } from "./records.js";
import { Refusal } from "./refusal.js";
import { pageOf, whole } from "./reply.js";
import { timeText } from "./time.js";

/** The document's table of endpoints, in its order. */
export const endpoints: readonly Endpoint[] = [
  endpoint({
    path: "/me",
    rules: {},
    answer: ({ brand: { id, name }, key }) =>
      whole({
        brand: { id, name },
        key: { id: key.id, scopes: key.scopes, expires_at: timeText(key.expiresAt) },
      }),
  }),
  endpoint({
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
      const range = ordersRange(query.start_date, query.end_date, doubts);
      const asked = { range, groupBy: query.group_by, hostId: query.host_id, limit: query.limit };
      return whole(clicksOf(doubts.figuresOf ?? brand, asked, doubts, now));
    },
  }),
  endpoint({
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
  }),
  endpoint({
    path: "/orders",
    scope: "analytics:read",
    plan: true,
    rules: {
      ...paging,
      start_date: instant,
      end_date: instant,
      status: oneOf(["all", "active", "cancelled", "refunded"], "all"),
    },
    answer({ brand, query, doubts, now }) {
      const range = ordersRange(query.start_date, query.end_date, doubts);
      const { status } = query;
      const filter = `${status} ${doubts.refunded} ${doubts.statuses}`;
      const list = ({ orders }: Brand) =>
        inRange(orders, dateOfOrder, range, doubts, now, filter, (order) =>
          isInStatus(order, status, doubts),
        );
      const total = doubts.totalsOf ? list(doubts.totalsOf).length : undefined;
      return pageOf(list(brand), query, doubts, total, (order) => shown(order, "order_date", doubts));
    },
  }),
  endpoint({
    path: "/opportunities",
    scope: "opportunities:read",
    rules: { ...paging, status: someStates(campaignStates) },
    answer({ brand, query, doubts, now }) {
      const states = query.status?.map(String);
      const list = ({ opportunities }: Brand) =>
        inRange(
          opportunities,
          ({ created_at }) => created_at,
          always,
          doubts,
          now,
          `${states}`,
          ({ status }) => states?.includes(status) ?? true,
        );
      const total = doubts.totalsOf ? list(doubts.totalsOf).length : undefined;
      return pageOf(list(brand), query, doubts, total, listedCampaign);
    },
  }),
  endpoint({
    path: "/opportunities/{id}",
    scope: "opportunities:read",
    rules: {},
    answer: ({ brand, params: [id = ""] }) =>
      whole(found(brand.opportunities, (one) => one.id.toLowerCase() === id.toLowerCase(), "opportunity")),
  }),
  endpoint({
    path: "/content",
    scope: "content:read",
    rules: {
      ...paging,
      source: someOf(contentSources),
      media_type: someOf(mediaTypes),
      opportunity_id: uuids,
      host_id: uuids,
      uploaded_after: instant,
      uploaded_before: instant,
      sort: oneOf(["newest", "oldest"], "newest"),
    },
    answer({ brand, query, doubts, now }) {
      const { uploaded_after: after, uploaded_before: before } = query;
      // On or after, but strictly before: API document, /content.
      const range = { from: after?.at ?? null, to: before ? before.at - 1 : null };
      const wanted = [query.source, query.media_type, query.opportunity_id, query.host_id];
      const keep = (item: ContentItem) =>
        [item.source, item.media_type, item.opportunity?.id, item.host?.id].every(
          (value, place) => wanted[place]?.some((one) => one === value) ?? true,
        );
      const list = ({ content }: Brand) =>
        inRange(content, ({ created_at }) => created_at, range, doubts, now, JSON.stringify(wanted), keep);
      const files = query.sort === "oldest" ? list(brand).toReversed() : list(brand);
      const total = doubts.totalsOf ? list(doubts.totalsOf).length : undefined;
      return pageOf(files, query, doubts, total, (item) => shown(item, "created_at", doubts));
    },
  }),
  endpoint({
    path: "/content/{source}/{item_id}/download",
    scope: "content:read",
    rules: {},
    answer({ brand, params: [source, id = ""], filesUrl, now }) {
      const item = found(
        brand.content,
        (one) => one.source === source && one.id === id.toLowerCase(),
        "item",
      );
      return whole(signedUrl(brand, item, filesUrl, now));
    },
  }),
  list("roster", "roster:read"),
  list("recommendations", "recommendations:read"),
  list("gifts", "gifts:read"),
  list("codes", "codes:read"),
  list("surveys", "surveys:read"),
  endpoint({
    path: "/surveys/{id}/results",
    scope: "surveys:read",
    rules: {},
    answer({ brand, params: [id = ""] }) {
      found(brand.surveys, (one) => String(one.id) === id, "survey");
      return whole(brand.results[id] ?? {});
    },
  }),
];

/** A list that takes no filter; those that the document does not show may come in one answer without parameters. */
function list(name: ListName, scope: string): Endpoint {
  const isUnshown = name === "gifts" || name === "codes" || name === "surveys";
  const isBare = ({ unshown }: Doubts) => isUnshown && unshown === "whole";
  return endpoint({
    path: `/${name}`,
    scope,
    rules: paging,
    isBare,
    answer({ brand, query, doubts, now }) {
      if (isBare(doubts)) return whole(brand[name]);
      const records = inRange<object>(brand[name], () => null, always, doubts, now);
      return pageOf(records, query, doubts, doubts.totalsOf?.[name].length);
    },
  });
}

const always: Range = { from: null, to: null };

function ordersRange(start: Instant | null, end: Instant | null, { endDay }: Doubts): Range {
  return { from: start?.at ?? null, to: end && lastOf(end, endDay) };
}

function dateOfOrder({ order_date }: Order): string {
  return order_date;
}

/** True if `status` selects the order. `active` is neither cancelled nor refunded; the others may overlap. */
function isInStatus(order: Order, status: string, { refunded, statuses }: Doubts): boolean {
  const isCancelled = order.is_cancelled === true;
  const hasRefund = order.is_refunded === true || Number(order.refund_amount ?? 0) > 0;
  const isRefunded = refunded === "any" ? hasRefund : order.is_refunded === true;
  if (status === "all") return true;
  if (status === "cancelled") return isCancelled;
  if (status === "refunded") return isRefunded && !(statuses === "partition" && isCancelled);
  return !isCancelled && !isRefunded && !(statuses === "gaps" && order.financial_status !== "paid");
}

/** The list's form of a campaign is made once, like the texts of records. */
const listed = new WeakMap<Campaign, object>();

function listedCampaign(campaign: Campaign): object {
  const { deliverables, assignments, ...rest } = campaign;
  const form = listed.get(campaign) ?? rest;
  listed.set(campaign, form);
  return form;
}

function shown<T extends object>(record: T, member: keyof T, { shows }: Doubts): object {
  const date = record[member];
  if (shows === "everything" || typeof date !== "string") return record;
  return { ...record, [member]: shownDate(date, shows) };
}

function found<T>(records: readonly T[], isIt: (record: T) => boolean, noun: string): T {
  const record = records.find(isIt);
  if (!record) throw new Refusal(404, "not_found", `The brand has no such ${noun}.`);
  return record;
}
