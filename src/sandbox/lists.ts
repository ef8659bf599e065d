import type { Brand, ListName } from "./brand.js";
import { campaignStates } from "./data/campaigns.js";
import { contentSources, mediaTypes } from "./data/library.js";
import { inRange, type Range, shownDate } from "./dated.js";
import type { Doubts } from "./doubts.js";
import { type Asked, type Endpoint, endpoint } from "./endpoint.js";
import {
  type Instant,
  instant,
  lastOf,
  oneOf,
  type Paging,
  paging,
  someOf,
  someStates,
  uuids,
} from "./parameters.js";
import type { Campaign, Order } from "./records.js";
import { pageOf, type Reply, whole } from "./reply.js";

const always: Range = { from: null, to: null };

/** What a request asks of a list. */
interface Selection<T> {
  records(brand: Brand): readonly T[];
  /** The member that dates a record; null: the list promises no order. */
  dated: keyof T | null;
  range?: Range;
  keep?(record: T): boolean;
  /** Names what `keep` keeps. */
  filter?: string;
  isOldestFirst?: boolean;
  /** Gives a record the form in which the list serves it. */
  shape?(record: T): object;
}

/** Returns the page of a list that is asked for; totals can be those of the brand as it was. */
function selected<T extends object>(
  { brand, query, doubts, now }: Asked<Paging>,
  { records, dated, range = always, keep = () => true, filter = "", ...form }: Selection<T>,
): Reply {
  const dateOf = (record: T) => (dated === null ? null : record[dated]);
  const list = (from: Brand) => inRange(records(from), dateOf, range, doubts, now, filter, keep);
  const found = form.isOldestFirst ? list(brand).toReversed() : list(brand);
  const total = doubts.totalsOf ? list(doubts.totalsOf).length : found.length;
  const shown = (record: T) => withShownDate(record, dated, doubts);
  return pageOf(found, query, doubts, total, form.shape ?? shown);
}

function withShownDate<T extends object>(record: T, dated: keyof T | null, { shows }: Doubts): object {
  const date = dated === null ? null : record[dated];
  if (shows === "everything" || dated === null || typeof date !== "string") return record;
  return { ...record, [dated]: shownDate(date, shows) };
}

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
      range: ordersRange(asked.query.start_date, asked.query.end_date, asked.doubts),
      keep: (order) => isInStatus(order, asked.query.status, asked.doubts),
      filter: [asked.query.status, asked.doubts.refunded, asked.doubts.statuses].join(),
    }),
});

export function ordersRange(start: Instant | null, end: Instant | null, { endDay }: Doubts): Range {
  return { from: start?.at ?? null, to: end && lastOf(end, endDay) };
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
