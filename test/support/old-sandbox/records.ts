import { campaignDetail, campaignRecord } from "./data/campaign-record.js";
import type { Dataset } from "./data/dataset.js";
import { contentRecord } from "./data/library.js";
import { always } from "./data/order-book.js";
import { orderRecord } from "./data/order-record.js";
import { recommendationRecord } from "./data/recommendations.js";
import { rosterRecord } from "./data/roster.js";
import { surveyResults } from "./data/undocumented.js";
import type { Settings } from "./options.js";
import { extraData } from "./server.js";

/** What can be read whole, past the API, to compare with. */
export const recordSets = [
  "orders",
  "roster",
  "recommendations",
  "opportunities",
  "opportunity-details",
  "content",
  "analytics-hosts",
  "gifts",
  "codes",
  "surveys",
  "survey-results",
] as const;
export type RecordSet = (typeof recordSets)[number];

export function countRecords(data: Dataset, set: RecordSet): number {
  if (set === "orders") return data.orders.count(always, "all");
  return listOf(data, set).length;
}

/** Every current record exactly as the API serves it, in the API's order. */
export function* readRecords(
  data: Dataset,
  set: RecordSet,
  settings: Settings,
): Generator<unknown, void, undefined> {
  const finish = (record: unknown) => (settings.extra ? extraData(record) : record);
  if (set === "orders") {
    const size = 1000;
    for (let offset = 0; ; offset += size) {
      const places = data.orders.page(always, "all", offset, size);
      for (const place of places) yield finish(orderRecord(data.world, data.orders.facts(place)));
      if (places.length < size) return;
    }
  }
  const { world, campaigns } = data;
  if (set === "roster") for (const entry of data.roster) yield finish(rosterRecord(world, entry, campaigns));
  else if (set === "recommendations")
    for (const one of data.recommenders) yield finish(recommendationRecord(world, one));
  else if (set === "opportunities") for (const one of campaigns) yield finish(campaignRecord(one));
  else if (set === "opportunity-details")
    for (const one of campaigns) yield finish(campaignDetail(world, one));
  else if (set === "content") {
    for (const item of data.library)
      yield finish(contentRecord(world, item, settings.undocumented.downloadPath));
  } else if (set === "survey-results") {
    for (const [place, survey] of data.surveys.entries()) yield finish(surveyResults(world, survey, place));
  } else for (const record of listOf(data, set)) yield finish(record);
}

function listOf(data: Dataset, set: Exclude<RecordSet, "orders">): readonly unknown[] {
  switch (set) {
    case "roster":
      return data.roster;
    case "recommendations":
      return data.recommenders;
    case "opportunities":
    case "opportunity-details":
      return data.campaigns;
    case "content":
      return data.library;
    case "analytics-hosts":
      return data.analytics.hosts("sale_amount", "desc");
    case "surveys":
    case "survey-results":
      return data.surveys;
    default:
      return data[set];
  }
}
