import { orders } from "./orders.js";
import { roster } from "./roster.js";
import type { Resource } from "./types.js";

/** The registry: every resource, in the order in which `sync` runs them. */
export const resources: readonly Resource[] = [orders, roster];

export function findResource(name: string): Resource | undefined {
  return resources.find((resource) => resource.name === name.replaceAll("_", "-"));
}
