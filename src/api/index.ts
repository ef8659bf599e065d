/** The door to the API: how to open it, what it answers, and what a download shares with it. */
export { addressPart } from "./address.js";
export { openApi } from "./client.js";
export type { Answer } from "./envelope.js";
export { type Fault, faultOf } from "./faults.js";
export { firstPage, lastPage, type Page, readPages } from "./pages.js";
export type { ApiClient, ApiEvents, ApiSettings } from "./requesting.js";
