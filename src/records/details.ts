import type { JsonObject } from "../resources/types.js";

/**
 * Returns what the list says now, with the members that only the details have: the API's latest word on each. A member
 * that the list had before and has no more is gone.
 */
export function withDetails(list: JsonObject, listBefore: JsonObject, whole: JsonObject): JsonObject {
  const kept = Object.entries(whole).filter(([member]) => !Object.hasOwn(listBefore, member));
  return { ...Object.fromEntries(kept), ...list };
}
