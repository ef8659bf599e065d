/** The door of this room: what others may use of what a resource's sync remembers. */
export { countPresent, countRemoved, countUndated, presentIds, presentKeys } from "./counting.js";
export { readCoverage } from "./coverage.js";
export { confirmedCoverage, finishedRuns } from "./finished.js";
export { type MarkedSlice, readMarked } from "./marked.js";
export { type Shown, SyncState } from "./state.js";
