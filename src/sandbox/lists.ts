import type { ListName } from "./brand.js";
import { campaignStates } from "./data/campaigns.js";
import { contentSources, mediaTypes } from "./data/library.js";
import type { Range } from "./dated.js";
import type { Doubts } from "./doubts.js";
import type { Asked, Endpoint, Reply } from "./endpoint.js";
import { listed } from "./page.js";
import { type Instant, instant, lastOf, oneOf, paging, readQuery, someOf, uuids } from "./parameters.js";
import type { Order } from "./records.js";

const ordersRules = {
  ...paging,
  start_date: instant,
  end_date: instant,
  status: oneOf(["all", "active", "cancelled", "refunded"], "all"),
};

export function orders(asked: Asked): Reply {
  const query = readQuery(ordersRules, asked.query);
  return listed(asked, query, {
    records: (brand) => brand.orders,
    dated: "order_date",
    range: ordersRange(query.start_date, query.end_date),
    keep: query.status === "all" ? undefined : (order) => isInStatus(order, query.status, asked.doubts),
  });
}

export function ordersRange(start: Instant | null, end: Instant | null): Range {
  return { from: start?.at ?? null, to: end && lastOf(end) };
}

/** True if `status` selects the order. `active` is neither cancelled nor refunded; the others may overlap. */
function isInStatus(order: Order, status: string, { refunded, statuses }: Doubts): boolean {
  const isCancelled = order.is_cancelled === true;
  const hasRefund = order.is_refunded === true || Number(order.refund_amount ?? 0) > 0;
  const isRefunded = refunded === "any" ? hasRefund : order.is_refunded === true;
  if (status === "cancelled") return isCancelled;
  if (status === "refunded") return isRefunded && !(statuses === "partition" && isCancelled);
  return !isCancelled && !isRefunded;
}

const opportunitiesRules = { ...paging, status: someOf(campaignStates, (text) => text.toUpperCase()) };

export function opportunities(asked: Asked): Reply {
  const query = readQuery(opportunitiesRules, asked.query);
  return listed(asked, query, {
    records: (brand) => brand.opportunities,
    dated: "created_at",
    keep: ({ status }) => isAmong(query.status, status),
    shape: ({ deliverables, assignments, ...rest }) => rest,
  });
}

const contentRules = {
  ...paging,
  source: someOf(contentSources),
  media_type: someOf(mediaTypes),
  opportunity_id: uuids,
  host_id: uuids,
  uploaded_after: instant,
  uploaded_before: instant,
  sort: oneOf(["newest", "oldest"], "newest"),
};

export function content(asked: Asked): Reply {
  const query = readQuery(contentRules, asked.query);
  const { uploaded_after, uploaded_before } = query;
  return listed(asked, query, {
    records: (brand) => brand.content,
    dated: "created_at",
    // On or after, but strictly before: API document, /content.
    range: { from: uploaded_after?.at ?? null, to: uploaded_before ? uploaded_before.at - 1 : null },
    keep: (item) =>
      isAmong(query.source, item.source) &&
      isAmong(query.media_type, item.media_type) &&
      isAmong(query.opportunity_id, item.opportunity?.id) &&
      isAmong(query.host_id, item.host?.id),
    isOldestFirst: query.sort === "oldest",
  });
}

function isAmong(wanted: readonly string[] | null, value: string | undefined): boolean {
  return wanted?.some((one) => one === value) ?? true;
}

/** Declares a list that takes no filter. Those that the document does not show may come in one answer. */
export function plainList(name: ListName, scope: string): Endpoint {
  const isUnshown = name === "gifts" || name === "codes" || name === "surveys";
  return {
    path: `/${name}`,
    scope,
    answer(asked) {
      if (!isUnshown || asked.doubts.unshown === "paged")
        return listed<object>(asked, readQuery(paging, asked.query), { records: (brand) => brand[name] });
      readQuery({}, asked.query);
      return { data: asked.brand[name] };
    },
  };
}
