import { analyticsClicks } from "./analytics-clicks.js";
import { analyticsHosts } from "./analytics-hosts.js";
import { content } from "./content.js";
import { opportunities } from "./opportunities.js";
import { orders } from "./orders.js";
import { recommendations } from "./recommendations.js";
import { detailsResource, type Resource } from "./resource.js";
import { roster } from "./roster.js";
import { codes, gifts, surveyResults, surveys } from "./undocumented.js";

/** All resources. The help lists them in this order. `sync` reads dated resources last, in reverse order. */
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

/** Resources that are read as details of another resource. Commands do not accept their names. */
const detailResources: readonly Resource[] = [surveyResults];

/** All resources that have records and tables in the mirror. */
export const allResources: readonly Resource[] = [...resources, ...detailResources];

/**
 * Returns the resource whose sync reads `resource`. For a details resource, this is the list to which the details
 * belong.
 */
export function syncingResource(resource: Resource): Resource {
  return resources.find((one) => detailsResource(one) === resource) ?? resource;
}

export function findResource(name: string): Resource | null {
  return resources.find((resource) => resource.name === name.replaceAll("_", "-")) ?? null;
}
