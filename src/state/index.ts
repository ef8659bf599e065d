/** The door of this room: what others may use of what a resource's sync remembers. */
export { countPresent, countRemoved, presentIds } from "./counting.js";
export { readCoverage } from "./coverage.js";
export { finishedRuns } from "./finished.js";
export { type Shown, SyncState } from "./state.js";
