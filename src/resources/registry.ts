import { analyticsClicks } from "./analytics-clicks.js";
import { analyticsHosts } from "./analytics-hosts.js";
import { content } from "./content.js";
import { opportunities } from "./opportunities.js";
import { orders } from "./orders.js";
import { recommendations } from "./recommendations.js";
import type { Resource } from "./resource.js";
import { roster } from "./roster.js";
import { codes, gifts, surveyResults, surveys } from "./undocumented.js";

/** The registry: every resource, in the order in which `sync` runs them and help lists them. */
export const resources: readonly Resource[] = [
  orders,
  roster,
  recommendations,
  opportunities,
  content,
  analyticsClicks,
  analyticsHosts,
  gifts,
  codes,
  surveys,
];

/** Those that are only read as details of another one: they have tables, but no name for `sync`. */
export const details: readonly Resource[] = [surveyResults];

export function findResource(name: string): Resource | undefined {
  return resources.find((resource) => resource.name === name.replaceAll("_", "-"));
}
