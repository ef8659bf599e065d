/** The door to the API: how to open it, what it answers, and the parts that a download shares with it. */
export { addressPart, longestPart } from "./address.js";
export { bounds } from "./bounds.js";
export { openApi } from "./client.js";
export type { Answer } from "./envelope.js";
export { type Fault, faultOf, TooSlow } from "./faults.js";
export { firstPage, lastPage, type Page, type PagesOptions, readPages } from "./pages.js";
export type { Pagination } from "./pagination.js";
export {
  type ApiClient,
  type ApiEvents,
  type ApiSettings,
  type ApiStats,
  type RequestOptions,
  workLimit,
} from "./requesting.js";
export { nextTry } from "./retry.js";
export { leastDeadlineMs, unlessAborted } from "./sending.js";
export { readRetryAfter } from "./server-limit.js";
