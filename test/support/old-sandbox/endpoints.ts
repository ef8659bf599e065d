import { buckets, hostSorts } from "./data/analytics.js";
import { campaignDetail, campaignRecord } from "./data/campaign-record.js";
import { campaignStates } from "./data/campaigns.js";
import { contentRecord, contentSources, mediaTypes } from "./data/library.js";
import { always } from "./data/order-book.js";
import { orderStatuses } from "./data/order-facts.js";
import { orderRecord } from "./data/order-record.js";
import { recommendationRecord } from "./data/recommendations.js";
import { rosterRecord } from "./data/roster.js";
import { timeText } from "./data/timeline.js";
import type { DownloadSigner } from "./downloads.js";
import { type Endpoint, endpoint, pageOf } from "./endpoint.js";
import { openEndpoints } from "./open-endpoints.js";
import type { Settings } from "./options.js";
import { Refusal } from "./refusal.js";
import { instant, integer, listOf, oneOf, oneUuid, pagination, paging, uuids } from "./rules.js";

/** The document's table of endpoints, in its order. */
export function createEndpoints(settings: Settings, signer: DownloadSigner): Endpoint[] {
  const { downloadPath } = settings.undocumented;
  return [
    endpoint({
      path: "/me",
      rules: {},
      answer: ({ data, key }) => ({
        data: {
          brand: data.world.brand,
          key: { id: key.id, scopes: key.scopes, expires_at: timeText(key.expiresAt) },
        },
      }),
    }),
    endpoint({
      path: "/analytics/clicks",
      scope: "analytics:read",
      plan: true,
      rules: {
        start_date: instant("first"),
        end_date: instant("last"),
        group_by: oneOf(buckets, "day"),
        host_id: oneUuid,
        limit: integer(20, 1, 100),
      },
      answer: ({ data, query }) => ({
        data: data.analytics.clicks({
          from: query.start_date,
          to: query.end_date,
          groupBy: query.group_by,
          host: query.host_id,
          limit: query.limit,
        }),
      }),
    }),
    endpoint({
      path: "/analytics/hosts",
      scope: "analytics:read",
      plan: true,
      rules: { ...paging, sort: oneOf(hostSorts, "sale_amount"), order: oneOf(["asc", "desc"], "desc") },
      answer: ({ data, query }) => pageOf(data.analytics.hosts(query.sort, query.order), query, (row) => row),
    }),
    endpoint({
      path: "/orders",
      scope: "analytics:read",
      plan: true,
      rules: {
        ...paging,
        start_date: instant("first"),
        end_date: instant("last"),
        status: oneOf(orderStatuses, "all"),
      },
      answer({ data, query }) {
        const range = { from: query.start_date ?? always.from, to: query.end_date ?? always.to };
        const places = data.orders.page(
          range,
          query.status,
          (query.page - 1) * query.per_page,
          query.per_page,
        );
        return {
          data: places.map((place) => orderRecord(data.world, data.orders.facts(place))),
          pagination: pagination(query.page, query.per_page, data.orders.count(range, query.status)),
        };
      },
    }),
    endpoint({
      path: "/opportunities",
      scope: "opportunities:read",
      rules: { ...paging, status: listOf(campaignStates, true) },
      answer({ data, query }) {
        const states: readonly string[] | undefined = query.status;
        const list = states ? data.campaigns.filter(({ status }) => states.includes(status)) : data.campaigns;
        return pageOf(list, query, campaignRecord);
      },
    }),
    endpoint({
      path: "/opportunities/{id}",
      scope: "opportunities:read",
      rules: {},
      answer({ data, params }) {
        const campaign = data.campaigns.find(({ id }) => id === params[0]?.toLowerCase());
        if (!campaign)
          throw new Refusal(404, "not_found", "No opportunity with this id belongs to the brand.");
        return { data: campaignDetail(data.world, campaign) };
      },
    }),
    endpoint({
      path: "/content",
      scope: "content:read",
      rules: {
        ...paging,
        source: listOf(contentSources),
        media_type: listOf(mediaTypes),
        opportunity_id: uuids(50),
        host_id: uuids(50),
        uploaded_after: instant("first"),
        uploaded_before: instant("first"),
        sort: oneOf(["newest", "oldest"], "newest"),
      },
      answer({ data, query }) {
        const list = data.library.filter(
          (item) =>
            (query.source?.includes(item.source) ?? true) &&
            (query.media_type?.includes(item.mediaType) ?? true) &&
            (query.opportunity_id?.includes(item.campaign?.id ?? "") ?? true) &&
            (query.host_id?.includes(data.world.hosts[item.host ?? -1]?.id ?? "") ?? true) &&
            item.createdAt >= (query.uploaded_after ?? always.from) &&
            // On or after, but strictly before: API document, `/content`.
            item.createdAt < (query.uploaded_before ?? always.to),
        );
        if (query.sort === "oldest") list.reverse();
        return pageOf(list, query, (item) => contentRecord(data.world, item, downloadPath));
      },
    }),
    endpoint({
      path: "/content/{source}/{item_id}/download",
      scope: "content:read",
      rules: {},
      answer({ data, params }) {
        const item = data.library.find(
          (one) => one.source === params[0] && one.id === params[1]?.toLowerCase(),
        );
        if (!item) throw new Refusal(404, "not_found", "No such item is in the library.");
        return { data: signer.sign(item) };
      },
    }),
    endpoint({
      path: "/roster",
      scope: "roster:read",
      rules: paging,
      answer: ({ data, query }) =>
        pageOf(data.roster, query, (entry) => rosterRecord(data.world, entry, data.campaigns)),
    }),
    endpoint({
      path: "/recommendations",
      scope: "recommendations:read",
      rules: paging,
      answer: ({ data, query }) =>
        pageOf(data.recommenders, query, (one) => recommendationRecord(data.world, one)),
    }),
    ...openEndpoints(settings),
  ];
}
