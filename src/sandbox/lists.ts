import type { ListName } from "./brand.js";
import { campaignStates } from "./data/campaigns.js";
import { contentSources, mediaTypes } from "./data/library.js";
import type { Range } from "./dated.js";
import type { Doubts } from "./doubts.js";
import { type Endpoint, endpoint } from "./endpoint.js";
import { type Instant, instant, lastOf, oneOf, paging, someOf, someStates, uuids } from "./parameters.js";
import type { Campaign, Order } from "./records.js";
import { whole } from "./reply.js";
import { selected } from "./selected.js";

export const orders = endpoint({
  path: "/orders",
  scope: "analytics:read",
  plan: true,
  rules: {
    ...paging,
    start_date: instant,
    end_date: instant,
    status: oneOf(["all", "active", "cancelled", "refunded"], "all"),
  },
  answer: (asked) =>
    selected(asked, {
      records: (brand) => brand.orders,
      dated: "order_date",
      range: ordersRange(asked.query.start_date, asked.query.end_date),
      keep: (order) => isInStatus(order, asked.query.status, asked.doubts),
      filter: [asked.query.status, asked.doubts.refunded, asked.doubts.statuses].join(),
    }),
});

export function ordersRange(start: Instant | null, end: Instant | null): Range {
  return { from: start?.at ?? null, to: end && lastOf(end) };
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

export const opportunities = endpoint({
  path: "/opportunities",
  scope: "opportunities:read",
  rules: { ...paging, status: someStates(campaignStates) },
  answer: (asked) =>
    selected(asked, {
      records: (brand) => brand.opportunities,
      dated: "created_at",
      keep: ({ status }) => isAmong(asked.query.status, status),
      filter: String(asked.query.status),
      shape: listedCampaign,
    }),
});

/** The list's form of a campaign is made once, like the texts of records. */
const listed = new WeakMap<Campaign, object>();

function listedCampaign(campaign: Campaign): object {
  const { deliverables, assignments, ...rest } = campaign;
  const form = listed.get(campaign) ?? rest;
  listed.set(campaign, form);
  return form;
}

export const content = endpoint({
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
  answer(asked) {
    const { source, media_type, opportunity_id, host_id, uploaded_after, uploaded_before, sort } =
      asked.query;
    return selected(asked, {
      records: (brand) => brand.content,
      dated: "created_at",
      // On or after, but strictly before: API document, /content.
      range: { from: uploaded_after?.at ?? null, to: uploaded_before ? uploaded_before.at - 1 : null },
      keep: (item) =>
        isAmong(source, item.source) &&
        isAmong(media_type, item.media_type) &&
        isAmong(opportunity_id, item.opportunity?.id) &&
        isAmong(host_id, item.host?.id),
      filter: JSON.stringify([source, media_type, opportunity_id, host_id]),
      isOldestFirst: sort === "oldest",
    });
  },
});

function isAmong(wanted: readonly string[] | null, value: string | undefined): boolean {
  return wanted?.some((one) => one === value) ?? true;
}

/** Declares a list that takes no filter; those that the document does not show may come in one answer. */
export function plainList(name: ListName, scope: string): Endpoint {
  const isUnshown = name === "gifts" || name === "codes" || name === "surveys";
  const isBare = ({ unshown }: Doubts) => isUnshown && unshown === "whole";
  return endpoint({
    path: `/${name}`,
    scope,
    rules: paging,
    isBare,
    answer: (asked) =>
      isBare(asked.doubts)
        ? whole(asked.brand[name])
        : selected<object>(asked, { records: (brand) => brand[name], dated: null }),
  });
}
